#include "compiler/dialect/AttrHelpers.h"

#include "compiler/dialect/StablehloOps.h"
#include "compiler/lowering/families.h"
#include "compiler/lowering/loops.h"
#include "compiler/lowering/numbers.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/DialectConversion.h"

namespace nocturne::compiler {

using namespace mlir;

namespace {

// A batch of matrices, all batch dimensions as one.
struct Matrices {
  int64_t batch = 1, rows = 0, columns = 0;
  SmallVector<int64_t> shape() const { return {batch, rows, columns}; }
};

std::optional<Matrices> matricesOf(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || !type.hasStaticShape() || type.getRank() < 2)
    return std::nullopt;
  Matrices matrices;
  for (int64_t size : type.getShape().drop_back(2))
    matrices.batch *= size;
  matrices.rows = type.getShape().take_back(2)[0];
  matrices.columns = type.getShape().take_back(2)[1];
  return matrices;
}

Value load(OpBuilder& builder, Location loc, Value tensor, ValueRange at) {
  return tensor::ExtractOp::create(builder, loc, tensor, at);
}

Value store(OpBuilder& builder, Location loc, Value element, Value tensor, ValueRange at) {
  return tensor::InsertOp::create(builder, loc, element, tensor, at);
}

// A new tensor of three dimensions (matrix, row, column) whose element at a place is
// `body(matrix, row, column)`.
Value emitMatrices(OpBuilder& builder, Location loc, ArrayRef<int64_t> shape, Type element,
                   llvm::function_ref<Value(OpBuilder&, Value, Value, Value)> body) {
  return mapElements(builder, loc, shape, element, {}, [&](OpBuilder& inner, ValueRange) {
    Value matrix = linalg::IndexOp::create(inner, loc, 0);
    Value row = linalg::IndexOp::create(inner, loc, 1);
    Value column = linalg::IndexOp::create(inner, loc, 2);
    return body(inner, matrix, row, column);
  });
}

// Factors A = U^H U row by row. Everything is done on U, whose rows lie in memory as the innermost
// loop walks; a lower factor is U^H. The triangle that is not given is never read, and is zero in
// the result, as is the imaginary part of the diagonal. A matrix that is not positive definite gets
// NaN from the first pivot that is not positive on.
class CholeskyLowering : public OpConversionPattern<stablehlo::CholeskyOp> {
public:
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(stablehlo::CholeskyOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter& rewriter) const override {
    auto matrices = matricesOf(adaptor.getA());
    if (!matrices || matrices->rows != matrices->columns)
      return op.emitError("a cholesky of such a tensor has no lowering");
    Location loc = op.getLoc();
    bool lower = stablehlo::isFlagSet(op->getAttr("lower"));
    Type element = elementTypeOf(op.getA().getType());
    SmallVector<int64_t> shape = matrices->shape();
    Value input = reshaped(rewriter, loc, adaptor.getA(), shape);
    Value upper = upperTriangle(rewriter, loc, element, input, shape, lower);
    upper = factor(rewriter, loc, upper, shape);
    Value result = emitMatrices(rewriter, loc, shape, elementTypeOf(input.getType()),
                                [&](OpBuilder& inner, Value matrix, Value row, Value column) {
                                  Value value = load(inner, loc, upper,
                                                     lower ? Values{matrix, column, row}
                                                           : Values{matrix, row, column});
                                  if (lower)
                                    value = conjugated(inner, loc, value);
                                  return encode(inner, loc, element, value);
                                });
    auto type = cast<RankedTensorType>(adaptor.getA().getType());
    rewriter.replaceOp(op, reshaped(rewriter, loc, result, type.getShape()));
    return success();
  }

private:
  static Value conjugated(OpBuilder& builder, Location loc, Value value) {
    Numbers numbers(builder, loc);
    return numbers.put(numbers.conjugate(numbers.take(value)));
  }

  // The given triangle as an upper one in the type to compute in, zero below.
  static Value upperTriangle(OpBuilder& builder, Location loc, Type element, Value input,
                             ArrayRef<int64_t> shape, bool lower) {
    return emitMatrices(
        builder, loc, shape, computeType(element),
        [&](OpBuilder& inner, Value matrix, Value row, Value column) {
          Value value = load(inner, loc, input,
                             lower ? Values{matrix, column, row} : Values{matrix, row, column});
          value = decode(inner, loc, element, value);
          if (lower)
            value = conjugated(inner, loc, value);
          Value zero = zeroOf(inner, loc, value.getType());
          Value given = arith::CmpIOp::create(inner, loc, arith::CmpIPredicate::ule, row, column);
          return arith::SelectOp::create(inner, loc, given, value, zero).getResult();
        });
  }

  static Value factor(OpBuilder& builder, Location loc, Value upper, ArrayRef<int64_t> shape) {
    Value zero = indexConstant(builder, loc, 0), one = indexConstant(builder, loc, 1);
    Value size = indexConstant(builder, loc, shape[1]);
    Value batch = indexConstant(builder, loc, shape[0]);
    return emitFor(builder, loc, zero, batch, one, upper,
                   [&](OpBuilder& outer, Value matrix, ValueRange all) {
                     return emitFor(outer, loc, zero, size, one, all,
                                    [&](OpBuilder& inner, Value pivot, ValueRange now) {
                                      return eliminate(inner, loc, matrix, pivot, size, now);
                                    });
                   })[0];
  }

  // Makes row `pivot` of U final and takes its part out of the rows below.
  static Values eliminate(OpBuilder& builder, Location loc, Value matrix, Value pivot, Value size,
                          ValueRange now) {
    Value one = indexConstant(builder, loc, 1);
    Numbers numbers(builder, loc);
    Number square = numbers.take(load(builder, loc, now[0], {matrix, pivot, pivot}));
    Value root = math::SqrtOp::create(builder, loc, square.re);
    Value noPart = square.im ? numbers.constant(root.getType(), 0) : Value();
    Value tensor = store(builder, loc, numbers.put({root, noPart}), now[0], {matrix, pivot, pivot});
    Value next = arith::AddIOp::create(builder, loc, pivot, one);
    Values scaled = emitFor(
        builder, loc, next, size, one, tensor,
        [&](OpBuilder& inner, Value column, ValueRange carried) {
          Numbers local(inner, loc);
          Number value = local.take(load(inner, loc, carried[0], {matrix, pivot, column}));
          Number divided = {local.over(value.re, root),
                            value.im ? local.over(value.im, root) : Value()};
          return Values{store(inner, loc, local.put(divided), carried[0], {matrix, pivot, column})};
        });
    return emitFor(builder, loc, next, size, one, scaled,
                   [&](OpBuilder& outer, Value row, ValueRange carried) {
                     Numbers local(outer, loc);
                     Number factor = local.conjugate(
                         local.take(load(outer, loc, carried[0], {matrix, pivot, row})));
                     return emitFor(outer, loc, row, size, one, carried,
                                    [&](OpBuilder& inner, Value column, ValueRange last) {
                                      return subtract(inner, loc, factor, {matrix, row, column},
                                                      {matrix, pivot, column}, last);
                                    });
                   });
  }

  // tensor[to] -= factor * tensor[from].
  static Values subtract(OpBuilder& builder, Location loc, const Number& factor, ValueRange to,
                         ValueRange from, ValueRange tensor) {
    Numbers numbers(builder, loc);
    Number value = numbers.take(load(builder, loc, tensor[0], to));
    Number other = numbers.take(load(builder, loc, tensor[0], from));
    Number rest = numbers.minus(value, numbers.times(factor, other));
    return {store(builder, loc, numbers.put(rest), tensor[0], to)};
  }
};

// Which entry of `a` stands at (row, column) of the matrix M in M X = B.
struct Entries {
  bool exchanged; // at (column, row)
  bool conjugate;
  bool lower;        // M is lower triangular
  bool unitDiagonal; // and has ones on its diagonal, whatever `a` has
};

// Solves M X = B by substitution, whole rows of X at once. Solving from the right is the same with
// everything transposed: x op(a) = b is op(a)^T x^T = b^T. The other triangle of `a` is not read.
class TriangularSolveLowering : public OpConversionPattern<stablehlo::TriangularSolveOp> {
public:
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(stablehlo::TriangularSolveOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter& rewriter) const override {
    auto a = matricesOf(adaptor.getA()), b = matricesOf(adaptor.getB());
    bool left = stablehlo::isFlagSet(op->getAttr("left_side"));
    if (!a || !b || a->rows != a->columns || a->batch != b->batch ||
        a->rows != (left ? b->rows : b->columns))
      return op.emitError("a triangular_solve of such tensors has no lowering");
    Location loc = op.getLoc();
    auto form = op.getTransposeA();
    bool transposed =
        form == stablehlo::Transpose::TRANSPOSE || form == stablehlo::Transpose::ADJOINT;
    Entries entries;
    entries.exchanged = transposed == left;
    entries.conjugate = form == stablehlo::Transpose::ADJOINT;
    entries.lower = stablehlo::isFlagSet(op->getAttr("lower")) != entries.exchanged;
    entries.unitDiagonal = stablehlo::isFlagSet(op->getAttr("unit_diagonal"));

    Type element = elementTypeOf(op.getB().getType());
    Value matrix = reshaped(rewriter, loc, adaptor.getA(), a->shape());
    matrix = mapElements(rewriter, loc, a->shape(), computeType(element), matrix,
                         [&](OpBuilder& inner, ValueRange elements) {
                           return decode(inner, loc, element, elements[0]);
                         });
    Value given = reshaped(rewriter, loc, adaptor.getB(), b->shape());
    SmallVector<int64_t> shape = b->shape();
    if (!left)
      std::swap(shape[1], shape[2]);
    Value right = emitMatrices(
        rewriter, loc, shape, computeType(element),
        [&](OpBuilder& inner, Value batch, Value row, Value column) {
          return decode(inner, loc, element,
                        load(inner, loc, given,
                             left ? Values{batch, row, column} : Values{batch, column, row}));
        });
    Value solution = solve(rewriter, loc, entries, matrix, right, shape);
    Value result = emitMatrices(
        rewriter, loc, b->shape(), elementTypeOf(given.getType()),
        [&](OpBuilder& inner, Value batch, Value row, Value column) {
          return encode(inner, loc, element,
                        load(inner, loc, solution,
                             left ? Values{batch, row, column} : Values{batch, column, row}));
        });
    auto type = cast<RankedTensorType>(adaptor.getB().getType());
    rewriter.replaceOp(op, reshaped(rewriter, loc, result, type.getShape()));
    return success();
  }

private:
  static Number entry(OpBuilder& builder, Location loc, const Entries& entries, Value matrix,
                      Value batch, Value row, Value column) {
    if (entries.exchanged)
      std::swap(row, column);
    Numbers numbers(builder, loc);
    Number value = numbers.take(load(builder, loc, matrix, {batch, row, column}));
    return entries.conjugate ? numbers.conjugate(value) : value;
  }

  static Value solve(OpBuilder& builder, Location loc, const Entries& entries, Value matrix,
                     Value right, ArrayRef<int64_t> shape) {
    Value zero = indexConstant(builder, loc, 0), one = indexConstant(builder, loc, 1);
    Value size = indexConstant(builder, loc, shape[1]);
    Value last = indexConstant(builder, loc, shape[1] - 1);
    Value columns = indexConstant(builder, loc, shape[2]);
    // Step number to row: from the first row down, or from the last one up.
    auto rowOf = [&](OpBuilder& inner, Value step) -> Value {
      return entries.lower ? step : Value(arith::SubIOp::create(inner, loc, last, step));
    };
    auto solveRow = [&](OpBuilder& inner, Value batch, Value step, ValueRange now) {
      Value row = rowOf(inner, step);
      Values reduced = emitFor(
          inner, loc, zero, step, one, now,
          [&](OpBuilder& middle, Value earlier, ValueRange carried) {
            Value from = rowOf(middle, earlier);
            Number factor = entry(middle, loc, entries, matrix, batch, row, from);
            return emitFor(
                middle, loc, zero, columns, one, carried,
                [&](OpBuilder& body, Value column, ValueRange x) {
                  Numbers numbers(body, loc);
                  Number value = numbers.take(load(body, loc, x[0], {batch, row, column}));
                  Number known = numbers.take(load(body, loc, x[0], {batch, from, column}));
                  Number rest = numbers.minus(value, numbers.times(factor, known));
                  return Values{store(body, loc, numbers.put(rest), x[0], {batch, row, column})};
                });
          });
      if (entries.unitDiagonal)
        return reduced;
      Number pivot = entry(inner, loc, entries, matrix, batch, row, row);
      return emitFor(inner, loc, zero, columns, one, reduced,
                     [&](OpBuilder& body, Value column, ValueRange x) {
                       Numbers numbers(body, loc);
                       Number value = numbers.take(load(body, loc, x[0], {batch, row, column}));
                       return Values{store(body, loc, numbers.put(numbers.over(value, pivot)), x[0],
                                           {batch, row, column})};
                     });
    };
    return emitFor(builder, loc, zero, indexConstant(builder, loc, shape[0]), one, right,
                   [&](OpBuilder& outer, Value batch, ValueRange all) {
                     return emitFor(outer, loc, zero, size, one, all,
                                    [&](OpBuilder& inner, Value step, ValueRange now) {
                                      return solveRow(inner, batch, step, now);
                                    });
                   })[0];
  }
};

} // namespace

void populateLinearAlgebra(LoweringTypes& types, RewritePatternSet& patterns) {
  patterns.add<CholeskyLowering, TriangularSolveLowering>(types, patterns.getContext());
  populateFft(types, patterns);
}

} // namespace nocturne::compiler
