// Every operation with a scalar meaning, as one linalg.generic.
#include "compiler/lowering/families.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/DialectConversion.h"

#include "compiler/dialect/StablehloOps.h"
#include "compiler/lowering/scalars.h"
#include "compiler/lowering/tensors.h"

namespace nocturne::compiler {

using namespace mlir;

namespace {

bool isScalarTensor(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.getRank() == 0;
}

// One loop over the result; operands of rank 0 are read at every element. `emit` gets the operands'
// elements as they are held.
LogicalResult rewriteAsGeneric(Operation* op, ValueRange operands, RankedTensorType resultType,
                               ConversionPatternRewriter& rewriter,
                               llvm::function_ref<Value(OpBuilder&, Location, ValueRange)> emit) {
  int64_t rank = resultType.getRank();
  SmallVector<AffineMap> maps;
  for (Value operand : operands)
    maps.push_back(isScalarTensor(operand) ? AffineMap::get(rank, 0, rewriter.getContext())
                                           : rewriter.getMultiDimIdentityMap(rank));
  maps.push_back(rewriter.getMultiDimIdentityMap(rank));
  SmallVector<utils::IteratorType> iterators(rank, utils::IteratorType::parallel);
  bool emitted = true;
  auto generic = linalg::GenericOp::create(
      rewriter, op->getLoc(), resultType, operands, emptyTensor(rewriter, op->getLoc(), resultType),
      maps, iterators, [&](OpBuilder& builder, Location loc, ValueRange elements) {
        Value result = emit(builder, loc, elements.drop_back());
        emitted = result && result.getType() == resultType.getElementType();
        linalg::YieldOp::create(builder, loc, emitted ? result : elements.back());
      });
  if (!emitted)
    return op->emitError("operation '")
           << op->getName() << "' has no lowering for the element types " << op->getOperandTypes()
           << " -> " << op->getResultTypes();
  rewriter.replaceOp(op, generic.getResult(0));
  return success();
}

class ElementwiseLowering : public ConversionPattern {
public:
  ElementwiseLowering(LoweringTypes& types, MLIRContext* context)
      : ConversionPattern(types, MatchAnyOpTypeTag(), 1, context) {}

  LogicalResult matchAndRewrite(Operation* op, ArrayRef<Value> operands,
                                ConversionPatternRewriter& rewriter) const override {
    if (!scalarTable().find(op->getName().getStringRef()) || op->getNumResults() != 1)
      return failure();
    auto type = dyn_cast_or_null<RankedTensorType>(
        getTypeConverter()->convertType(op->getResult(0).getType()));
    if (!type)
      return failure();
    for (Value operand : operands) {
      auto shape = dyn_cast<RankedTensorType>(operand.getType());
      if (!shape || (shape.getRank() != 0 && shape.getShape() != type.getShape()))
        return failure();
    }
    return rewriteAsGeneric(op, operands, type, rewriter,
                            [&](OpBuilder& builder, Location loc, ValueRange elements) {
                              return emitScalarOp(builder, loc, op, elements);
                            });
  }
};

class MapLowering : public OpConversionPattern<stablehlo::MapOp> {
public:
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(stablehlo::MapOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter& rewriter) const override {
    auto type = dyn_cast_or_null<RankedTensorType>(
        getTypeConverter()->convertType(op->getResult(0).getType()));
    if (!type || !op->getRegion(0).hasOneBlock())
      return failure();
    return rewriteAsGeneric(
        op, adaptor.getOperands(), type, rewriter,
        [&](OpBuilder& builder, Location loc, ValueRange elements) -> Value {
          SmallVector<Value> results;
          (void)loc;
          if (failed(emitScalarBody(builder, op->getRegion(0).front(), elements, results)))
            return {};
          return results.front();
        });
  }
};

} // namespace

void populateElementwise(LoweringTypes& types, RewritePatternSet& patterns) {
  patterns.add<ElementwiseLowering, MapLowering>(types, patterns.getContext());
}

} // namespace nocturne::compiler
