// What patterns of several families begin and end with.
#pragma once

#include "mlir/Transforms/DialectConversion.h"

#include "compiler/lowering/tensors.h"

namespace nocturne::compiler {

// Replaces an operation that has one result by the tensor that emit() makes.
template <typename OpTy>
class TensorPattern : public mlir::OpConversionPattern<OpTy> {
public:
  using mlir::OpConversionPattern<OpTy>::OpConversionPattern;
  using OpAdaptor = typename OpTy::Adaptor;

  mlir::LogicalResult matchAndRewrite(OpTy op, OpAdaptor adaptor,
                                      mlir::ConversionPatternRewriter& rewriter) const final {
    mlir::RankedTensorType type = heldResultType(*this->getTypeConverter(), op);
    mlir::Value result = type ? emit(op, adaptor, type, rewriter) : mlir::Value();
    if (!result)
      return mlir::failure();
    rewriter.replaceOp(op, result);
    return mlir::success();
  }

protected:
  // `type` is the result's as it is held. Null after an error at `op`, and for what another
  // pattern should take.
  virtual mlir::Value emit(OpTy op, OpAdaptor adaptor, mlir::RankedTensorType type,
                           mlir::ConversionPatternRewriter& rewriter) const = 0;
};

} // namespace nocturne::compiler
