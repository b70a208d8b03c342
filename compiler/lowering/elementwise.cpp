// Every operation with a scalar meaning, as one linalg.generic.
#include "compiler/lowering/families.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/DialectConversion.h"

#include "compiler/dialect/AttrHelpers.h"
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

// Where `operand` is read for each element of the result; null where their shapes do not go
// together. Operations of CHLO whose names say so stretch dimensions of size 1 and add dimensions
// in front, or where their attribute has them.
AffineMap readingMap(Operation* op, Value operand, RankedTensorType result) {
  Builder builder(op->getContext());
  const auto rank = static_cast<unsigned>(result.getRank());
  if (isScalarTensor(operand))
    return AffineMap::get(rank, 0, op->getContext());
  auto type = dyn_cast<RankedTensorType>(operand.getType());
  if (!type)
    return {};
  if (type.getShape() == result.getShape())
    return builder.getMultiDimIdentityMap(rank);
  if (!op->getName().getStringRef().starts_with("chlo.broadcast_") || type.getRank() > rank)
    return {};
  const int64_t added = rank - type.getRank();
  SmallVector<int64_t> places = stablehlo::readI64List(op->getAttr("broadcast_dimensions"));
  if (added == 0 || static_cast<int64_t>(places.size()) != type.getRank())
    places = llvm::to_vector(llvm::seq<int64_t>(added, rank));
  SmallVector<AffineExpr> exprs;
  for (auto [size, place] : llvm::zip(type.getShape(), places)) {
    const bool exists = place >= 0 && place < rank;
    if (!exists || (size != 1 && size != result.getDimSize(static_cast<unsigned>(place))))
      return {};
    exprs.push_back(size == 1 ? builder.getAffineConstantExpr(0)
                              : builder.getAffineDimExpr(static_cast<unsigned>(place)));
  }
  return AffineMap::get(rank, 0, exprs, op->getContext());
}

// One loop over the result; operands of rank 0 are read at every element. `emit` gets the operands'
// elements as they are held.
LogicalResult rewriteAsGeneric(Operation* op, ValueRange operands, RankedTensorType resultType,
                               ConversionPatternRewriter& rewriter,
                               llvm::function_ref<Value(OpBuilder&, Location, ValueRange)> emit) {
  int64_t rank = resultType.getRank();
  SmallVector<AffineMap> maps;
  for (Value operand : operands) {
    maps.push_back(readingMap(op, operand, resultType));
    if (!maps.back())
      return failure();
  }
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
