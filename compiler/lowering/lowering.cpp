#include "compiler/lowering/lowering.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/DialectConversion.h"

#include "compiler/lowering/diagnostics.h"
#include "compiler/lowering/families.h"

namespace nocturne::compiler {

using namespace mlir;

namespace {

// The framework's own words for an operation that no pattern took.
std::string explain(const std::string& message) {
  StringRef text(message);
  if (text.consume_front("failed to legalize operation "))
    return ("operation " + text.take_front(text.find('\'', 1) + 1) + " has no lowering").str();
  return message;
}

void allowLowered(ConversionTarget& target) {
  target.addLegalDialect<affine::AffineDialect, arith::ArithDialect,
                         bufferization::BufferizationDialect, complex::ComplexDialect,
                         linalg::LinalgDialect, math::MathDialect, scf::SCFDialect,
                         tensor::TensorDialect>();
  target.addLegalOp<ModuleOp>();
}

} // namespace

LogicalResult lowerToLinalg(ModuleOp module, Failure& failure) {
  MLIRContext* context = module.getContext();
  context
      ->loadDialect<affine::AffineDialect, arith::ArithDialect, bufferization::BufferizationDialect,
                    complex::ComplexDialect, func::FuncDialect, linalg::LinalgDialect,
                    math::MathDialect, scf::SCFDialect, tensor::TensorDialect>();
  // The first error of a rewrite is the one that a user can act on; those that follow say that the
  // conversion failed because of it.
  FirstError errors(*context);
  LoweringTypes types;
  RewritePatternSet patterns(context);
  populateElementwise(types, patterns);
  populateShapes(types, patterns);
  populateMovement(types, patterns);
  populateReductions(types, patterns);
  populateWindows(types, patterns);
  populateContractions(types, patterns);
  populateConvolutions(types, patterns);
  populateIndexing(types, patterns);
  populateSorting(types, patterns);
  populateControl(types, patterns);
  populateLinearAlgebra(types, patterns);
  populateRandom(types, patterns);
  populateNormalisation(types, patterns);

  ConversionTarget target(*context);
  allowLowered(target);
  auto typesAreLowered = [&](Operation* op) { return types.isLegal(op); };
  target.addDynamicallyLegalOp<func::FuncOp>([&](func::FuncOp function) {
    return types.isSignatureLegal(function.getFunctionType()) && types.isLegal(&function.getBody());
  });
  target.addDynamicallyLegalOp<func::CallOp, func::ReturnOp>(typesAreLowered);
  if (succeeded(applyFullConversion(module, target, std::move(patterns))))
    return success();
  failure = errors.failure(FailureKind::UnsupportedOp, "the lowering failed without a reason");
  failure.message = explain(failure.message);
  return mlir::failure();
}

} // namespace nocturne::compiler
