#include "compiler/reader/call_graph.h"

#include "compiler/reader/entry.h"

namespace nocturne::compiler {

namespace {

// Deeper chains only come from generators gone wrong.
constexpr size_t kMaxCallDepth = 1000;

enum class Mark : uint8_t { New, Open, Done };

} // namespace

struct CallGraph::Frame {
  mlir::Operation* function;
  llvm::SmallVector<mlir::Operation*> calls; // in order of the text
  size_t next = 0;
};

llvm::ArrayRef<mlir::Operation*> CallGraph::callsTo(mlir::Operation* function) const {
  auto found = callers_.find(function);
  if (found == callers_.end())
    return {};
  return found->second;
}

mlir::Operation* CallGraph::resolve(mlir::Operation* call, const OpKind& kind) {
  mlir::Attribute symbol =
      call->getAttr(kind.treatment == Treatment::Call ? "callee" : "decomposition");
  auto reference = mlir::dyn_cast_or_null<mlir::SymbolRefAttr>(symbol);
  if (!reference)
    return nullptr;
  mlir::Operation* function = symbols_.lookupNearestSymbolFrom(call, reference);
  if (!function || !isFunction(function) || function->getRegion(0).empty())
    return nullptr;
  return function;
}

void CallGraph::enter(mlir::Operation* function, llvm::SmallVectorImpl<Frame>& stack) {
  Frame frame{function, {}};
  function->walk([&](mlir::Operation* op) {
    const OpKind& kind = kinds_.of(op);
    hasBranches_ |= kind.treatment == Treatment::Branch;
    if (kind.treatment != Treatment::Call && kind.treatment != Treatment::Composite)
      return;
    if (mlir::Operation* target = resolve(op, kind)) {
      callees_[op] = target;
      callers_[target].push_back(op);
      frame.calls.push_back(op);
    }
  });
  stack.push_back(std::move(frame));
}

mlir::LogicalResult CallGraph::build(llvm::ArrayRef<mlir::Operation*> entries, std::string& problem,
                                     mlir::Operation*& failedAt) {
  entries_.assign(entries.begin(), entries.end());
  llvm::DenseMap<mlir::Operation*, Mark> marks;
  llvm::SmallVector<Frame> stack;
  for (mlir::Operation* entry : entries) {
    if (marks[entry] == Mark::Done)
      continue;
    marks[entry] = Mark::Open;
    enter(entry, stack);
    while (!stack.empty()) {
      Frame& top = stack.back();
      if (top.next == top.calls.size()) {
        marks[top.function] = Mark::Done;
        order_.push_back(top.function);
        stack.pop_back();
        continue;
      }
      mlir::Operation* call = top.calls[top.next++];
      mlir::Operation* target = callees_.lookup(call);
      Mark mark = marks.lookup(target);
      if (mark == Mark::Done)
        continue;
      failedAt = call;
      if (mark == Mark::Open) {
        problem = "functions call each other in a circle: ";
        auto* first = llvm::find_if(stack, [&](Frame& f) { return f.function == target; });
        for (; first != stack.end(); ++first)
          problem += functionName(first->function).str() + " -> ";
        problem += functionName(target).str();
        return mlir::failure();
      }
      if (stack.size() >= kMaxCallDepth) {
        problem = "calls are nested deeper than " + std::to_string(kMaxCallDepth);
        return mlir::failure();
      }
      marks[target] = Mark::Open;
      enter(target, stack);
    }
  }
  return mlir::success();
}

} // namespace nocturne::compiler
