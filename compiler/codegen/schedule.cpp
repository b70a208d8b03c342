#include "compiler/codegen/schedule.h"

#include <optional>

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Affine/TransformOps/AffineTransformOps.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/TransformOps/BufferizationTransformOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Func/TransformOps/FuncTransformOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/TransformOps/DialectExtension.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/TransformOps/MemRefTransformOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/TransformOps/SCFTransformOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/TransformOps/TensorTransformOps.h"
#include "mlir/Dialect/Transform/IR/TransformDialect.h"
#include "mlir/Dialect/Transform/IR/TransformOps.h"
#include "mlir/Dialect/Transform/LoopExtension/LoopExtension.h"
#include "mlir/Dialect/Transform/Transforms/TransformInterpreterUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/Vector/TransformOps/VectorTransformOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

#include "compiler/lowering/diagnostics.h"
#include "compiler/reader/scan.h"

namespace nocturne::compiler {

using namespace mlir;

namespace {

constexpr const char* kScheduleName = "schedule";

// Built once and only read afterwards, so that all threads may share it.
const DialectRegistry& transformRegistry() {
  static const DialectRegistry registry = [] {
    DialectRegistry made;
    made.insert<transform::TransformDialect>();
    affine::registerTransformDialectExtension(made);
    bufferization::registerTransformDialectExtension(made);
    func::registerTransformDialectExtension(made);
    linalg::registerTransformDialectExtension(made);
    memref::registerTransformDialectExtension(made);
    scf::registerTransformDialectExtension(made);
    tensor::registerTransformDialectExtension(made);
    tensor::registerFindPayloadReplacementOpInterfaceExternalModels(made);
    transform::registerLoopExtension(made);
    vector::registerTransformDialectExtension(made);
    return made;
  }();
  return registry;
}

} // namespace

LogicalResult applySchedule(ModuleOp module, const std::string& text, Failure& failure) {
  std::string scanned = text;
  if (std::optional<Failure> problem = scanText(scanned, kScheduleName)) {
    failure = *problem;
    failure.kind = FailureKind::BadConfig;
    return mlir::failure();
  }
  MLIRContext& context = *module.getContext();
  context.appendDialectRegistry(transformRegistry());
  context.loadDialect<transform::TransformDialect>();
  FirstError errors(context);
  OwningOpRef<ModuleOp> schedule =
      parseSourceString<ModuleOp>(scanned, ParserConfig(&context), kScheduleName);
  if (!schedule) {
    failure = errors.failure(FailureKind::BadConfig, "the schedule cannot be parsed");
    return mlir::failure();
  }
  auto main = schedule->lookupSymbol<transform::NamedSequenceOp>(
      transform::TransformDialect::kTransformEntryPointSymbolName);
  if (!main) {
    failure = {FailureKind::BadConfig, "the schedule has no sequence @__transform_main",
               kScheduleName, 0, 0};
    return mlir::failure();
  }
  if (failed(transform::applyTransformNamedSequence(module, main, *schedule,
                                                    transform::TransformOptions())) ||
      failed(verify(module))) {
    failure = errors.failure(FailureKind::BadConfig, "the schedule cannot be applied");
    return mlir::failure();
  }
  return success();
}

} // namespace nocturne::compiler
