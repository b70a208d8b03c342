#include "compiler/codegen/lower_module.h"

#include "mlir/IR/BuiltinAttributes.h"

#include "compiler/codegen/check_sizes.h"
#include "compiler/codegen/entry_points.h"
#include "compiler/codegen/inline_calls.h"
#include "compiler/lowering/families.h"
#include "compiler/lowering/foreign_ops.h"
#include "compiler/lowering/lowering.h"

namespace nocturne::compiler {

mlir::LogicalResult lowerModule(mlir::ModuleOp module, const std::vector<LibraryEntry>& entries,
                                bool generateWeights, Failure& failure) {
  adoptForeignOps(module);
  if (generateWeights)
    module->setAttr(kGeneratedWeights, mlir::UnitAttr::get(module.getContext()));
  inlineRegionCalls(module);
  return mlir::success(mlir::succeeded(checkSizes(module, failure)) &&
                       mlir::succeeded(renameFunctions(module, failure)) &&
                       mlir::succeeded(lowerToLinalg(module, failure)) &&
                       mlir::succeeded(prepareFunctions(module, entries, failure)));
}

} // namespace nocturne::compiler
