#include "compiler/codegen/optimize_product.h"

#include <array>

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/STLExtras.h"

namespace nocturne::compiler {

using namespace mlir;

namespace {

using Loops = llvm::SmallVector<ProductLoop>;

bool isProductBody(Block& body) {
  if (body.getNumArguments() != 3)
    return false;
  Value a = body.getArgument(0), b = body.getArgument(1), sum = body.getArgument(2);
  auto add = body.getTerminator()->getOperand(0).getDefiningOp<arith::AddFOp>();
  if (!add || add.getLhs() == add.getRhs())
    return false;
  Value product = add.getLhs() == sum ? add.getRhs() : add.getLhs();
  if (add.getLhs() != sum && add.getRhs() != sum)
    return false;
  auto multiply = product.getDefiningOp<arith::MulFOp>();
  return multiply && ((multiply.getLhs() == a && multiply.getRhs() == b) ||
                      (multiply.getLhs() == b && multiply.getRhs() == a));
}

// Adds `scale` times the coefficients of a linear expression without a constant to `strides`.
bool addLinear(AffineExpr expr, int64_t scale, llvm::SmallVector<int64_t>& strides) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    strides[dim.getPosition()] += scale;
    return true;
  }
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue() == 0;
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return false;
  if (binary.getKind() == AffineExprKind::Add)
    return addLinear(binary.getLHS(), scale, strides) && addLinear(binary.getRHS(), scale, strides);
  auto factor = dyn_cast<AffineConstantExpr>(binary.getRHS());
  return binary.getKind() == AffineExprKind::Mul && factor &&
         addLinear(binary.getLHS(), scale * factor.getValue(), strides);
}

// How far each loop of `op` moves the place in the buffer of `operand`.
std::optional<llvm::SmallVector<int64_t>> stridesOf(linalg::LinalgOp op, OpOperand& operand) {
  auto type = dyn_cast<MemRefType>(operand.get().getType());
  llvm::SmallVector<int64_t> ofDims, ofLoops(op.getNumLoops(), 0);
  int64_t offset = 0;
  if (!type || !type.hasStaticShape() || failed(type.getStridesAndOffset(ofDims, offset)) ||
      llvm::is_contained(ofDims, ShapedType::kDynamic))
    return std::nullopt;
  AffineMap map = op.getMatchingIndexingMap(&operand);
  for (auto [expr, stride] : llvm::zip(map.getResults(), ofDims))
    if (!addLinear(expr, stride, ofLoops))
      return std::nullopt;
  return ofLoops;
}

// Whether `outer` and `inner` move like one loop over both.
bool isOneWalk(const ProductLoop& outer, const ProductLoop& inner) {
  return outer.lhs == inner.lhs * inner.extent && outer.rhs == inner.rhs * inner.extent &&
         outer.result == inner.result * inner.extent;
}

void sortBy(Loops& loops, int64_t ProductLoop::* stride) {
  llvm::stable_sort(
      loops, [&](const ProductLoop& a, const ProductLoop& b) { return a.*stride > b.*stride; });
}

void mergeWalks(Loops& loops) {
  Loops merged;
  for (const ProductLoop& loop : loops) {
    if (!merged.empty() && isOneWalk(merged.back(), loop)) {
      const int64_t extent = merged.back().extent * loop.extent;
      merged.back() = loop;
      merged.back().extent = extent;
    } else {
      merged.push_back(loop);
    }
  }
  loops = std::move(merged);
}

int64_t extentOf(const Loops& loops) {
  int64_t extent = 1;
  for (const ProductLoop& loop : loops)
    extent *= loop.extent;
  return extent;
}

// Sorts the loops of `op` into those of `product`; its sides are as those of `op`.
bool sortLoops(const Loops& loops, Product& product) {
  Loops columns;
  for (const ProductLoop& loop : loops) {
    if (loop.result == 0)
      product.sums.push_back(loop);
    else if (loop.rhs == 0 && loop.lhs != 0)
      product.rows.push_back(loop);
    else if (loop.lhs == 0 && loop.rhs != 0)
      columns.push_back(loop);
    else
      product.outer.push_back(loop);
  }
  sortBy(product.rows, &ProductLoop::result);
  sortBy(columns, &ProductLoop::result);
  sortBy(product.sums, &ProductLoop::lhs);
  mergeWalks(product.rows);
  mergeWalks(columns);
  mergeWalks(product.sums);
  if (columns.empty() || columns.back().result != 1 || product.sums.empty())
    return false;
  product.columns = columns.pop_back_val();
  product.outer.append(columns);
  // Rows are walked as one loop in the result; what breaks this goes outside.
  size_t first = product.rows.empty() ? 0 : product.rows.size() - 1;
  while (first > 0 &&
         product.rows[first - 1].result == product.rows[first].result * product.rows[first].extent)
    --first;
  product.outer.append(product.rows.begin(), product.rows.begin() + first);
  product.rows.erase(product.rows.begin(), product.rows.begin() + first);
  return true;
}

} // namespace

int64_t Product::rowCount() const {
  return extentOf(rows);
}

int64_t Product::sumCount() const {
  return extentOf(sums);
}

std::optional<Product> readProduct(linalg::LinalgOp op) {
  if (!op.hasPureBufferSemantics() || op.getNumDpsInputs() != 2 || op.getNumDpsInits() != 1 ||
      !isProductBody(*op.getBlock()))
    return std::nullopt;
  Product product;
  product.lhs = op->getOperand(0);
  product.rhs = op->getOperand(1);
  product.result = op->getOperand(2);
  product.element = dyn_cast<FloatType>(getElementTypeOrSelf(product.result.getType()));
  if (!product.element || !(product.element.isF32() || product.element.isF64()) ||
      getElementTypeOrSelf(product.lhs.getType()) != product.element ||
      getElementTypeOrSelf(product.rhs.getType()) != product.element)
    return std::nullopt;
  auto lhs = stridesOf(op, op->getOpOperand(0)), rhs = stridesOf(op, op->getOpOperand(1)),
       result = stridesOf(op, op->getOpOperand(2));
  if (!lhs || !rhs || !result)
    return std::nullopt;
  llvm::SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
  Loops loops;
  for (auto [i, extent] : llvm::enumerate(op.getStaticLoopRanges())) {
    if (extent <= 0 || ShapedType::isDynamic(extent))
      return std::nullopt;
    if (extent == 1)
      continue;
    if ((iterators[i] == utils::IteratorType::parallel) != ((*result)[i] != 0))
      return std::nullopt;
    loops.push_back({extent, (*lhs)[i], (*rhs)[i], (*result)[i]});
  }
  Product straight = product;
  if (sortLoops(loops, straight))
    return straight;
  std::swap(product.lhs, product.rhs);
  for (ProductLoop& loop : loops)
    std::swap(loop.lhs, loop.rhs);
  if (sortLoops(loops, product))
    return product;
  return std::nullopt;
}

} // namespace nocturne::compiler
