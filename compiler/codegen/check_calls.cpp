#include "compiler/codegen/check_calls.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseMap.h"

#include "compiler/dialect/StablehloOps.h"
#include "compiler/lowering/diagnostics.h"
#include "compiler/reader/call_graph.h"
#include "compiler/reader/entry.h"

namespace nocturne::compiler {

using namespace mlir;

namespace {

// LLVM takes days for so many, and a page of text gets there by calls of calls of calls.
constexpr double kMostOperations = 1e6;

class CallCheck {
public:
  explicit CallCheck(Failure& failure) : failure_(failure), graph_(kinds_) {}

  LogicalResult run(ModuleOp module) {
    llvm::SmallVector<Operation*> functions;
    for (Operation& op : *module.getBody()) {
      if (isa<ModuleOp>(op))
        return fail(FailureKind::UnsupportedOp, &op, "a module in a module has no lowering");
      if (auto function = dyn_cast<func::FuncOp>(op); function && !function.isExternal())
        functions.push_back(function);
    }
    std::string problem;
    Operation* call = nullptr;
    if (failed(graph_.build(functions, problem, call)))
      return fail(FailureKind::Unreadable, call, problem);
    for (Operation* function : graph_.calleesFirst())
      if (failed(count(function)))
        return failure();
    return success();
  }

private:
  LogicalResult fail(FailureKind kind, Operation* op, const std::string& message) {
    failure_ = {kind, message, "", 0, 0};
    setPlace(failure_, op->getLoc());
    return failure();
  }

  // Null for what calls nothing.
  static SymbolRefAttr calleeName(Operation* op) {
    if (auto call = dyn_cast<func::CallOp>(op))
      return call.getCalleeAttr();
    if (auto composite = dyn_cast<stablehlo::CompositeOp>(op))
      return dyn_cast<SymbolRefAttr>(composite.getDecomposition());
    return {};
  }

  // The callees of `function` are counted already.
  LogicalResult count(Operation* function) {
    double operations = 0;
    Operation* nowhere = nullptr; // the call that leads there
    function->walk([&](Operation* op) {
      ++operations;
      if (Operation* callee = graph_.callee(op))
        operations += operations_.lookup(callee);
      else if (calleeName(op))
        nowhere = op;
    });
    if (nowhere)
      return fail(FailureKind::UnsupportedOp, nowhere,
                  "function @" + calleeName(nowhere).getLeafReference().str() +
                      " is called, and has no body in this module");
    if (operations > kMostOperations)
      return fail(FailureKind::UnsupportedOp, function,
                  "function @" + functionName(function).str() +
                      " has, with all that it calls, more than a million operations");
    operations_[function] = operations;
    return success();
  }

  Failure& failure_;
  OpKinds kinds_;
  CallGraph graph_;
  llvm::DenseMap<Operation*, double> operations_;
};

} // namespace

LogicalResult checkCalls(ModuleOp module, Failure& failure) {
  return CallCheck(failure).run(module);
}

} // namespace nocturne::compiler
