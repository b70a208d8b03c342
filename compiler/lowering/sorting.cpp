#include "compiler/lowering/families.h"

#include "compiler/dialect/StablehloOps.h"
#include "compiler/lowering/loops.h"
#include "compiler/lowering/scalars.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/DialectConversion.h"

namespace nocturne::compiler {

using namespace mlir;

namespace {

// Whether one record comes before another; `first` and `second` have an element of each tensor.
using Precedes = llvm::function_ref<Value(OpBuilder&, ValueRange first, ValueRange second)>;

// Sorts the lines of several tensors of one shape along `dim` together. A bottom-up merge sort:
// stable, n log n comparisons whatever the data, and no branch in its inner loop. Pass p reads the
// runs of 2^p records from row p % 2 of a scratch tensor of two rows and writes the other row, so
// that no pass copies.
class MergeSort {
public:
  MergeSort(Location loc, int64_t dim, Precedes precedes)
      : loc_(loc), dim_(dim), precedes_(precedes) {}

  Values emit(OpBuilder& builder, ValueRange inputs) {
    auto type = cast<RankedTensorType>(inputs[0].getType());
    length_ = type.getDimSize(dim_);
    count_ = inputs.size();
    if (length_ < 2 || type.getNumElements() == 0)
      return Values(inputs);
    zero_ = indexConstant(builder, loc_, 0);
    one_ = indexConstant(builder, loc_, 1);
    end_ = indexConstant(builder, loc_, length_);

    Values carried;
    for (Value input : inputs)
      carried.push_back(
          emitScratch(builder, loc_, type.getShape(), elementTypeOf(input.getType())));
    for (Value input : inputs)
      carried.push_back(emitScratch(builder, loc_, ArrayRef<int64_t>{2, length_},
                                    elementTypeOf(input.getType())));
    SmallVector<int64_t> lines(type.getShape());
    lines.erase(lines.begin() + dim_);
    Values results = emitNest(builder, loc_, lines, carried,
                              [&](OpBuilder& inner, ValueRange line, ValueRange tensors) {
                                return sortLine(inner, inputs, line, tensors);
                              });
    results.resize(count_);
    return results;
  }

private:
  Value read(OpBuilder& builder, Value tensor, ValueRange at) {
    return tensor::ExtractOp::create(builder, loc_, tensor, at);
  }
  Value write(OpBuilder& builder, Value element, Value tensor, ValueRange at) {
    return tensor::InsertOp::create(builder, loc_, element, tensor, at);
  }
  Value less(OpBuilder& builder, Value a, Value b) {
    return arith::CmpIOp::create(builder, loc_, arith::CmpIPredicate::slt, a, b);
  }
  Value minimum(OpBuilder& builder, Value a, Value b) {
    return arith::MinSIOp::create(builder, loc_, a, b);
  }
  Value plus(OpBuilder& builder, Value a, Value b) {
    return arith::AddIOp::create(builder, loc_, a, b);
  }

  Values place(ValueRange line, Value index) const {
    Values at(line);
    at.insert(at.begin() + dim_, index);
    return at;
  }

  // `tensors` has the results and then the scratch tensors.
  Values sortLine(OpBuilder& builder, ValueRange inputs, ValueRange line, ValueRange tensors) {
    Values scratch =
        emitFor(builder, loc_, zero_, end_, one_, tensors.take_back(count_),
                [&](OpBuilder& inner, Value index, ValueRange rows) {
                  Values filled;
                  for (auto [input, row] : llvm::zip(inputs, rows))
                    filled.push_back(
                        write(inner, read(inner, input, place(line, index)), row, {zero_, index}));
                  return filled;
                });
    int64_t passes = llvm::Log2_64_Ceil(length_);
    scratch = emitFor(builder, loc_, zero_, indexConstant(builder, loc_, passes), one_, scratch,
                      [&](OpBuilder& inner, Value pass, ValueRange rows) {
                        return mergePass(inner, pass, rows);
                      });
    Value sorted = indexConstant(builder, loc_, passes % 2);
    Values both = Values(tensors.take_front(count_));
    both = emitFor(builder, loc_, zero_, end_, one_, both,
                   [&](OpBuilder& inner, Value index, ValueRange results) {
                     Values filled;
                     for (auto [row, result] : llvm::zip(scratch, results))
                       filled.push_back(write(inner, read(inner, row, {sorted, index}), result,
                                              place(line, index)));
                     return filled;
                   });
    llvm::append_range(both, scratch);
    return both;
  }

  Values mergePass(OpBuilder& builder, Value pass, ValueRange rows) {
    Value source = arith::AndIOp::create(builder, loc_, pass, one_);
    Value target = arith::XOrIOp::create(builder, loc_, source, one_);
    Value width = arith::ShLIOp::create(builder, loc_, one_, pass);
    Value step = plus(builder, width, width);
    return emitFor(builder, loc_, zero_, end_, step, rows,
                   [&](OpBuilder& inner, Value begin, ValueRange carried) {
                     Value middle = minimum(inner, plus(inner, begin, width), end_);
                     Value end = minimum(inner, plus(inner, begin, step), end_);
                     return mergeRuns(inner, source, target, begin, middle, end, carried);
                   });
  }

  // Merges [begin, middle) and [middle, end) of row `source` into row `target`. The second run's
  // record is taken only where it precedes the first's: equals keep their order.
  Values mergeRuns(OpBuilder& builder, Value source, Value target, Value begin, Value middle,
                   Value end, ValueRange rows) {
    Value lastFirst = arith::SubIOp::create(builder, loc_, middle, one_);
    Value lastSecond = arith::SubIOp::create(builder, loc_, end, one_);
    Values carried = {begin, middle};
    llvm::append_range(carried, rows);
    Values results = emitFor(
        builder, loc_, begin, end, one_, carried,
        [&](OpBuilder& inner, Value index, ValueRange state) {
          Value first = state[0], second = state[1];
          // Past its end a run is read at its last record, which is then not taken.
          Value readFirst = minimum(inner, first, lastFirst);
          Value readSecond = minimum(inner, second, lastSecond);
          Values firstRecord, secondRecord;
          for (Value row : state.drop_front(2)) {
            firstRecord.push_back(read(inner, row, {source, readFirst}));
            secondRecord.push_back(read(inner, row, {source, readSecond}));
          }
          Value sooner = precedes_(inner, secondRecord, firstRecord);
          Value hasSecond = less(inner, second, end);
          Value noFirst =
              arith::CmpIOp::create(inner, loc_, arith::CmpIPredicate::sge, first, middle);
          Value takeSecond = arith::OrIOp::create(
              inner, loc_, noFirst, arith::AndIOp::create(inner, loc_, hasSecond, sooner));
          Value moved = arith::IndexCastUIOp::create(inner, loc_, inner.getIndexType(), takeSecond);
          Value nextSecond = plus(inner, second, moved);
          Value nextFirst = plus(inner, first, arith::SubIOp::create(inner, loc_, one_, moved));
          Values next = {nextFirst, nextSecond};
          for (auto [a, b, row] : llvm::zip(firstRecord, secondRecord, state.drop_front(2))) {
            Value taken = arith::SelectOp::create(inner, loc_, takeSecond, b, a);
            next.push_back(write(inner, taken, row, {target, index}));
          }
          return next;
        });
    results.erase(results.begin(), results.begin() + 2);
    return results;
  }

  Location loc_;
  int64_t dim_, length_ = 0;
  unsigned count_ = 0;
  Precedes precedes_;
  Value zero_, one_, end_;
};

class SortLowering : public OpConversionPattern<stablehlo::SortOp> {
public:
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(stablehlo::SortOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter& rewriter) const override {
    ValueRange inputs = adaptor.getInputs();
    auto type = inputs.empty() ? nullptr : dyn_cast<RankedTensorType>(inputs[0].getType());
    if (!type || !type.hasStaticShape())
      return op.emitError("a sort of a tensor without a static shape has no lowering");
    int64_t dim = op.getDimension().value_or(-1);
    if (dim < 0)
      dim += type.getRank();
    if (type.getRank() == 0) { // one record
      rewriter.replaceOp(op, inputs);
      return success();
    }
    bool understood = true;
    auto precedes = [&](OpBuilder& builder, ValueRange first, ValueRange second) -> Value {
      Values elements, results;
      for (auto [a, b] : llvm::zip(first, second))
        elements.append({a, b});
      if (succeeded(emitScalarBody(builder, op.getComparator().front(), elements, results)))
        return results[0];
      understood = false;
      return arith::ConstantOp::create(builder, op.getLoc(), builder.getBoolAttr(false));
    };
    Values results = MergeSort(op.getLoc(), dim, precedes).emit(rewriter, inputs);
    if (!understood)
      return failure();
    rewriter.replaceOp(op, results);
    return success();
  }
};

// A key that compares as a signed (or for unsigned elements, unsigned) integer like the total order
// of floats: -NaN, -inf, .., -0, +0, .., inf, NaN.
Value totalOrderKey(OpBuilder& builder, Location loc, Type element, Value stored) {
  auto real = dyn_cast<FloatType>(element);
  if (!real)
    return stored;
  unsigned width = stored.getType().getIntOrFloatBitWidth();
  auto integer = builder.getIntegerType(width);
  Value bits = isa<IntegerType>(stored.getType())
                   ? stored
                   : Value(arith::BitcastOp::create(builder, loc, integer, stored));
  // A format narrower than the byte it is held in has its sign below the byte's top.
  if (unsigned unused = width - real.getWidth()) {
    Value by = arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(integer, unused));
    bits = arith::ShLIOp::create(builder, loc, bits, by);
  }
  auto constant = [&](const APInt& number) -> Value {
    return arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(integer, number));
  };
  Value sign = arith::ShRSIOp::create(builder, loc, bits, constant(APInt(width, width - 1)));
  Value flip = arith::AndIOp::create(builder, loc, sign, constant(APInt::getSignedMaxValue(width)));
  return arith::XOrIOp::create(builder, loc, bits, flip);
}

// Whether `a` is before `b` in descending (or ascending) order of their values.
Value comesFirst(OpBuilder& builder, Location loc, Type element, Value a, Value b, bool largest) {
  bool isUnsigned =
      element.isUnsignedInteger() || element.isInteger(1) || isa<Float8E8M0FNUType>(element);
  auto greater = isUnsigned ? arith::CmpIPredicate::ugt : arith::CmpIPredicate::sgt;
  auto smaller = isUnsigned ? arith::CmpIPredicate::ult : arith::CmpIPredicate::slt;
  if (!isa<Float8E8M0FNUType>(element)) {
    a = totalOrderKey(builder, loc, element, a);
    b = totalOrderKey(builder, loc, element, b);
  }
  return arith::CmpIOp::create(builder, loc, largest ? greater : smaller, a, b);
}

// Below this, inserting into a sorted list of k beats sorting everything: most elements are
// compared once, with the last of the list.
constexpr int64_t kLargestList = 64;

// The first k of each line by insertion; lines are along the last dimension. Equal elements keep
// their order.
Values emitTopByInsertion(OpBuilder& builder, Location loc, Type element, Value operand, int64_t k,
                          bool largest) {
  auto type = cast<RankedTensorType>(operand.getType());
  SmallVector<int64_t> shape(type.getShape());
  int64_t length = shape.back();
  shape.back() = k;
  Type i32 = builder.getI32Type();
  Values tops = {emitScratch(builder, loc, shape, type.getElementType()),
                 emitScratch(builder, loc, shape, i32)};
  Value zero = indexConstant(builder, loc, 0), one = indexConstant(builder, loc, 1);
  Value listSize = indexConstant(builder, loc, k), lastPlace = indexConstant(builder, loc, k - 1);
  Value end = indexConstant(builder, loc, length);

  auto at = [](ValueRange line, Value index) {
    Values place(line);
    place.push_back(index);
    return place;
  };
  // Moves what `value` precedes one place towards the list's end, the last one out of it.
  auto insert = [&](OpBuilder& inner, ValueRange line, Value value, Value index, Value filled,
                    ValueRange lists) {
    Value free = arith::MinSIOp::create(inner, loc, filled, lastPlace);
    Values state = {free};
    llvm::append_range(state, lists);
    auto loop = scf::WhileOp::create(
        inner, loc, TypeRange(ValueRange(state)), state,
        [&](OpBuilder& head, Location where, ValueRange now) {
          Value canMove =
              arith::CmpIOp::create(head, where, arith::CmpIPredicate::sgt, now[0], zero);
          Value before = arith::MaxSIOp::create(
              head, where, arith::SubIOp::create(head, where, now[0], one), zero);
          Value other = tensor::ExtractOp::create(head, where, now[1], at(line, before));
          Value first = comesFirst(head, where, element, value, other, largest);
          Value goOn = arith::AndIOp::create(head, where, canMove, first);
          scf::ConditionOp::create(head, where, goOn, now);
        },
        [&](OpBuilder& body, Location where, ValueRange now) {
          Value before = arith::SubIOp::create(body, where, now[0], one);
          Values next = {before};
          for (Value list : now.drop_front()) {
            Value moved = tensor::ExtractOp::create(body, where, list, at(line, before));
            next.push_back(tensor::InsertOp::create(body, where, moved, list, at(line, now[0])));
          }
          scf::YieldOp::create(body, where, next);
        });
    Value place = loop.getResult(0);
    Value number = arith::IndexCastOp::create(inner, loc, i32, index);
    return Values{tensor::InsertOp::create(inner, loc, value, loop.getResult(1), at(line, place)),
                  tensor::InsertOp::create(inner, loc, number, loop.getResult(2), at(line, place))};
  };
  return emitNest(
      builder, loc, type.getShape().drop_back(), tops,
      [&](OpBuilder& outer, ValueRange line, ValueRange carried) {
        Values lists =
            emitFor(outer, loc, zero, listSize, one, carried,
                    [&](OpBuilder& inner, Value index, ValueRange now) {
                      Value value = tensor::ExtractOp::create(inner, loc, operand, at(line, index));
                      return insert(inner, line, value, index, index, now);
                    });
        return emitFor(
            outer, loc, listSize, end, one, lists,
            [&](OpBuilder& inner, Value index, ValueRange now) {
              Value value = tensor::ExtractOp::create(inner, loc, operand, at(line, index));
              Value last = tensor::ExtractOp::create(inner, loc, now[0], at(line, lastPlace));
              Value enters = comesFirst(inner, loc, element, value, last, largest);
              auto branch = scf::IfOp::create(
                  inner, loc, enters,
                  [&](OpBuilder& then, Location where) {
                    scf::YieldOp::create(then, where,
                                         insert(then, line, value, index, listSize, now));
                  },
                  [&](OpBuilder& otherwise, Location where) {
                    scf::YieldOp::create(otherwise, where, now);
                  });
              return Values(branch.getResults());
            });
      });
}

// The first k of each line of the last dimension in descending order, and where they were.
Values emitTop(OpBuilder& builder, Location loc, Type element, Value operand, int64_t k,
               bool largest) {
  auto type = cast<RankedTensorType>(operand.getType());
  SmallVector<int64_t> shape(type.getShape());
  int64_t dim = type.getRank() - 1, length = shape.back();
  if (k == 0 || type.getNumElements() == 0) {
    shape.back() = k;
    return {tensor::EmptyOp::create(builder, loc, shape, type.getElementType()),
            tensor::EmptyOp::create(builder, loc, shape, builder.getI32Type())};
  }
  if (k <= kLargestList && length >= 4 * k)
    return emitTopByInsertion(builder, loc, element, operand, k, largest);

  Type i32 = builder.getI32Type();
  Value numbers = mapElements(builder, loc, shape, i32, {}, [&](OpBuilder& inner, ValueRange) {
    Value index = linalg::IndexOp::create(inner, loc, dim);
    return Value(arith::IndexCastOp::create(inner, loc, i32, index));
  });
  auto precedes = [&](OpBuilder& inner, ValueRange first, ValueRange second) {
    return comesFirst(inner, loc, element, first[0], second[0], largest);
  };
  Values sorted = MergeSort(loc, dim, precedes).emit(builder, {operand, numbers});
  shape.back() = k;
  for (Value& tensor : sorted)
    tensor = firstPart(builder, loc, tensor, shape);
  return sorted;
}

// Replaces `op`, whose results are the values and the places, if its types are as expected.
LogicalResult replaceTop(Operation* op, ValueRange operands, int64_t k, bool largest,
                         ConversionPatternRewriter& rewriter) {
  auto type = operands.size() == 1 ? dyn_cast<RankedTensorType>(operands[0].getType()) : nullptr;
  if (!type || !type.hasStaticShape() || type.getRank() == 0 || op->getNumResults() != 2 ||
      k > type.getShape().back())
    return op->emitError("these operands and results of a top-k have no lowering");
  Type element = cast<ShapedType>(op->getOperand(0).getType()).getElementType();
  auto places = dyn_cast<ShapedType>(op->getResult(1).getType());
  if (isa<ComplexType>(element) || !places || !places.getElementType().isInteger(32))
    return op->emitError("a top-k of these element types has no lowering");
  rewriter.replaceOp(op, emitTop(rewriter, op->getLoc(), element, operands[0], k, largest));
  return success();
}

// By name: the dialect is read, and not linked. MHLO's has this one before anything is lowered.
class TopLowering : public ConversionPattern {
public:
  TopLowering(LoweringTypes& types, MLIRContext* context)
      : ConversionPattern(types, "chlo.top_k", 1, context) {}

  LogicalResult matchAndRewrite(Operation* op, ArrayRef<Value> operands,
                                ConversionPatternRewriter& rewriter) const override {
    auto k = op->getAttrOfType<IntegerAttr>("k");
    if (!k)
      return op->emitError("a top-k without its number k has no lowering");
    auto largest = op->getAttrOfType<BoolAttr>("largest");
    return replaceTop(op, operands, k.getInt(), !largest || largest.getValue(), rewriter);
  }
};

// mhlo.topk as StableHLO carries it: a custom call with the operation's attributes.
class TopCallLowering : public OpConversionPattern<stablehlo::CustomCallOp> {
public:
  // Before the pattern that rejects unknown calls.
  TopCallLowering(LoweringTypes& types, MLIRContext* context)
      : OpConversionPattern(types, context, 2) {}

  LogicalResult matchAndRewrite(stablehlo::CustomCallOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter& rewriter) const override {
    if (op.getCallTargetName() != "mhlo.topk")
      return failure();
    auto attributes = op->getAttrOfType<DictionaryAttr>("mhlo.attributes");
    auto k = attributes ? attributes.getAs<IntegerAttr>("k") : nullptr;
    if (!k)
      return op.emitError("a top-k without its number k has no lowering");
    auto largest = attributes.getAs<BoolAttr>("largest");
    return replaceTop(op, adaptor.getOperands(), k.getInt(), !largest || largest.getValue(),
                      rewriter);
  }
};

} // namespace

void populateSorting(LoweringTypes& types, RewritePatternSet& patterns) {
  MLIRContext* context = patterns.getContext();
  patterns.add<SortLowering, TopLowering, TopCallLowering>(types, context);
}

} // namespace nocturne::compiler
