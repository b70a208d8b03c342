// Constants as they are held.
#include <optional>

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/DialectConversion.h"

#include "compiler/dialect/StablehloOps.h"
#include "compiler/lowering/families.h"
#include "compiler/lowering/tensors.h"

namespace nocturne::compiler {

using namespace mlir;

namespace {

constexpr int64_t kShortList = 16;

// The same elements as held ones of `type`.
DenseElementsAttr heldElements(DenseElementsAttr elements, RankedTensorType type) {
  Type from = elements.getElementType(), to = type.getElementType();
  if (from == to)
    return elements;
  if (from.getIntOrFloatBitWidth() == to.getIntOrFloatBitWidth())
    return elements.bitcast(to);
  unsigned width = to.getIntOrFloatBitWidth();
  return cast<DenseFPElementsAttr>(elements).mapValues(
      to, [&](const APFloat& value) { return value.bitcastToAPInt().zext(width); });
}

// The one element of a splat.
Value splatScalar(OpBuilder& builder, Location loc, DenseElementsAttr elements) {
  Type element = elements.getElementType();
  auto value = elements.getSplatValue<Attribute>();
  if (auto complex = dyn_cast<ComplexType>(element))
    return complex::ConstantOp::create(builder, loc, complex, cast<ArrayAttr>(value));
  return arith::ConstantOp::create(builder, loc, cast<TypedAttr>(value));
}

// Elements that the text holds in a blob apart. Null for a blob of the wrong size.
Attribute heldBlob(DenseResourceElementsAttr resource, RankedTensorType type) {
  ArrayRef<char> bytes = resource.getRawHandle().getBlob()->getData();
  auto count = static_cast<size_t>(type.getNumElements());
  Type element = type.getElementType();
  if (auto complex = dyn_cast<ComplexType>(element)) {
    if (bytes.size() != count * complex.getElementType().getIntOrFloatBitWidth() / 4)
      return {};
    return DenseElementsAttr::getFromRawBuffer(type, bytes);
  }
  if (!element.isIntOrFloat())
    return {};
  if (element.isInteger(1)) {
    SmallVector<bool> values(count);
    bool isPacked = bytes.size() == (count + 7) / 8;
    if (!isPacked && bytes.size() != count)
      return {};
    for (size_t i = 0; i < count; ++i)
      values[i] = isPacked ? (bytes[i / 8] >> (i % 8)) & 1 : bytes[i] != 0;
    return DenseElementsAttr::get(type, values);
  }
  unsigned width = element.getIntOrFloatBitWidth();
  if (bytes.size() != count * ((width + 7) / 8))
    return {};
  if (width < 8)
    return DenseElementsAttr::getFromRawBuffer(type, bytes);
  // The bytes stay where they are: weights are large.
  return DenseResourceElementsAttr::get(type, resource.getRawHandle());
}

// Numbers that depend on nothing but their place, for weights whose values the text left out:
// floats of at most 1/16 and integers below 8, so that long sums stay in range.
Value generatedElement(OpBuilder& builder, Location loc, Type element, RankedTensorType type) {
  Type word = builder.getI32Type();
  auto constant = [&](uint32_t value) -> Value {
    return arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(word, APInt(32, value)));
  };
  auto mixed = [&](Value value, uint32_t shift, uint32_t factor) -> Value {
    Value moved = arith::ShRUIOp::create(builder, loc, value, constant(shift));
    Value crossed = arith::XOrIOp::create(builder, loc, value, moved);
    return arith::MulIOp::create(builder, loc, crossed, constant(factor));
  };
  Value place = constant(0);
  for (int64_t i = 0; i < type.getRank(); ++i) {
    Value index = linalg::IndexOp::create(builder, loc, i);
    Value step = arith::IndexCastOp::create(builder, loc, word, index);
    auto extent = constant(static_cast<uint32_t>(type.getDimSize(static_cast<unsigned>(i))));
    place = arith::MulIOp::create(builder, loc, place, extent);
    place = arith::AddIOp::create(builder, loc, place, step);
  }
  // Multipliers that are odd and have no pattern to their bits, as in common integer hashes.
  Value hash =
      mixed(mixed(arith::AddIOp::create(builder, loc, place, constant(0x9E3779B9)), 16, 0x7FEB352D),
            15, 0x846CA68B);
  Value few = arith::ShRUIOp::create(builder, loc, hash, constant(29));
  if (auto integer = dyn_cast<IntegerType>(element)) {
    Type held = storageType(element);
    if (integer.getWidth() == 32)
      return few;
    if (integer.getWidth() < 32)
      return arith::TruncIOp::create(builder, loc, held, few);
    return arith::ExtUIOp::create(builder, loc, held, few);
  }
  auto real = dyn_cast<FloatType>(element);
  if (!real)
    return {};
  Type computed = computeType(real);
  Value many = arith::ShRSIOp::create(builder, loc, hash, constant(8));
  Value number = arith::SIToFPOp::create(builder, loc, computed, many);
  Value scale = arith::ConstantOp::create(builder, loc, FloatAttr::get(computed, 1.0 / (1 << 27)));
  return encode(builder, loc, element, arith::MulFOp::create(builder, loc, number, scale));
}

struct ConstantPattern : OpConversionPattern<stablehlo::ConstantOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult lowerResource(stablehlo::ConstantOp op, DenseResourceElementsAttr resource,
                              RankedTensorType type, ConversionPatternRewriter& rewriter) const {
    if (resource.getRawHandle().getBlob()) {
      Attribute held = heldBlob(resource, type);
      if (!held)
        return op.emitError("constant of type ")
               << op.getType() << " has another number of bytes than its type";
      rewriter.replaceOpWithNewOp<arith::ConstantOp>(op, cast<TypedAttr>(held));
      return success();
    }
    Type element = cast<ShapedType>(op.getType()).getElementType();
    bool canGenerate = isa<IntegerType, FloatType>(element);
    if (!canGenerate || !op->getParentOfType<ModuleOp>()->hasAttr(kGeneratedWeights))
      return op.emitError("the text leaves out the value of this constant of type ")
             << op.getType();
    Value generated = elementwiseTensor(rewriter, op.getLoc(), type, {}, {},
                                        [&](OpBuilder& builder, Location loc, ValueRange) {
                                          return generatedElement(builder, loc, element, type);
                                        });
    rewriter.replaceOp(op, generated);
    return success();
  }

  LogicalResult matchAndRewrite(stablehlo::ConstantOp op, OpAdaptor,
                                ConversionPatternRewriter& rewriter) const override {
    RankedTensorType type = heldResultType(*getTypeConverter(), op);
    if (!type)
      return failure();
    ElementsAttr value = op.getValue();
    if (type.getNumElements() == 0) {
      rewriter.replaceOp(op, emptyTensor(rewriter, op.getLoc(), type));
      return success();
    }
    if (auto resource = dyn_cast<DenseResourceElementsAttr>(value))
      return lowerResource(op, resource, type, rewriter);
    auto dense = dyn_cast<DenseElementsAttr>(value);
    if (!dense || isa<DenseStringElementsAttr>(dense))
      return op.emitError("constant of this kind of value has no lowering");
    DenseElementsAttr held = heldElements(dense, type);
    // A loop that writes one number is smaller than the data. Short lists stay constants: they may
    // be shapes or indices.
    if (held.isSplat() && type.getNumElements() > kShortList)
      rewriter.replaceOp(op, filled(rewriter, op.getLoc(), type.getShape(),
                                    splatScalar(rewriter, op.getLoc(), held)));
    else
      rewriter.replaceOpWithNewOp<arith::ConstantOp>(op, held);
    return success();
  }
};

} // namespace

void populateConstants(LoweringTypes& types, RewritePatternSet& patterns) {
  patterns.add<ConstantPattern>(types, patterns.getContext());
}

} // namespace nocturne::compiler
