#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/DialectConversion.h"

#include "compiler/dialect/AttrHelpers.h"
#include "compiler/dialect/StablehloOps.h"
#include "compiler/lowering/families.h"
#include "compiler/lowering/reducer.h"
#include "compiler/lowering/scalars.h"
#include "compiler/lowering/tensors.h"

namespace nocturne::compiler {

using namespace mlir;

Reducer::Reducer(Operation* op, Block& body, ArrayRef<Type> inputElements)
    : op_(op), body_(body), inputElements_(inputElements) {
  Operation* only = onlyOperation(body);
  auto accumulator = dyn_cast<FloatType>(elementTypeOf(body.getArgument(0).getType()));
  if (isa<stablehlo::ReduceOp>(op) && only && isa<stablehlo::AddOp, stablehlo::MulOp>(only) &&
      accumulator && computeType(accumulator) != accumulator && isa<FloatType>(inputElements[0]))
    wide_ = only;
}

Operation* Reducer::onlyOperation(Block& body) {
  if (body.getNumArguments() != 2 || !llvm::hasNItems(body, 2))
    return nullptr;
  Operation& only = body.front();
  auto isArgument = [&](Value value) { return llvm::is_contained(body.getArguments(), value); };
  if (only.getNumOperands() != 2 || only.getNumResults() != 1 ||
      only.getOperand(0) == only.getOperand(1) || !llvm::all_of(only.getOperands(), isArgument))
    return nullptr;
  OperandRange returned = body.getTerminator()->getOperands();
  return returned.size() == 1 && returned[0] == only.getResult(0) ? &only : nullptr;
}

Type Reducer::resultType(size_t i) const {
  return storageType(elementTypeOf(body_.getArgument(static_cast<unsigned>(i)).getType()));
}

Type Reducer::accumulatorType(size_t i) const {
  return wide_ ? Float32Type::get(op_->getContext()) : resultType(i);
}

SmallVector<Value> Reducer::begin(OpBuilder& builder, Location loc, ValueRange inits) const {
  SmallVector<Value> accumulators;
  for (auto [i, init] : llvm::enumerate(inits)) {
    Type element = elementTypeOf(body_.getArgument(static_cast<unsigned>(i)).getType());
    // A promoting body's initial value is of its input's type, which it can say in either.
    Value held = init;
    if (init.getType() != storageType(element))
      held = convertScalar(builder, loc, op_, inputElements_[i], element, init);
    accumulators.push_back(wide_ ? decode(builder, loc, element, held) : held);
  }
  return accumulators;
}

LogicalResult Reducer::step(OpBuilder& builder, Location loc, ValueRange accumulators,
                            ValueRange values, SmallVectorImpl<Value>& results) const {
  if (wide_) {
    Type f32 = builder.getF32Type();
    Value value = convertScalar(builder, loc, op_, inputElements_[0], f32, values[0]);
    Value operands[] = {accumulators[0], value};
    ScalarEmitter emitter = scalarTable().find(wide_->getName().getStringRef());
    Value result =
        emitter ? emitter(builder, loc, ScalarCall{wide_, {f32, f32}, f32, operands}) : Value();
    if (!result)
      return wide_->emitError("operation '") << wide_->getName() << "' has no lowering on f32";
    results.push_back(result);
    return success();
  }
  SmallVector<Value> arguments(accumulators);
  for (auto [i, value] : llvm::enumerate(values)) {
    BlockArgument argument = body_.getArgument(static_cast<unsigned>(count() + i));
    Type element = elementTypeOf(argument.getType());
    Value converted = convertScalar(builder, loc, op_, inputElements_[i], element, value);
    if (!converted)
      return op_->emitError("has no conversion of elements of type ")
             << inputElements_[i] << " to " << element << " for its region";
    arguments.push_back(converted);
  }
  return emitScalarBody(builder, body_, arguments, results);
}

Value Reducer::finish(OpBuilder& builder, Location loc, size_t i, Value accumulator) const {
  if (!wide_)
    return accumulator;
  Type element = elementTypeOf(body_.getArgument(static_cast<unsigned>(i)).getType());
  if (!isa<RankedTensorType>(accumulator.getType()))
    return encode(builder, loc, element, accumulator);
  return mapElements(builder, loc, cast<RankedTensorType>(accumulator.getType()).getShape(),
                     storageType(element), accumulator, [&](OpBuilder& inner, ValueRange elements) {
                       return encode(inner, loc, element, elements[0]);
                     });
}

SmallVector<Value> extractScalars(OpBuilder& builder, Location loc, ValueRange tensors) {
  SmallVector<Value> scalars;
  for (Value tensor : tensors)
    scalars.push_back(tensor::ExtractOp::create(builder, loc, tensor, ValueRange{}));
  return scalars;
}

namespace {

// One linalg.generic whose outputs start at the initial values and lose the reduced dimensions.
struct LowerReduce : OpConversionPattern<stablehlo::ReduceOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(stablehlo::ReduceOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter& rewriter) const override {
    if (!heldResultType(*getTypeConverter(), op))
      return failure();
    Location loc = op.getLoc();
    ValueRange inputs = adaptor.getInputs();
    SmallVector<int64_t> reduced = stablehlo::readI64List(op->getAttr("dimensions"));
    auto inputType = cast<RankedTensorType>(inputs[0].getType());
    const auto rank = static_cast<unsigned>(inputType.getRank());

    SmallVector<utils::IteratorType> iterators(rank, utils::IteratorType::parallel);
    SmallVector<AffineExpr> kept;
    SmallVector<int64_t> shape;
    for (unsigned dim = 0; dim < rank; ++dim) {
      if (llvm::is_contained(reduced, static_cast<int64_t>(dim))) {
        iterators[dim] = utils::IteratorType::reduction;
      } else {
        kept.push_back(rewriter.getAffineDimExpr(dim));
        shape.push_back(inputType.getDimSize(dim));
      }
    }
    SmallVector<Type> elements = llvm::map_to_vector(
        op.getInputs(), [](Value input) { return elementTypeOf(input.getType()); });
    Reducer reducer(op, op.getBody().front(), elements);
    SmallVector<Value> outputs;
    for (Value init :
         reducer.begin(rewriter, loc, extractScalars(rewriter, loc, adaptor.getInitValues())))
      outputs.push_back(filled(rewriter, loc, shape, init));

    SmallVector<AffineMap> maps(inputs.size(), rewriter.getMultiDimIdentityMap(rank));
    maps.append(inputs.size(), AffineMap::get(rank, 0, kept, rewriter.getContext()));
    LogicalResult emitted = success();
    auto generic = linalg::GenericOp::create(
        rewriter, loc, TypeRange(ValueRange(outputs)), inputs, outputs, maps, iterators,
        [&](OpBuilder& builder, Location inner, ValueRange arguments) {
          ValueRange values = arguments.take_front(inputs.size());
          ValueRange accumulators = arguments.drop_front(inputs.size());
          SmallVector<Value> results;
          emitted = reducer.step(builder, inner, accumulators, values, results);
          linalg::YieldOp::create(builder, inner,
                                  succeeded(emitted) ? ValueRange(results) : accumulators);
        });
    if (failed(emitted))
      return failure();
    SmallVector<Value> results;
    for (auto [i, result] : llvm::enumerate(generic.getResults()))
      results.push_back(reducer.finish(rewriter, loc, i, result));
    rewriter.replaceOp(op, results);
    return success();
  }
};

} // namespace

void populateReductions(LoweringTypes& types, RewritePatternSet& patterns) {
  patterns.add<LowerReduce>(types, patterns.getContext());
}

} // namespace nocturne::compiler
