#include "compiler/lowering/contraction.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinTypes.h"

#include "compiler/lowering/tensors.h"
#include "compiler/lowering/types.h"

namespace nocturne::compiler {

using namespace mlir;

namespace {

using Loops = SmallVector<unsigned>;

// A contraction with fewer loops, and how the dimensions of each tensor are grouped for it.
struct Merged {
  Contraction contraction;
  SmallVector<ReassociationIndices> lhs, rhs, result;
};

// Merges loops whose dimensions follow each other in every tensor that has them, and drops loops of
// size 1 where others of the same kind remain: what is left is the product that is meant.
class Merger {
public:
  explicit Merger(const Contraction& full) : full_(full) {
    const size_t count = full.sizes.size();
    kept_.assign(count, true);
    first_.assign(count, true);
    follower_.assign(count, kNone);
  }

  Merged run() {
    if (!hasRepeats()) {
      dropUnits();
      findFollowers();
    }
    Merged merged;
    numberLoops(merged.contraction.sizes);
    merged.lhs = group(full_.lhs, merged.contraction.lhs);
    merged.rhs = group(full_.rhs, merged.contraction.rhs);
    merged.result = group(full_.result, merged.contraction.result);
    return merged;
  }

private:
  static constexpr unsigned kNone = ~0U;

  std::array<const Loops*, 3> tensors() const { return {&full_.lhs, &full_.rhs, &full_.result}; }

  // In which tensors a loop has a dimension.
  unsigned kind(unsigned loop) const {
    unsigned bits = 0;
    for (auto [i, loops] : llvm::enumerate(tensors()))
      bits |= llvm::is_contained(*loops, loop) ? 1U << i : 0U;
    return bits;
  }

  // A diagonal, as einsum may take one, is left as it is.
  bool hasRepeats() const {
    return llvm::any_of(tensors(), [](const Loops* loops) {
      SmallVector<unsigned> sorted(*loops);
      llvm::sort(sorted);
      return std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end();
    });
  }

  void dropUnits() {
    constexpr unsigned batch = 7;
    std::array<unsigned, 8> left{};
    for (unsigned loop = 0; loop < full_.sizes.size(); ++loop)
      ++left[kind(loop)];
    for (unsigned loop = 0; loop < full_.sizes.size(); ++loop) {
      unsigned& others = left[kind(loop)];
      if (full_.sizes[loop] == 1 && (others > 1 || kind(loop) == batch)) {
        kept_[loop] = false;
        --others;
      }
    }
  }

  unsigned next(const Loops& loops, unsigned loop) const {
    const auto* place = llvm::find(loops, loop);
    while (++place != loops.end())
      if (kept_[*place])
        return *place;
    return kNone;
  }

  void findFollowers() {
    for (unsigned loop = 0; loop < full_.sizes.size(); ++loop) {
      if (!kept_[loop])
        continue;
      std::optional<unsigned> follower;
      for (const Loops* loops : tensors())
        if (llvm::is_contained(*loops, loop)) {
          const unsigned candidate = next(*loops, loop);
          follower = !follower || *follower == candidate ? candidate : kNone;
        }
      if (!follower || *follower == kNone || kind(*follower) != kind(loop))
        continue;
      follower_[loop] = *follower;
      first_[*follower] = false;
    }
  }

  void numberLoops(SmallVectorImpl<int64_t>& sizes) {
    number_.assign(full_.sizes.size(), kNone);
    for (unsigned loop = 0; loop < full_.sizes.size(); ++loop) {
      if (!kept_[loop] || !first_[loop])
        continue;
      number_[loop] = static_cast<unsigned>(sizes.size());
      int64_t size = 1;
      for (unsigned link = loop; link != kNone; link = follower_[link])
        size *= full_.sizes[link];
      sizes.push_back(size);
    }
  }

  // Each first loop opens a group; what follows it and what was dropped joins the group before.
  SmallVector<ReassociationIndices> group(const Loops& loops, Loops& merged) const {
    SmallVector<ReassociationIndices> groups;
    ReassociationIndices waiting;
    for (auto [dim, loop] : llvm::enumerate(loops)) {
      if (kept_[loop] && first_[loop]) {
        merged.push_back(number_[loop]);
        groups.push_back(std::exchange(waiting, {}));
      }
      (groups.empty() ? waiting : groups.back()).push_back(static_cast<int64_t>(dim));
    }
    return groups;
  }

  const Contraction& full_;
  SmallVector<bool> kept_, first_; // first_: of the loops merged into one
  SmallVector<unsigned> follower_, number_;
};

SmallVector<int64_t> shapeFor(const Loops& loops, ArrayRef<int64_t> sizes) {
  return llvm::map_to_vector(loops, [&](unsigned loop) { return sizes[loop]; });
}

Value collapsed(OpBuilder& builder, Location loc, Value tensor, const Loops& loops,
                ArrayRef<int64_t> sizes, ArrayRef<ReassociationIndices> groups) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (type.getRank() == static_cast<int64_t>(loops.size()))
    return tensor;
  auto target = RankedTensorType::get(shapeFor(loops, sizes), type.getElementType());
  return tensor::CollapseShapeOp::create(builder, loc, target, tensor, groups);
}

// Whether a contraction is the named operation with `batch` leading batch dimensions (0 or 1).
bool isMatmul(const Contraction& c, size_t batch) {
  if (c.lhs.size() != batch + 2 || c.rhs.size() != batch + 2 || c.result.size() != batch + 2 ||
      c.sizes.size() != batch + 3)
    return false;
  for (size_t i = 0; i < batch; ++i)
    if (c.lhs[i] != c.result[i] || c.rhs[i] != c.result[i])
      return false;
  return c.lhs[batch] == c.result[batch] && c.rhs[batch + 1] == c.result[batch + 1] &&
         c.lhs[batch + 1] == c.rhs[batch] && c.lhs[batch] != c.lhs[batch + 1] &&
         c.rhs[batch] != c.rhs[batch + 1];
}

// Loops of the result first and in its order, then those that are summed over in the order that
// the lhs has them.
Value emitGeneric(OpBuilder& builder, Location loc, const Contraction& c, Value lhs, Value rhs,
                  Value zeros) {
  SmallVector<unsigned> position(c.sizes.size(), 0);
  SmallVector<utils::IteratorType> iterators;
  SmallVector<bool> placed(c.sizes.size(), false);
  auto place = [&](const Loops& loops, utils::IteratorType iterator) {
    for (unsigned loop : loops)
      if (!placed[loop]) {
        placed[loop] = true;
        position[loop] = static_cast<unsigned>(iterators.size());
        iterators.push_back(iterator);
      }
  };
  place(c.result, utils::IteratorType::parallel);
  place(c.lhs, utils::IteratorType::reduction);
  place(c.rhs, utils::IteratorType::reduction);
  auto map = [&](const Loops& loops) {
    SmallVector<AffineExpr> dims = llvm::map_to_vector(
        loops, [&](unsigned loop) { return builder.getAffineDimExpr(position[loop]); });
    return AffineMap::get(static_cast<unsigned>(iterators.size()), 0, dims, builder.getContext());
  };
  SmallVector<AffineMap> maps{map(c.lhs), map(c.rhs), map(c.result)};
  return linalg::GenericOp::create(
             builder, loc, zeros.getType(), ValueRange{lhs, rhs}, zeros, maps, iterators,
             [](OpBuilder& inner, Location at, ValueRange arguments) {
               Value sum = addProduct(inner, at, arguments[2], arguments[0], arguments[1]);
               linalg::YieldOp::create(inner, at, sum);
             })
      .getResult(0);
}

} // namespace

Type accumulationElement(Type lhs, Type rhs, Type result) {
  if (isa<ComplexType>(result))
    return result;
  for (Type element : {lhs, rhs, result})
    if (element.isF64())
      return element;
  for (Type element : {lhs, rhs, result})
    if (isa<FloatType>(element))
      return Float32Type::get(element.getContext());
  return result;
}

Value addProduct(OpBuilder& builder, Location loc, Value sum, Value a, Value b) {
  Type type = sum.getType();
  if (isa<ComplexType>(type))
    return complex::AddOp::create(builder, loc, sum, complex::MulOp::create(builder, loc, a, b));
  if (isa<FloatType>(type))
    return arith::AddFOp::create(builder, loc, sum, arith::MulFOp::create(builder, loc, a, b));
  if (type.isInteger(1))
    return arith::OrIOp::create(builder, loc, sum, arith::AndIOp::create(builder, loc, a, b));
  return arith::AddIOp::create(builder, loc, sum, arith::MulIOp::create(builder, loc, a, b));
}

Value emitContraction(OpBuilder& builder, Location loc, const Contraction& full, Value lhs,
                      Value rhs) {
  Merged merged = Merger(full).run();
  const Contraction& c = merged.contraction;
  lhs = collapsed(builder, loc, lhs, c.lhs, c.sizes, merged.lhs);
  rhs = collapsed(builder, loc, rhs, c.rhs, c.sizes, merged.rhs);
  Type element = elementTypeOf(lhs.getType());
  SmallVector<int64_t> shape = shapeFor(c.result, c.sizes);
  Value zeros = filled(builder, loc, shape, zeroOf(builder, loc, element));
  const bool named =
      isa<FloatType>(element) || (isa<IntegerType>(element) && !element.isInteger(1));
  Value result;
  if (named && isMatmul(c, 0))
    result = linalg::MatmulOp::create(builder, loc, TypeRange{zeros.getType()},
                                      ValueRange{lhs, rhs}, ValueRange{zeros})
                 .getResult(0);
  else if (named && isMatmul(c, 1))
    result = linalg::BatchMatmulOp::create(builder, loc, TypeRange{zeros.getType()},
                                           ValueRange{lhs, rhs}, ValueRange{zeros})
                 .getResult(0);
  else
    result = emitGeneric(builder, loc, c, lhs, rhs, zeros);
  if (c.result.size() == full.result.size())
    return result;
  auto type = RankedTensorType::get(shapeFor(full.result, full.sizes), element);
  return tensor::ExpandShapeOp::create(builder, loc, type, result, merged.result);
}

} // namespace nocturne::compiler
