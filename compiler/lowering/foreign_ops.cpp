#include "compiler/lowering/foreign_ops.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringSwitch.h"

namespace nocturne::compiler {

using namespace mlir;

namespace {

// Absent for what has no counterpart.
std::optional<OperationName> counterpart(Operation* op) {
  MLIRContext* context = op->getContext();
  StringRef full = op->getName().getStringRef(), name = op->getName().stripDialect();
  if (full == "chlo.constant" || full == "sdy.constant")
    return OperationName("stablehlo.constant", context);
  if (op->getName().getDialectNamespace() != "mhlo")
    return std::nullopt;
  if (auto known = RegisteredOperationName::lookup(("stablehlo." + name).str(), context))
    return *known;
  StringRef other =
      llvm::StringSwitch<StringRef>(name)
          .Cases({"acos", "acosh", "asin", "asinh", "atanh", "cosh", "erf", "sinh"}, name)
          .Case("topk", "top_k")
          .Default("");
  if (other.empty())
    return std::nullopt;
  return OperationName(("chlo." + other).str(), context);
}

void rename(Operation* op, OperationName name) {
  OpBuilder builder(op);
  OperationState state(op->getLoc(), name, op->getOperands(), op->getResultTypes(), op->getAttrs(),
                       op->getSuccessors());
  for (Region& region : op->getRegions())
    state.addRegion()->takeBody(region);
  op->replaceAllUsesWith(builder.create(state));
  op->erase();
}

} // namespace

void adoptForeignOps(ModuleOp module) {
  // Inner operations come first, and move along with the regions of those around them.
  module.walk([](Operation* op) {
    if (std::optional<OperationName> name = counterpart(op)) {
      rename(op, *name);
    } else if (op->getName().getStringRef() == "mhlo.copy" && op->getNumOperands() == 1 &&
               op->getOperandTypes() == op->getResultTypes()) {
      op->replaceAllUsesWith(op->getOperands());
      op->erase();
    }
  });
}

} // namespace nocturne::compiler
