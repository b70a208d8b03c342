#include "compiler/codegen/outline_loops.h"

#include <string>
#include <unordered_map>

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/OperationSupport.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/SetVector.h"

namespace nocturne::compiler {

using namespace mlir;

namespace {

// Below this, one function is compiled as fast and optimised as a whole.
constexpr size_t kManyLoops = 32;

// The functions made so far. The layers of a model are alike, and so are their loop nests: equal
// ones share a function, which is compiled once.
class OutlinedFunctions {
public:
  explicit OutlinedFunctions(SymbolTable& symbols) : symbols_(symbols) {}

  // The equal function that there is already, in whose favour `function` is erased; else
  // `function`, which is in the module from then on.
  func::FuncOp unify(func::FuncOp function) {
    SmallVector<func::FuncOp>& alike = byHash_[hash(function)];
    for (func::FuncOp other : alike) {
      if (!equal(function, other))
        continue;
      function.erase();
      return other;
    }
    symbols_.insert(function);
    alike.push_back(function);
    return function;
  }

private:
  // Of everything but which values are used and where the source says that they come from.
  static size_t hash(func::FuncOp function) {
    llvm::hash_code code = hash_value(Type(function.getFunctionType()));
    function.getBody().walk([&](Operation* op) {
      code = llvm::hash_combine(
          code, OperationEquivalence::computeHash(op, OperationEquivalence::ignoreHashValue,
                                                  OperationEquivalence::ignoreHashValue,
                                                  OperationEquivalence::IgnoreLocations));
    });
    return code;
  }

  static bool equal(func::FuncOp a, func::FuncOp b) {
    return a.getFunctionType() == b.getFunctionType() &&
           OperationEquivalence::isRegionEquivalentTo(&a.getBody(), &b.getBody(),
                                                      OperationEquivalence::IgnoreLocations);
  }

  SymbolTable& symbols_;
  std::unordered_map<size_t, SmallVector<func::FuncOp>> byHash_;
};

class OutlineLoops : public PassWrapper<OutlineLoops, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(OutlineLoops)

  llvm::StringRef getName() const override { return "outline-loops"; }
  void getDependentDialects(DialectRegistry& registry) const override {
    registry.insert<func::FuncDialect>();
  }

  void runOnOperation() override {
    SmallVector<scf::ForOp> chosen;
    getOperation().walk([&](Block* block) {
      SmallVector<scf::ForOp> loops;
      for (auto loop : block->getOps<scf::ForOp>())
        if (loop.getNumResults() == 0)
          loops.push_back(loop);
      if (loops.size() > kManyLoops)
        chosen.append(loops);
    });
    SymbolTable symbols(getOperation());
    OutlinedFunctions functions(symbols);
    // Inner blocks come first, so that a loop is still there when it is its turn.
    for (scf::ForOp loop : chosen)
      outline(loop, functions);
  }

private:
  // Constants and addresses of globals are made again where they are used.
  static bool isRepeated(Operation* op) {
    return op && op->getNumOperands() == 0 && op->getNumRegions() == 0 && isPure(op);
  }

  static void outline(scf::ForOp loop, OutlinedFunctions& functions) {
    llvm::SetVector<Value> used(loop->operand_begin(), loop->operand_end());
    getUsedValuesDefinedAbove(loop->getRegions(), used);
    SmallVector<Value> passed;
    for (Value value : used)
      if (!isRepeated(value.getDefiningOp()))
        passed.push_back(value);

    OpBuilder builder(loop.getContext());
    auto type = builder.getFunctionType(ValueRange(passed).getTypes(), {});
    auto function = func::FuncOp::create(loop.getLoc(), "loops", type);
    function.setPrivate();
    // Inlined again, nothing would be won.
    function->setAttr("passthrough", builder.getStrArrayAttr({"noinline"}));
    builder.setInsertionPointToStart(function.addEntryBlock());
    IRMapping values;
    values.map(passed, function.getArguments());
    for (Value value : used)
      if (Operation* source = value.getDefiningOp(); isRepeated(source))
        builder.clone(*source, values);
    builder.clone(*loop, values);
    func::ReturnOp::create(builder, loop.getLoc());
    function = functions.unify(function);

    builder.setInsertionPoint(loop);
    func::CallOp::create(builder, loop.getLoc(), function, passed);
    loop.erase();
  }
};

} // namespace

std::unique_ptr<Pass> createOutlineLoopsPass() {
  return std::make_unique<OutlineLoops>();
}

} // namespace nocturne::compiler
