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
#include "mlir/IR/Diagnostics.h"
#include "mlir/Transforms/DialectConversion.h"

#include "compiler/lowering/families.h"
#include "compiler/reader/locations.h"

namespace nocturne::compiler {

using namespace mlir;

namespace {

// The first error of a rewrite is the one that a user can act on; those that follow say that the
// conversion failed because of it.
class FirstError {
public:
  explicit FirstError(MLIRContext* context)
      : handler_(context, [this](Diagnostic& diagnostic) { take(diagnostic); }) {}

  bool any() const { return any_; }
  const Failure& failure() const { return failure_; }

private:
  void take(Diagnostic& diagnostic) {
    if (any_ || diagnostic.getSeverity() != DiagnosticSeverity::Error)
      return;
    any_ = true;
    failure_ = Failure{FailureKind::UnsupportedOp, explain(diagnostic.str()), "", 0, 0};
    if (std::optional<FileLineColLoc> place = fileLocation(diagnostic.getLocation())) {
      failure_.file = place->getFilename().str();
      failure_.line = place->getLine();
      failure_.column = place->getColumn();
    }
  }

  // The framework's own words for an operation that no pattern took.
  static std::string explain(const std::string& message) {
    StringRef text(message);
    if (text.consume_front("failed to legalize operation "))
      return ("operation " + text.take_front(text.find('\'', 1) + 1) + " has no lowering").str();
    return message;
  }

  ScopedDiagnosticHandler handler_;
  bool any_ = false;
  Failure failure_;
};

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
  FirstError errors(context);
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
  failure = errors.any()
                ? errors.failure()
                : Failure{FailureKind::Internal, "the lowering failed without a reason", "", 0, 0};
  return mlir::failure();
}

} // namespace nocturne::compiler
