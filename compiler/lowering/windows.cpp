#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/DialectConversion.h"

#include "compiler/dialect/AttrHelpers.h"
#include "compiler/dialect/StablehloOps.h"
#include "compiler/dialect/VerifyHelpers.h"
#include "compiler/lowering/families.h"
#include "compiler/lowering/reducer.h"
#include "compiler/lowering/scalars.h"
#include "compiler/lowering/tensors.h"

namespace nocturne::compiler {

using namespace mlir;

namespace {

using stablehlo::WindowDim;

SmallVector<Type> elementTypes(ValueRange tensors) {
  return llvm::map_to_vector(tensors, [](Value value) { return elementTypeOf(value.getType()); });
}

// What an operation on windows iterates over: the result's dimensions, then those dimensions of the
// window that are larger than 1.
struct WindowLoops {
  WindowLoops(MLIRContext* context, ArrayRef<WindowDim> window) {
    const auto rank = static_cast<unsigned>(window.size());
    iterators.assign(rank, utils::IteratorType::parallel);
    SmallVector<AffineExpr> inputs, results;
    for (auto [i, dim] : llvm::enumerate(window)) {
      AffineExpr place = getAffineDimExpr(static_cast<unsigned>(i), context);
      results.push_back(place);
      AffineExpr input = place * dim.stride;
      withinLoop.push_back(0);
      if (dim.size > 1) {
        AffineExpr within = getAffineDimExpr(static_cast<unsigned>(iterators.size()), context);
        iterators.push_back(utils::IteratorType::reduction);
        windowShape.push_back(dim.size);
        windows.push_back(within);
        withinLoop.back() = static_cast<unsigned>(iterators.size() - 1);
        input = input + within * dim.windowDilation;
      }
      inputs.push_back(input);
    }
    const auto loops = static_cast<unsigned>(iterators.size());
    inputMap = AffineMap::get(loops, 0, inputs, context);
    windowMap = AffineMap::get(loops, 0, windows, context);
    resultMap = AffineMap::get(loops, 0, results, context);
  }

  SmallVector<utils::IteratorType> iterators;
  SmallVector<int64_t> windowShape;
  SmallVector<AffineExpr> windows;
  SmallVector<unsigned> withinLoop; // of each dimension whose window is larger than 1
  AffineMap inputMap, windowMap, resultMap;
};

//===------------------------------------------------------------------------------------------===//
// Cumulative sums and their like
//===------------------------------------------------------------------------------------------===//

// A reduce_window whose windows hold everything before (or after) a place along one dimension.
struct Scan {
  unsigned dim;
  bool reverse;
};

std::optional<Scan> matchScan(ArrayRef<WindowDim> window, ArrayRef<int64_t> shape) {
  std::optional<Scan> scan;
  if (llvm::is_contained(shape, 0))
    return std::nullopt;
  for (auto [i, dim] : llvm::enumerate(window)) {
    if (dim.stride != 1 || dim.baseDilation != 1 || dim.windowDilation != 1)
      return std::nullopt;
    const int64_t before = shape[i] - 1;
    if (dim.size == 1 && dim.padLow == 0 && dim.padHigh == 0)
      continue;
    const bool forward = dim.padLow == before && dim.padHigh == 0;
    const bool backward = dim.padLow == 0 && dim.padHigh == before;
    if (scan || dim.size != shape[i] || (!forward && !backward))
      return std::nullopt;
    scan = Scan{static_cast<unsigned>(i), !forward};
  }
  return scan;
}

// Whether combining with `init` once more changes nothing, which a scan relies on: windows over the
// edge meet it many times, the scan once. Assumed of bodies of several operations, where the
// specification asks for a monoid.
bool mayRepeat(Operation* only, Attribute value) {
  auto init = dyn_cast_or_null<DenseElementsAttr>(value);
  if (!only || !init)
    return !only;
  Type element = init.getElementType();
  if (auto real = dyn_cast<FloatType>(element)) {
    auto number = init.getSplatValue<APFloat>();
    if (isa<stablehlo::AddOp>(only))
      return number.isZero();
    if (isa<stablehlo::MulOp>(only))
      return number.isExactlyValue(1.0);
    return isa<stablehlo::MaxOp, stablehlo::MinOp>(only);
  }
  if (isa<IntegerType>(element)) {
    auto number = init.getSplatValue<APInt>();
    if (isa<stablehlo::AddOp>(only))
      return number.isZero();
    if (isa<stablehlo::MulOp>(only))
      return number.isOne();
    return isa<stablehlo::MaxOp, stablehlo::MinOp, stablehlo::AndOp, stablehlo::OrOp>(only);
  }
  return false;
}

// A window combines its places from the first on. A scan from the end meets them the other way
// round, and then sums of floats are rounded differently. Windows longer than this are scanned all
// the same, since taking each by itself is work of their length squared.
constexpr int64_t kLongestInOrder = 64;

bool keepsRounding(const Scan& scan, ArrayRef<int64_t> shape, Block& body) {
  Operation* only = Reducer::onlyOperation(body);
  bool rounds = llvm::any_of(body.getArgumentTypes(), [](Type type) {
    return isa<FloatType, ComplexType>(elementTypeOf(type));
  });
  return !scan.reverse || !rounds || isa_and_nonnull<stablehlo::MaxOp, stablehlo::MinOp>(only) ||
         shape[scan.dim] > kLongestInOrder;
}

// Carries one accumulator (of a row of what lies inside of the scanned dimension) along it, for
// every place outside of it.
class ScanEmitter {
public:
  ScanEmitter(OpBuilder& builder, Location loc, const Reducer& reducer, Scan scan,
              ArrayRef<int64_t> shape)
      : builder_(builder), loc_(loc), reducer_(reducer), scan_(scan), shape_(shape) {
    for (auto [i, size] : llvm::enumerate(shape))
      (i < scan.dim ? outer_ : i == scan.dim ? length_ : inner_) *= size;
  }

  // Null results where the body failed.
  SmallVector<Value> emit(ValueRange inputs, ValueRange inits) {
    for (Value input : inputs)
      inputs_.push_back(reshaped(builder_, loc_, input, {outer_, length_, inner_}));
    SmallVector<Value> results;
    for (size_t i = 0; i < inputs.size(); ++i)
      results.push_back(tensor::EmptyOp::create(
          builder_, loc_, ArrayRef<int64_t>{outer_, length_, inner_}, reducer_.resultType(i)));
    starts_ = reducer_.begin(builder_, loc_, inits);
    results = loop(outer_, results,
                   [&](Value place, ValueRange carried) { return alongDimension(place, carried); });
    if (failed(emitted_))
      return {};
    for (Value& result : results)
      result = reshaped(builder_, loc_, result, shape_);
    return results;
  }

private:
  using LoopBody = llvm::function_ref<SmallVector<Value>(Value, ValueRange)>;

  SmallVector<Value> loop(int64_t count, ValueRange carried, LoopBody body) {
    Value zero = index(0), end = index(count), one = index(1);
    auto made = scf::ForOp::create(builder_, loc_, zero, end, one, carried,
                                   [&](OpBuilder&, Location, Value place, ValueRange arguments) {
                                     scf::YieldOp::create(builder_, loc_, body(place, arguments));
                                   });
    return SmallVector<Value>(made.getResults());
  }

  Value index(int64_t number) { return arith::ConstantIndexOp::create(builder_, loc_, number); }

  SmallVector<Value> alongDimension(Value outer, ValueRange results) {
    SmallVector<Value> carried(results);
    for (Value start : starts_)
      carried.push_back(inner_ == 1 ? start
                                    : filled(builder_, loc_, ArrayRef<int64_t>{inner_}, start));
    carried = loop(length_, carried, [&](Value place, ValueRange arguments) {
      if (scan_.reverse)
        place = arith::SubIOp::create(builder_, loc_, index(length_ - 1), place);
      return step(outer, place, arguments.take_front(starts_.size()),
                  arguments.drop_front(starts_.size()));
    });
    carried.truncate(starts_.size());
    return carried;
  }

  SmallVector<Value> step(Value outer, Value place, ValueRange results, ValueRange accumulators) {
    SmallVector<Value> values, yielded;
    for (Value input : inputs_)
      values.push_back(read(input, outer, place));
    SmallVector<Value> next = combine(accumulators, values);
    for (auto [i, result] : llvm::enumerate(results))
      yielded.push_back(write(reducer_.finish(builder_, loc_, i, next[i]), result, outer, place));
    llvm::append_range(yielded, next);
    return yielded;
  }

  Value read(Value tensor, Value outer, Value place) {
    if (inner_ == 1)
      return tensor::ExtractOp::create(builder_, loc_, tensor, ValueRange{outer, place, index(0)});
    auto type = RankedTensorType::get({inner_}, elementTypeOf(tensor.getType()));
    return tensor::ExtractSliceOp::create(builder_, loc_, type, tensor, row(outer, place), sizes(),
                                          ones());
  }

  Value write(Value value, Value tensor, Value outer, Value place) {
    if (inner_ == 1)
      return tensor::InsertOp::create(builder_, loc_, value, tensor,
                                      ValueRange{outer, place, index(0)});
    return tensor::InsertSliceOp::create(builder_, loc_, value, tensor, row(outer, place), sizes(),
                                         ones());
  }

  SmallVector<OpFoldResult> row(Value outer, Value place) {
    return {outer, place, builder_.getIndexAttr(0)};
  }
  SmallVector<OpFoldResult> sizes() { return indexAttrs(builder_, {1, 1, inner_}); }
  SmallVector<OpFoldResult> ones() { return indexAttrs(builder_, {1, 1, 1}); }

  SmallVector<Value> combine(ValueRange accumulators, ValueRange values) {
    SmallVector<Value> results;
    if (inner_ == 1) {
      if (failed(reducer_.step(builder_, loc_, accumulators, values, results)))
        return fail(accumulators);
      return results;
    }
    SmallVector<AffineMap> maps(2 * values.size(), builder_.getMultiDimIdentityMap(1));
    auto generic = linalg::GenericOp::create(
        builder_, loc_, TypeRange(accumulators), values, accumulators, maps,
        utils::IteratorType::parallel, [&](OpBuilder& builder, Location loc, ValueRange arguments) {
          ValueRange carried = arguments.drop_front(values.size());
          if (failed(reducer_.step(builder, loc, carried, arguments.take_front(values.size()),
                                   results)))
            results = fail(carried);
          linalg::YieldOp::create(builder, loc, results);
        });
    return SmallVector<Value>(generic.getResults());
  }

  SmallVector<Value> fail(ValueRange accumulators) {
    emitted_ = failure();
    return SmallVector<Value>(accumulators);
  }

  OpBuilder& builder_;
  Location loc_;
  const Reducer& reducer_;
  Scan scan_;
  ArrayRef<int64_t> shape_;
  int64_t outer_ = 1, length_ = 1, inner_ = 1;
  SmallVector<Value> inputs_, starts_;
  LogicalResult emitted_ = success();
};

//===------------------------------------------------------------------------------------------===//
// reduce_window
//===------------------------------------------------------------------------------------------===//

// The form of linalg's poolings: one linalg.generic over the padded inputs, with an operand that is
// there only for the window's sizes. Cumulative windows become a loop that visits each element
// once.
struct LowerReduceWindow : OpConversionPattern<stablehlo::ReduceWindowOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(stablehlo::ReduceWindowOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter& rewriter) const override {
    if (!heldResultType(*getTypeConverter(), op))
      return failure();
    FailureOr<SmallVector<WindowDim>> window = stablehlo::readWindow(
        op, stablehlo::readI64List(op->getAttr("window_dimensions")), op->getAttr("window_strides"),
        op->getAttr("padding"), op->getAttr("base_dilations"), op->getAttr("window_dilations"));
    if (failed(window))
      return failure();
    Location loc = op.getLoc();
    Reducer reducer(op, op.getBody().front(), elementTypes(op.getInputs()));
    SmallVector<Value> inits = extractScalars(rewriter, loc, adaptor.getInitValues());
    ArrayRef<int64_t> inputShape =
        cast<RankedTensorType>(adaptor.getInputs()[0].getType()).getShape();
    SmallVector<Value> results;
    auto scan = matchScan(*window, inputShape);
    if (scan && initsMayRepeat(op) && keepsRounding(*scan, inputShape, op.getBody().front()))
      results =
          ScanEmitter(rewriter, loc, reducer, *scan, inputShape).emit(adaptor.getInputs(), inits);
    else
      results = emitPooling(rewriter, op, *window, reducer, adaptor.getInputs(), inits);
    if (results.empty())
      return failure();
    rewriter.replaceOp(op, results);
    return success();
  }

private:
  static bool initsMayRepeat(stablehlo::ReduceWindowOp op) {
    Operation* only = Reducer::onlyOperation(op.getBody().front());
    auto constant = op.getInitValues()[0].getDefiningOp<stablehlo::ConstantOp>();
    return mayRepeat(only, constant ? constant->getAttr("value") : Attribute());
  }

  static SmallVector<Value> emitPooling(ConversionPatternRewriter& rewriter,
                                        stablehlo::ReduceWindowOp op, ArrayRef<WindowDim> window,
                                        const Reducer& reducer, ValueRange inputs,
                                        ValueRange inits) {
    Location loc = op.getLoc();
    WindowLoops loops(rewriter.getContext(), window);
    SmallVector<PadDim> padding = llvm::map_to_vector(window, [](const WindowDim& dim) {
      return PadDim{dim.padLow, dim.padHigh, dim.baseDilation - 1};
    });
    ArrayRef<int64_t> shape = cast<RankedTensorType>(op.getResult(0).getType()).getShape();
    SmallVector<Value> operands, outputs;
    for (auto [input, init] : llvm::zip(inputs, inits))
      operands.push_back(padded(rewriter, loc, input, padding, init));
    for (Value start : reducer.begin(rewriter, loc, inits))
      outputs.push_back(filled(rewriter, loc, shape, start));
    SmallVector<AffineMap> maps(inputs.size(), loops.inputMap);
    if (!loops.windowShape.empty()) {
      operands.push_back(
          tensor::EmptyOp::create(rewriter, loc, loops.windowShape, rewriter.getI1Type()));
      maps.push_back(loops.windowMap);
    }
    maps.append(outputs.size(), loops.resultMap);
    LogicalResult emitted = success();
    auto generic = linalg::GenericOp::create(
        rewriter, loc, TypeRange(ValueRange(outputs)), operands, outputs, maps, loops.iterators,
        [&](OpBuilder& builder, Location inner, ValueRange arguments) {
          ValueRange accumulators = arguments.take_back(outputs.size());
          SmallVector<Value> results;
          emitted = reducer.step(builder, inner, accumulators, arguments.take_front(inputs.size()),
                                 results);
          linalg::YieldOp::create(builder, inner,
                                  succeeded(emitted) ? ValueRange(results) : accumulators);
        });
    SmallVector<Value> results;
    if (failed(emitted))
      return results;
    for (auto [i, result] : llvm::enumerate(generic.getResults()))
      results.push_back(reducer.finish(rewriter, loc, i, result));
    return results;
  }
};

//===------------------------------------------------------------------------------------------===//
// select_and_scatter
//===------------------------------------------------------------------------------------------===//

// First the place of each window's selected element (a linalg.generic over windows, which gives the
// element's number in the operand), then one loop that adds each source element at its place:
// windows may overlap, so that several go to one.
struct LowerSelectAndScatter : OpConversionPattern<stablehlo::SelectAndScatterOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(stablehlo::SelectAndScatterOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter& rewriter) const override {
    if (!heldResultType(*getTypeConverter(), op))
      return failure();
    auto type = cast<RankedTensorType>(adaptor.getOperand().getType());
    SmallVector<int64_t> sizes = stablehlo::readI64ListOr(op->getAttr("window_dimensions"),
                                                          static_cast<size_t>(type.getRank()), 1);
    FailureOr<SmallVector<WindowDim>> window = stablehlo::readWindow(
        op, sizes, op->getAttr("window_strides"), op->getAttr("padding"), Attribute(), Attribute());
    if (failed(window))
      return failure();
    Value places = selectPlaces(rewriter, op, *window, adaptor.getOperand());
    if (!places)
      return failure();
    Value result = scatter(rewriter, op, type, places, adaptor.getSource(), adaptor.getInitValue());
    if (!result)
      return failure();
    rewriter.replaceOp(op, result);
    return success();
  }

private:
  // The number of each window's element that `select` prefers, -1 for a window wholly in padding.
  static Value selectPlaces(ConversionPatternRewriter& rewriter, stablehlo::SelectAndScatterOp op,
                            ArrayRef<WindowDim> window, Value operand) {
    Location loc = op.getLoc();
    auto type = cast<RankedTensorType>(operand.getType());
    WindowLoops loops(rewriter.getContext(), window);
    SmallVector<PadDim> padding = llvm::map_to_vector(
        window, [](const WindowDim& dim) { return PadDim{dim.padLow, dim.padHigh, 0}; });
    Value zero = zeroOf(rewriter, loc, type.getElementType());
    SmallVector<Value> operands{padded(rewriter, loc, operand, padding, zero)};
    SmallVector<AffineMap> maps{loops.inputMap};
    if (!loops.windowShape.empty()) {
      operands.push_back(
          tensor::EmptyOp::create(rewriter, loc, loops.windowShape, rewriter.getI1Type()));
      maps.push_back(loops.windowMap);
    }
    maps.append(2, loops.resultMap);
    ArrayRef<int64_t> shape = cast<RankedTensorType>(op.getSource().getType()).getShape();
    Value none = arith::ConstantIntOp::create(rewriter, loc, -1, 64);
    SmallVector<Value> outputs{filled(rewriter, loc, shape, zero),
                               filled(rewriter, loc, shape, none)};
    LogicalResult emitted = success();
    auto generic = linalg::GenericOp::create(
        rewriter, loc, TypeRange(ValueRange(outputs)), operands, outputs, maps, loops.iterators,
        [&](OpBuilder& builder, Location inner, ValueRange arguments) {
          Value candidate = arguments.front(), selected = arguments.drop_back().back(),
                place = arguments.back();
          SmallVector<Value> keeps;
          emitted = emitScalarBody(builder, op.getSelect().front(), {selected, candidate}, keeps);
          if (failed(emitted)) {
            linalg::YieldOp::create(builder, inner, arguments.take_back(2));
            return;
          }
          auto [number, inside] = numberOf(builder, inner, loops, window, type.getShape());
          Value first = arith::CmpIOp::create(builder, inner, arith::CmpIPredicate::slt, place,
                                              zeroOf(builder, inner, builder.getI64Type()));
          Value yes = arith::ConstantIntOp::create(builder, inner, 1, 1);
          Value dropped = arith::XOrIOp::create(builder, inner, keeps[0], yes);
          Value takes = arith::OrIOp::create(builder, inner, first, dropped);
          if (inside)
            takes = arith::AndIOp::create(builder, inner, takes, inside);
          linalg::YieldOp::create(
              builder, inner,
              ValueRange{arith::SelectOp::create(builder, inner, takes, candidate, selected),
                         arith::SelectOp::create(builder, inner, takes, number, place)});
        });
    return succeeded(emitted) ? generic.getResult(1) : Value();
  }

  // Inside of a linalg.generic over windows: the current element's number in the unpadded operand,
  // and whether it is in it (null where no window reaches into padding).
  static std::pair<Value, Value> numberOf(OpBuilder& builder, Location loc,
                                          const WindowLoops& loops, ArrayRef<WindowDim> window,
                                          ArrayRef<int64_t> shape) {
    auto index = [&](int64_t number) -> Value {
      return arith::ConstantIndexOp::create(builder, loc, number);
    };
    SmallVector<Value> ivs;
    for (unsigned i = 0; i < loops.iterators.size(); ++i)
      ivs.push_back(linalg::IndexOp::create(builder, loc, i));
    Value number = index(0), inside;
    for (auto [i, dim] : llvm::enumerate(window)) {
      Value at = arith::MulIOp::create(builder, loc, ivs[i], index(dim.stride));
      if (dim.size > 1)
        at = arith::AddIOp::create(builder, loc, at, ivs[loops.withinLoop[i]]);
      at = arith::SubIOp::create(builder, loc, at, index(dim.padLow));
      if (dim.padLow != 0 || dim.padHigh != 0) {
        // Below zero is a huge unsigned number.
        Value isIn =
            arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, at, index(shape[i]));
        inside = inside ? arith::AndIOp::create(builder, loc, inside, isIn) : isIn;
      }
      number = arith::MulIOp::create(builder, loc, number, index(shape[i]));
      number = arith::AddIOp::create(builder, loc, number, at);
    }
    return {arith::IndexCastOp::create(builder, loc, builder.getI64Type(), number), inside};
  }

  static Value scatter(ConversionPatternRewriter& rewriter, stablehlo::SelectAndScatterOp op,
                       RankedTensorType type, Value places, Value source, Value init) {
    Location loc = op.getLoc();
    const int64_t count = cast<RankedTensorType>(source.getType()).getNumElements();
    Reducer reducer(op, op.getScatter().front(), elementTypes(op.getSource()));
    source = reshaped(rewriter, loc, source, {count});
    places = reshaped(rewriter, loc, places, {count});
    Value start = reducer.begin(rewriter, loc, extractScalars(rewriter, loc, init))[0];
    Value result = filled(rewriter, loc, type.getNumElements(), start);
    auto index = [&](int64_t number) -> Value {
      return arith::ConstantIndexOp::create(rewriter, loc, number);
    };
    LogicalResult emitted = success();
    auto loop = scf::ForOp::create(
        rewriter, loc, index(0), index(count), index(1), result,
        [&](OpBuilder& builder, Location inner, Value i, ValueRange carried) {
          Value place = tensor::ExtractOp::create(builder, inner, places, i);
          Value value = tensor::ExtractOp::create(builder, inner, source, i);
          Value found = arith::CmpIOp::create(builder, inner, arith::CmpIPredicate::sge, place,
                                              zeroOf(builder, inner, builder.getI64Type()));
          auto add = [&](OpBuilder& then, Location at) {
            Value to = arith::IndexCastOp::create(then, at, then.getIndexType(), place);
            Value before = tensor::ExtractOp::create(then, at, carried[0], to);
            SmallVector<Value> after;
            emitted = reducer.step(then, at, before, value, after);
            Value next = succeeded(emitted) ? after[0] : before;
            scf::YieldOp::create(then, at,
                                 Value(tensor::InsertOp::create(then, at, next, carried[0], to)));
          };
          auto keep = [&](OpBuilder& otherwise, Location at) {
            scf::YieldOp::create(otherwise, at, carried[0]);
          };
          auto branch = scf::IfOp::create(builder, inner, found, add, keep);
          scf::YieldOp::create(builder, inner, branch.getResults());
        });
    if (failed(emitted))
      return {};
    Value sums = reducer.finish(rewriter, loc, 0, loop.getResult(0));
    return reshaped(rewriter, loc, sums, type.getShape());
  }
};

} // namespace

void populateWindows(LoweringTypes& types, RewritePatternSet& patterns) {
  patterns.add<LowerReduceWindow, LowerSelectAndScatter>(types, patterns.getContext());
}

} // namespace nocturne::compiler
