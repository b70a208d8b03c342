#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/DialectConversion.h"

#include "compiler/dialect/StablehloOps.h"
#include "compiler/lowering/contraction.h"
#include "compiler/lowering/families.h"
#include "compiler/lowering/tensors.h"

namespace nocturne::compiler {

using namespace mlir;

namespace {

// Replaces `op`, a sum of products of its two operands: they are converted to the type in which
// the products are added up, so that the contraction is a plain one, and its result is rounded.
LogicalResult replaceByContraction(ConversionPatternRewriter& rewriter, Operation* op,
                                   const Contraction& contraction, ValueRange operands) {
  Location loc = op->getLoc();
  Type lhs = elementTypeOf(op->getOperand(0).getType());
  Type rhs = elementTypeOf(op->getOperand(1).getType());
  Type result = elementTypeOf(op->getResult(0).getType());
  Type sum = accumulationElement(lhs, rhs, result);
  Value left = convertTensor(rewriter, loc, op, lhs, sum, operands[0]);
  Value right = convertTensor(rewriter, loc, op, rhs, sum, operands[1]);
  if (!left || !right)
    return op->emitError("has no lowering for elements of types ") << lhs << " and " << rhs;
  Value total = emitContraction(rewriter, loc, contraction, left, right);
  total = convertTensor(rewriter, loc, op, sum, result, total);
  if (!total)
    return op->emitError("has no lowering for a result of elements of type ") << result;
  rewriter.replaceOp(op, total);
  return success();
}

// The loops of a dot_general: batching, free dimensions of both sides, contracting.
Contraction loopsOfDot(ArrayRef<int64_t> lhsShape, ArrayRef<int64_t> rhsShape,
                       ArrayRef<int64_t> lhsBatch, ArrayRef<int64_t> rhsBatch,
                       ArrayRef<int64_t> lhsSummed, ArrayRef<int64_t> rhsSummed) {
  constexpr unsigned free = ~0U;
  Contraction loops;
  loops.lhs.assign(lhsShape.size(), free);
  loops.rhs.assign(rhsShape.size(), free);
  auto newLoop = [&](int64_t size) {
    loops.sizes.push_back(size);
    return static_cast<unsigned>(loops.sizes.size() - 1);
  };
  auto pair = [&](int64_t lhsDim, int64_t rhsDim) {
    const unsigned loop = newLoop(lhsShape[static_cast<size_t>(lhsDim)]);
    loops.lhs[static_cast<size_t>(lhsDim)] = loops.rhs[static_cast<size_t>(rhsDim)] = loop;
    return loop;
  };
  for (auto [lhsDim, rhsDim] : llvm::zip(lhsBatch, rhsBatch))
    loops.result.push_back(pair(lhsDim, rhsDim));
  for (auto [lhsDim, rhsDim] : llvm::zip(lhsSummed, rhsSummed))
    pair(lhsDim, rhsDim);
  auto addFree = [&](ArrayRef<int64_t> shape, SmallVector<unsigned>& side) {
    for (auto [size, loop] : llvm::zip(shape, side))
      if (loop == free) {
        loop = newLoop(size);
        loops.result.push_back(loop);
      }
  };
  addFree(lhsShape, loops.lhs);
  addFree(rhsShape, loops.rhs);
  return loops;
}

struct LowerDot : OpConversionPattern<stablehlo::DotOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(stablehlo::DotOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter& rewriter) const override {
    if (!heldResultType(*getTypeConverter(), op))
      return failure();
    ArrayRef<int64_t> lhs = shapeOf(adaptor.getLhs()), rhs = shapeOf(adaptor.getRhs());
    Contraction loops =
        loopsOfDot(lhs, rhs, {}, {}, {static_cast<int64_t>(lhs.size()) - 1}, {int64_t(0)});
    return replaceByContraction(rewriter, op, loops, adaptor.getOperands());
  }
};

// Precision and algorithm ask for no more than what adding up in f32 (or wider) gives.
struct LowerDotGeneral : OpConversionPattern<stablehlo::DotGeneralOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(stablehlo::DotGeneralOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter& rewriter) const override {
    if (!heldResultType(*getTypeConverter(), op))
      return failure();
    stablehlo::DotDimensionNumbersAttr dims = op.getDotDimensionNumbers();
    Contraction loops =
        loopsOfDot(shapeOf(adaptor.getLhs()), shapeOf(adaptor.getRhs()),
                   dims.getLhsBatchingDimensions(), dims.getRhsBatchingDimensions(),
                   dims.getLhsContractingDimensions(), dims.getRhsContractingDimensions());
    return replaceByContraction(rewriter, op, loops, adaptor.getOperands());
  }
};

// The labels of an einsum's tensors as loops: each letter is one, and an ellipsis stands for as
// many dimensions as the tensor has besides its letters, counted from the last.
class EinsumLabels {
public:
  // Fails where the labels do not fit the shape or a letter has two sizes.
  LogicalResult read(StringRef labels, ArrayRef<int64_t> shape, SmallVector<unsigned>& loops) {
    SmallVector<unsigned> keys;
    if (failed(expand(labels, shape.size(), keys)))
      return failure();
    for (auto [key, size] : llvm::zip(keys, shape)) {
      auto [entry, isNew] = loopOf_.try_emplace(key, static_cast<unsigned>(sizes_.size()));
      if (isNew)
        sizes_.push_back(size);
      else if (sizes_[entry->second] != size)
        return failure();
      loops.push_back(entry->second);
    }
    return success();
  }

  ArrayRef<int64_t> sizes() const { return sizes_; }

private:
  static LogicalResult expand(StringRef labels, size_t rank, SmallVectorImpl<unsigned>& keys) {
    constexpr unsigned firstUnnamed = 256;
    const size_t ellipsis = labels.find("...");
    const size_t letters = labels.size() - (ellipsis == StringRef::npos ? 0 : 3);
    if (rank < letters || (ellipsis == StringRef::npos && rank != letters))
      return failure();
    for (size_t i = 0; i < labels.size(); ++i) {
      if (i == ellipsis) {
        for (size_t unnamed = rank - letters; unnamed > 0; --unnamed)
          keys.push_back(static_cast<unsigned>(firstUnnamed + unnamed));
        i += 2;
      } else {
        keys.push_back(static_cast<unsigned char>(labels[i]));
      }
    }
    return success();
  }

  DenseMap<unsigned, unsigned> loopOf_;
  SmallVector<int64_t> sizes_;
};

std::string withoutSpaces(StringRef text) {
  std::string result;
  llvm::copy_if(text, std::back_inserter(result), [](char c) { return c != ' '; });
  return result;
}

struct LowerEinsum : OpConversionPattern<stablehlo::EinsumOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(stablehlo::EinsumOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter& rewriter) const override {
    if (!heldResultType(*getTypeConverter(), op))
      return failure();
    std::string config = withoutSpaces(op.getEinsumConfig());
    auto [operands, result] = StringRef(config).split("->");
    auto [lhs, rhs] = operands.split(',');
    EinsumLabels labels;
    Contraction loops;
    if (failed(labels.read(lhs, shapeOf(adaptor.getLhs()), loops.lhs)) ||
        failed(labels.read(rhs, shapeOf(adaptor.getRhs()), loops.rhs)) ||
        failed(labels.read(result, shapeOf(op.getResult()), loops.result)))
      return op.emitError("has a configuration that its types do not fit: \"") << config << '"';
    loops.sizes.assign(labels.sizes().begin(), labels.sizes().end());
    return replaceByContraction(rewriter, op, loops, adaptor.getOperands());
  }
};

// A sum over the labels that the result lacks, or a transposition or diagonal. The product with a
// scalar one makes it a contraction.
struct LowerUnaryEinsum : OpConversionPattern<stablehlo::UnaryEinsumOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(stablehlo::UnaryEinsumOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter& rewriter) const override {
    if (!heldResultType(*getTypeConverter(), op))
      return failure();
    std::string config = withoutSpaces(op.getEinsumConfig());
    auto [operand, result] = StringRef(config).split("->");
    EinsumLabels labels;
    Contraction loops;
    if (failed(labels.read(operand, shapeOf(adaptor.getOperand()), loops.lhs)) ||
        failed(labels.read(result, shapeOf(op.getResult()), loops.result)))
      return op.emitError("has a configuration that its types do not fit: \"") << config << '"';
    Location loc = op.getLoc();
    Type element = elementTypeOf(op.getOperand().getType());
    Type sum = accumulationElement(element, element, element);
    Value held = convertTensor(rewriter, loc, op, element, sum, adaptor.getOperand());
    if (!held)
      return op.emitError("has no lowering for elements of type ") << element;
    loops.sizes.assign(labels.sizes().begin(), labels.sizes().end());
    Value one = oneOf(rewriter, loc, storageType(sum));
    Value total = emitContraction(rewriter, loc, loops, held, filled(rewriter, loc, {}, one));
    rewriter.replaceOp(op, convertTensor(rewriter, loc, op, sum, element, total));
    return success();
  }
};

} // namespace

void populateContractions(LoweringTypes& types, RewritePatternSet& patterns) {
  patterns.add<LowerDot, LowerDotGeneral, LowerEinsum, LowerUnaryEinsum>(types,
                                                                         patterns.getContext());
}

} // namespace nocturne::compiler
