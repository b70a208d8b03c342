// Creating and viewing data: iota, broadcasts, reshapes, transposes and casts of bits.
#include <numeric>

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/DialectConversion.h"

#include "compiler/dialect/AttrHelpers.h"
#include "compiler/dialect/StablehloOps.h"
#include "compiler/lowering/families.h"
#include "compiler/lowering/patterns.h"
#include "compiler/lowering/tensors.h"

namespace nocturne::compiler {

using namespace mlir;

namespace {

//===------------------------------------------------------------------------------------------===//
// iota
//===------------------------------------------------------------------------------------------===//

// A loop's index as one held value of StableHLO's type `element`.
Value indexAs(OpBuilder& builder, Location loc, Value index, Type element) {
  if (isa<IndexType>(element))
    return index;
  if (auto complex = dyn_cast<ComplexType>(element)) {
    Value real = indexAs(builder, loc, index, complex.getElementType());
    Value zero = arith::ConstantOp::create(builder, loc, builder.getFloatAttr(real.getType(), 0.0));
    return complex::CreateOp::create(builder, loc, complex, real, zero);
  }
  if (isa<IntegerType>(element))
    return arith::IndexCastOp::create(builder, loc, storageType(element), index);
  Value wide = arith::IndexCastOp::create(builder, loc, builder.getI64Type(), index);
  Value number = arith::SIToFPOp::create(builder, loc, computeType(element), wide);
  return encode(builder, loc, element, number);
}

// iota and dynamic_iota: the shape is the result type's in both.
template <typename OpTy>
struct IotaPattern : TensorPattern<OpTy> {
  using TensorPattern<OpTy>::TensorPattern;
  using OpAdaptor = typename OpTy::Adaptor;

  Value emit(OpTy op, OpAdaptor, RankedTensorType type,
             ConversionPatternRewriter& rewriter) const override {
    Type element = cast<ShapedType>(op.getType()).getElementType();
    if (!isa<IntegerType, IndexType, FloatType, ComplexType>(element)) {
      op.emitError("iota of ") << element << " has no lowering";
      return {};
    }
    int64_t dimension = op.getIotaDimension();
    return elementwiseTensor(rewriter, op.getLoc(), type, {}, {},
                             [&](OpBuilder& builder, Location loc, ValueRange) {
                               Value index = linalg::IndexOp::create(builder, loc, dimension);
                               return indexAs(builder, loc, index, element);
                             });
  }
};

//===------------------------------------------------------------------------------------------===//
// Broadcasts
//===------------------------------------------------------------------------------------------===//

// `dimensions[i]` is where dimension i of `operand` goes; it has that extent there, or is 1.
Value broadcastTensor(OpBuilder& builder, Location loc, Value operand, RankedTensorType type,
                      ArrayRef<int64_t> dimensions) {
  auto from = cast<RankedTensorType>(operand.getType());
  if (from.getNumElements() == type.getNumElements() && llvm::is_sorted(dimensions))
    return reshaped(builder, loc, operand, type.getShape());
  // Repeated dimensions are dropped first, so that each that remains is a loop's index.
  SmallVector<int64_t> shape, places;
  for (auto [extent, place] : llvm::zip(from.getShape(), dimensions)) {
    if (extent == 1 && type.getDimSize(static_cast<unsigned>(place)) != 1)
      continue;
    shape.push_back(extent);
    places.push_back(place);
  }
  Value kept = reshaped(builder, loc, operand, shape);
  // A constant everywhere needs no loop that reads it.
  DenseElementsAttr constant;
  if (shape.empty() && matchPattern(kept, m_Constant(&constant)))
    return filled(builder, loc, type.getShape(), scalarOf(builder, loc, kept));
  SmallVector<AffineExpr> exprs;
  for (int64_t place : places)
    exprs.push_back(builder.getAffineDimExpr(static_cast<unsigned>(place)));
  AffineMap map =
      AffineMap::get(static_cast<unsigned>(type.getRank()), 0, exprs, builder.getContext());
  return elementwiseTensor(builder, loc, type, kept, map,
                           [](OpBuilder&, Location, ValueRange elements) { return elements[0]; });
}

// broadcast_in_dim and dynamic_broadcast_in_dim.
template <typename OpTy>
struct BroadcastInDimPattern : TensorPattern<OpTy> {
  using TensorPattern<OpTy>::TensorPattern;
  using OpAdaptor = typename OpTy::Adaptor;

  Value emit(OpTy op, OpAdaptor adaptor, RankedTensorType type,
             ConversionPatternRewriter& rewriter) const override {
    SmallVector<int64_t> dimensions = stablehlo::readI64List(op.getBroadcastDimensions());
    return broadcastTensor(rewriter, op.getLoc(), adaptor.getOperand(), type, dimensions);
  }
};

struct BroadcastPattern : TensorPattern<stablehlo::BroadcastOp> {
  using TensorPattern::TensorPattern;

  Value emit(stablehlo::BroadcastOp op, OpAdaptor adaptor, RankedTensorType type,
             ConversionPatternRewriter& rewriter) const override {
    // The new dimensions come first.
    auto rank = cast<ShapedType>(adaptor.getOperand().getType()).getRank();
    SmallVector<int64_t> dimensions(static_cast<size_t>(rank));
    std::iota(dimensions.begin(), dimensions.end(), type.getRank() - rank);
    return broadcastTensor(rewriter, op.getLoc(), adaptor.getOperand(), type, dimensions);
  }
};

//===------------------------------------------------------------------------------------------===//
// Reshapes and transposes
//===------------------------------------------------------------------------------------------===//

template <typename OpTy>
struct ReshapePattern : TensorPattern<OpTy> {
  using TensorPattern<OpTy>::TensorPattern;
  using OpAdaptor = typename OpTy::Adaptor;

  Value emit(OpTy op, OpAdaptor adaptor, RankedTensorType type,
             ConversionPatternRewriter& rewriter) const override {
    return reshaped(rewriter, op.getLoc(), adaptor.getOperand(), type.getShape());
  }
};

// Whether the dimensions that have more than one index stay in order.
bool keepsOrder(ArrayRef<int64_t> permutation, ArrayRef<int64_t> resultShape) {
  int64_t last = -1;
  for (auto [from, extent] : llvm::zip(permutation, resultShape)) {
    if (extent == 1)
      continue;
    if (from < last)
      return false;
    last = from;
  }
  return true;
}

struct TransposePattern : TensorPattern<stablehlo::TransposeOp> {
  using TensorPattern::TensorPattern;

  Value emit(stablehlo::TransposeOp op, OpAdaptor adaptor, RankedTensorType type,
             ConversionPatternRewriter& rewriter) const override {
    SmallVector<int64_t> permutation = stablehlo::readI64List(op.getPermutation());
    Value operand = adaptor.getOperand();
    if (keepsOrder(permutation, type.getShape()))
      return reshaped(rewriter, op.getLoc(), operand, type.getShape());
    // Dimension permutation[i] of the operand is dimension i of the result.
    SmallVector<AffineExpr> exprs(permutation.size());
    for (auto [to, from] : llvm::enumerate(permutation))
      exprs[static_cast<size_t>(from)] = rewriter.getAffineDimExpr(static_cast<unsigned>(to));
    AffineMap map =
        AffineMap::get(static_cast<unsigned>(type.getRank()), 0, exprs, rewriter.getContext());
    return elementwiseTensor(rewriter, op.getLoc(), type, operand, map,
                             [](OpBuilder&, Location, ValueRange elements) { return elements[0]; });
  }
};

struct GetDimensionSizePattern : TensorPattern<stablehlo::GetDimensionSizeOp> {
  using TensorPattern::TensorPattern;

  Value emit(stablehlo::GetDimensionSizeOp op, OpAdaptor adaptor, RankedTensorType type,
             ConversionPatternRewriter& rewriter) const override {
    int64_t size = shapeOf(adaptor.getOperand())[static_cast<size_t>(op.getDimension())];
    auto value = DenseElementsAttr::get(type, rewriter.getIntegerAttr(type.getElementType(), size));
    return arith::ConstantOp::create(rewriter, op.getLoc(), value);
  }
};

struct SetDimensionSizePattern : OpConversionPattern<stablehlo::SetDimensionSizeOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(stablehlo::SetDimensionSizeOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter& rewriter) const override {
    auto operand = dyn_cast<RankedTensorType>(adaptor.getOperand().getType());
    DenseIntElementsAttr size;
    bool isWhole = operand && matchPattern(adaptor.getSize(), m_Constant(&size)) &&
                   (*size.value_begin<APInt>()).getSExtValue() ==
                       operand.getDimSize(static_cast<unsigned>(op.getDimension()));
    if (!isWhole)
      return op.emitError("set_dimension_size to less than the whole dimension has no lowering");
    rewriter.replaceOp(op, adaptor.getOperand());
    return success();
  }
};

//===------------------------------------------------------------------------------------------===//
// bitcast_convert
//===------------------------------------------------------------------------------------------===//

// A held element as an integer of exactly the bits of its StableHLO type, and back. Small floats
// may be held in more.
Value toBits(OpBuilder& builder, Location loc, Value held, unsigned width) {
  Type bits = builder.getIntegerType(width);
  if (held.getType() == bits)
    return held;
  if (isa<FloatType>(held.getType()))
    return arith::BitcastOp::create(builder, loc, bits, held);
  return arith::TruncIOp::create(builder, loc, bits, held);
}

Value fromBits(OpBuilder& builder, Location loc, Value bits, Type held) {
  if (bits.getType() == held)
    return bits;
  if (isa<FloatType>(held))
    return arith::BitcastOp::create(builder, loc, held, bits);
  return arith::ExtUIOp::create(builder, loc, held, bits);
}

Value offsetOfPart(OpBuilder& builder, Location loc, Value index, unsigned partWidth,
                   IntegerType type) {
  Value number = arith::IndexCastOp::create(builder, loc, builder.getI64Type(), index);
  Value width = arith::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(partWidth));
  Value offset = arith::MulIOp::create(builder, loc, number, width);
  if (type.getWidth() == 64)
    return offset;
  return arith::TruncIOp::create(builder, loc, type, offset);
}

struct BitcastConvertPattern : TensorPattern<stablehlo::BitcastConvertOp> {
  using TensorPattern::TensorPattern;

  // Each element in parts, the lowest bits first, along a new last dimension.
  static Value split(OpBuilder& rewriter, Location place, Value operand, RankedTensorType type,
                     unsigned fromWidth, unsigned toWidth) {
    auto rank = static_cast<unsigned>(type.getRank());
    AffineMap map = rewriter.getMultiDimIdentityMap(rank).dropResult(rank - 1);
    return elementwiseTensor(rewriter, place, type, operand, map,
                             [&](OpBuilder& builder, Location loc, ValueRange elements) {
                               Value bits = toBits(builder, loc, elements[0], fromWidth);
                               Value index = linalg::IndexOp::create(builder, loc, rank - 1);
                               Value offset = offsetOfPart(builder, loc, index, toWidth,
                                                           builder.getIntegerType(fromWidth));
                               Value moved = arith::ShRUIOp::create(builder, loc, bits, offset);
                               Type part = builder.getIntegerType(toWidth);
                               Value low = arith::TruncIOp::create(builder, loc, part, moved);
                               return fromBits(builder, loc, low, type.getElementType());
                             });
  }

  // The last dimension's elements together as one.
  static Value join(OpBuilder& rewriter, Location place, Value operand, RankedTensorType type,
                    unsigned fromWidth, unsigned toWidth) {
    auto rank = static_cast<unsigned>(type.getRank());
    IntegerType wide = rewriter.getIntegerType(toWidth);
    Value zero = arith::ConstantOp::create(rewriter, place, rewriter.getIntegerAttr(wide, 0));
    auto bitsType = RankedTensorType::get(type.getShape(), wide);
    Value init = filled(rewriter, place, bitsType.getShape(), zero);
    AffineMap in = rewriter.getMultiDimIdentityMap(rank + 1);
    SmallVector<utils::IteratorType> loops(rank, utils::IteratorType::parallel);
    loops.push_back(utils::IteratorType::reduction);
    auto generic = linalg::GenericOp::create(
        rewriter, place, TypeRange{bitsType}, operand, init,
        ArrayRef<AffineMap>{in, in.dropResult(rank)}, loops,
        [&](OpBuilder& builder, Location loc, ValueRange elements) {
          Value part = toBits(builder, loc, elements[0], fromWidth);
          Value extended = arith::ExtUIOp::create(builder, loc, wide, part);
          Value index = linalg::IndexOp::create(builder, loc, rank);
          Value offset = offsetOfPart(builder, loc, index, fromWidth, wide);
          Value moved = arith::ShLIOp::create(builder, loc, extended, offset);
          Value joined = arith::OrIOp::create(builder, loc, elements[1], moved);
          linalg::YieldOp::create(builder, loc, joined);
        });
    return castElements(rewriter, place, generic.getResult(0), type, toWidth);
  }

  static Value castElements(OpBuilder& rewriter, Location place, Value operand,
                            RankedTensorType type, unsigned width) {
    if (operand.getType() == type)
      return operand;
    AffineMap map = rewriter.getMultiDimIdentityMap(static_cast<unsigned>(type.getRank()));
    return elementwiseTensor(rewriter, place, type, operand, map,
                             [&](OpBuilder& builder, Location loc, ValueRange elements) {
                               Value bits = toBits(builder, loc, elements[0], width);
                               return fromBits(builder, loc, bits, type.getElementType());
                             });
  }

  Value emit(stablehlo::BitcastConvertOp op, OpAdaptor adaptor, RankedTensorType type,
             ConversionPatternRewriter& rewriter) const override {
    Type from = cast<ShapedType>(op.getOperand().getType()).getElementType();
    Type to = cast<ShapedType>(op.getType()).getElementType();
    Value operand = adaptor.getOperand();
    if (from == to)
      return operand;
    if (!from.isIntOrFloat() || !to.isIntOrFloat()) {
      op.emitError("bitcast_convert from ") << from << " to " << to << " has no lowering";
      return {};
    }
    unsigned fromWidth = from.getIntOrFloatBitWidth(), toWidth = to.getIntOrFloatBitWidth();
    if (fromWidth == toWidth)
      return castElements(rewriter, op.getLoc(), operand, type, toWidth);
    if (fromWidth > toWidth)
      return split(rewriter, op.getLoc(), operand, type, fromWidth, toWidth);
    return join(rewriter, op.getLoc(), operand, type, fromWidth, toWidth);
  }
};

} // namespace

void populateShapes(LoweringTypes& types, RewritePatternSet& patterns) {
  MLIRContext* context = patterns.getContext();
  populateConstants(types, patterns);
  patterns.add<IotaPattern<stablehlo::IotaOp>, IotaPattern<stablehlo::DynamicIotaOp>,
               BroadcastPattern, BroadcastInDimPattern<stablehlo::BroadcastInDimOp>,
               BroadcastInDimPattern<stablehlo::DynamicBroadcastInDimOp>,
               ReshapePattern<stablehlo::ReshapeOp>, ReshapePattern<stablehlo::DynamicReshapeOp>,
               TransposePattern, GetDimensionSizePattern, SetDimensionSizePattern>(types, context);
  // Before the pattern for whatever works element by element, as widths may differ here.
  patterns.add<BitcastConvertPattern>(types, context, PatternBenefit(2));
}

} // namespace nocturne::compiler
