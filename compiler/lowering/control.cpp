// Functions, control flow, tuples, tokens, and what does nothing on a single device.
//
// Tuples are taken apart: each value of a tuple type becomes the values in it, so that patterns
// here see several values for one operand. Tokens become booleans that nothing reads.
#include <numeric>

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/DialectConversion.h"
#include "llvm/ADT/StringSet.h"

#include "compiler/dialect/AttrHelpers.h"
#include "compiler/dialect/StablehloDialect.h"
#include "compiler/dialect/StablehloOps.h"
#include "compiler/lowering/families.h"
#include "compiler/lowering/patterns.h"
#include "compiler/lowering/tensors.h"

namespace nocturne::compiler {

using namespace mlir;

namespace {

SmallVector<Value> flatten(ArrayRef<ValueRange> parts) {
  SmallVector<Value> values;
  for (ValueRange part : parts)
    llvm::append_range(values, part);
  return values;
}

// The held types of all results in a row; fails with an error where one has none.
LogicalResult flatResultTypes(const TypeConverter& types, Operation* op,
                              SmallVectorImpl<Type>& flat) {
  for (Type type : op->getResultTypes())
    if (failed(types.convertType(type, flat)))
      return op->emitError("result of type ")
             << type << " has no lowering, as its shape is not known";
  return success();
}

// Replaces the results by `flat`, whose values are those of flatResultTypes().
void replaceByFlat(ConversionPatternRewriter& rewriter, const TypeConverter& types, Operation* op,
                   ValueRange flat) {
  SmallVector<SmallVector<Value>> parts;
  for (Type type : op->getResultTypes()) {
    SmallVector<Type> held;
    // Cannot fail: flatResultTypes() did not.
    (void)types.convertType(type, held);
    parts.emplace_back(flat.take_front(held.size()));
    flat = flat.drop_front(held.size());
  }
  rewriter.replaceOpWithMultiple(op, std::move(parts));
}

using FlatValues = FailureOr<SmallVector<Value>>;

// Replaces an operation by the values that emit() makes: those of all its results in a row.
template <typename OpTy>
class FlatPattern : public OpConversionPattern<OpTy> {
public:
  using OpConversionPattern<OpTy>::OpConversionPattern;
  using OneToNOpAdaptor = typename OpConversionPattern<OpTy>::OneToNOpAdaptor;

  LogicalResult matchAndRewrite(OpTy op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter& rewriter) const final {
    const TypeConverter& types = *this->getTypeConverter();
    SmallVector<Type> results;
    if (failed(flatResultTypes(types, op, results)))
      return failure();
    FlatValues values = emit(op, adaptor, results, rewriter);
    if (failed(values))
      return failure();
    replaceByFlat(rewriter, types, op, *values);
    return success();
  }

protected:
  // `results` are the held types of the values to make. Fails after an error at `op`.
  virtual FlatValues emit(OpTy op, OneToNOpAdaptor adaptor, TypeRange results,
                          ConversionPatternRewriter& rewriter) const = 0;
};

FlatValues valuesOf(Operation* op) {
  return SmallVector<Value>(op->getResults());
}

//===------------------------------------------------------------------------------------------===//
// Functions
//===------------------------------------------------------------------------------------------===//

struct CallPattern : FlatPattern<func::CallOp> {
  using FlatPattern::FlatPattern;

  FlatValues emit(func::CallOp op, OneToNOpAdaptor adaptor, TypeRange results,
                  ConversionPatternRewriter& rewriter) const override {
    return valuesOf(func::CallOp::create(rewriter, op.getLoc(), op.getCalleeAttr(), results,
                                         flatten(adaptor.getOperands())));
  }
};

// A composite is what its decomposition computes.
struct CompositePattern : FlatPattern<stablehlo::CompositeOp> {
  using FlatPattern::FlatPattern;

  FlatValues emit(stablehlo::CompositeOp op, OneToNOpAdaptor adaptor, TypeRange results,
                  ConversionPatternRewriter& rewriter) const override {
    auto callee = dyn_cast<FlatSymbolRefAttr>(op.getDecomposition());
    if (!callee)
      return op.emitError("composite '") << op.getName() << "' names no function of its module";
    return valuesOf(func::CallOp::create(rewriter, op.getLoc(), callee, results,
                                         flatten(adaptor.getOperands())));
  }
};

struct FuncReturnPattern : OpConversionPattern<func::ReturnOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(func::ReturnOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter& rewriter) const override {
    rewriter.replaceOpWithNewOp<func::ReturnOp>(op, flatten(adaptor.getOperands()));
    return success();
  }
};

//===------------------------------------------------------------------------------------------===//
// Control flow
//===------------------------------------------------------------------------------------------===//

struct WhilePattern : FlatPattern<stablehlo::WhileOp> {
  using FlatPattern::FlatPattern;

  FlatValues emit(stablehlo::WhileOp op, OneToNOpAdaptor adaptor, TypeRange results,
                  ConversionPatternRewriter& rewriter) const override {
    auto loop =
        scf::WhileOp::create(rewriter, op.getLoc(), results, flatten(adaptor.getOperands()));
    rewriter.inlineRegionBefore(op.getCond(), loop.getBefore(), loop.getBefore().end());
    rewriter.inlineRegionBefore(op.getBody(), loop.getAfter(), loop.getAfter().end());
    for (Region* region : {&loop.getBefore(), &loop.getAfter()})
      if (failed(rewriter.convertRegionTypes(region, *getTypeConverter())))
        return op.emitError("while over values whose shapes are not known has no lowering");
    return valuesOf(loop);
  }
};

struct IfPattern : FlatPattern<stablehlo::IfOp> {
  using FlatPattern::FlatPattern;

  FlatValues emit(stablehlo::IfOp op, OneToNOpAdaptor adaptor, TypeRange results,
                  ConversionPatternRewriter& rewriter) const override {
    Value condition = scalarOf(rewriter, op.getLoc(), adaptor.getPred().front());
    auto choice = scf::IfOp::create(rewriter, op.getLoc(), results, condition,
                                    /*addThenBlock=*/false, /*addElseBlock=*/false);
    rewriter.inlineRegionBefore(op.getTrueBranch(), choice.getThenRegion(),
                                choice.getThenRegion().end());
    rewriter.inlineRegionBefore(op.getFalseBranch(), choice.getElseRegion(),
                                choice.getElseRegion().end());
    return valuesOf(choice);
  }
};

// An index that names no branch means the last one, which is the switch's default.
struct CasePattern : FlatPattern<stablehlo::CaseOp> {
  using FlatPattern::FlatPattern;

  FlatValues emit(stablehlo::CaseOp op, OneToNOpAdaptor adaptor, TypeRange results,
                  ConversionPatternRewriter& rewriter) const override {
    Location loc = op.getLoc();
    unsigned last = op->getNumRegions() - 1;
    SmallVector<int64_t> cases(last);
    std::iota(cases.begin(), cases.end(), 0);
    Value number = scalarOf(rewriter, loc, adaptor.getIndex().front());
    Value index = arith::IndexCastOp::create(rewriter, loc, rewriter.getIndexType(), number);
    auto choice = scf::IndexSwitchOp::create(rewriter, loc, results, index, cases, last);
    for (unsigned i = 0; i <= last; ++i) {
      Region& target = i == last ? choice.getDefaultRegion() : choice.getCaseRegions()[i];
      rewriter.inlineRegionBefore(op->getRegion(i), target, target.end());
    }
    return valuesOf(choice);
  }
};

// The end of a region whose operation was converted before it.
struct ReturnPattern : OpConversionPattern<stablehlo::ReturnOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(stablehlo::ReturnOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter& rewriter) const override {
    Operation* parent = op->getParentOp();
    SmallVector<Value> values = flatten(adaptor.getOperands());
    if (auto loop = dyn_cast<scf::WhileOp>(parent);
        loop && op->getParentRegion() == &loop.getBefore()) {
      Value condition = scalarOf(rewriter, op.getLoc(), values.front());
      rewriter.replaceOpWithNewOp<scf::ConditionOp>(op, condition, op->getBlock()->getArguments());
      return success();
    }
    if (isa<scf::WhileOp, scf::IfOp, scf::IndexSwitchOp>(parent)) {
      rewriter.replaceOpWithNewOp<scf::YieldOp>(op, values);
      return success();
    }
    if (isa<func::FuncOp>(parent)) {
      rewriter.replaceOpWithNewOp<func::ReturnOp>(op, values);
      return success();
    }
    return failure();
  }
};

//===------------------------------------------------------------------------------------------===//
// Tuples and tokens
//===------------------------------------------------------------------------------------------===//

struct TuplePattern : OpConversionPattern<stablehlo::TupleOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(stablehlo::TupleOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter& rewriter) const override {
    SmallVector<Value> values = flatten(adaptor.getOperands());
    replaceByFlat(rewriter, *getTypeConverter(), op, values);
    return success();
  }
};

struct GetTupleElementPattern : OpConversionPattern<stablehlo::GetTupleElementOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(stablehlo::GetTupleElementOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter& rewriter) const override {
    auto tuple = dyn_cast<TupleType>(op.getOperand().getType());
    if (!tuple)
      return failure();
    auto position = static_cast<size_t>(op.getIndex());
    SmallVector<Type> before, wanted;
    if (failed(getTypeConverter()->convertTypes(tuple.getTypes().take_front(position), before)) ||
        failed(flatResultTypes(*getTypeConverter(), op, wanted)))
      return failure();
    ValueRange values = adaptor.getOperand().slice(before.size(), wanted.size());
    replaceByFlat(rewriter, *getTypeConverter(), op, values);
    return success();
  }
};

// create_token, after_all.
template <typename OpTy>
struct TokenPattern : TensorPattern<OpTy> {
  using TensorPattern<OpTy>::TensorPattern;

  Value emit(OpTy op, typename OpTy::Adaptor, RankedTensorType type,
             ConversionPatternRewriter& rewriter) const override {
    return arith::ConstantOp::create(rewriter, op.getLoc(), DenseElementsAttr::get(type, false));
  }
};

//===------------------------------------------------------------------------------------------===//
// What does nothing on one device
//===------------------------------------------------------------------------------------------===//

// Replaces results by operands, which must have the same types.
LogicalResult forwardOperands(ConversionPatternRewriter& rewriter, const TypeConverter& types,
                              Operation* op, ValueRange operands) {
  SmallVector<Type> results;
  if (failed(flatResultTypes(types, op, results)))
    return failure();
  if (TypeRange(operands) != TypeRange(results))
    return op->emitError("operation '")
           << op->getName() << "' between values of different shapes needs several devices, which "
           << "have no lowering";
  replaceByFlat(rewriter, types, op, operands);
  return success();
}

struct BarrierPattern : OpConversionPattern<stablehlo::OptimizationBarrierOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(stablehlo::OptimizationBarrierOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter& rewriter) const override {
    return forwardOperands(rewriter, *getTypeConverter(), op, flatten(adaptor.getOperands()));
  }
};

struct TracePattern : OpConversionPattern<stablehlo::TraceOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(stablehlo::TraceOp op, OpAdaptor,
                                ConversionPatternRewriter& rewriter) const override {
    rewriter.eraseOp(op);
    return success();
  }
};

// Says where values should be, or something that only another compiler wants to know.
bool isAnnotation(StringRef target) {
  static const llvm::StringSet<> targets = {"Sharding",
                                            "SPMDFullToShardShape",
                                            "SPMDShardToFullShape",
                                            "LayoutConstraint",
                                            "InspectSharding",
                                            "Pin",
                                            "Unpin",
                                            "AssumeGatherIndicesInBound",
                                            "BarrierStart",
                                            "BarrierDone",
                                            "MoveToHost",
                                            "MoveToDevice",
                                            "annotate_device_placement",
                                            "shape_assertion",
                                            "stablehlo.shape_assertion",
                                            "xla.megascale.provide_metadata",
                                            "xla.sdy.FuncResultSharding",
                                            "xla.sdy.GlobalToLocalShape",
                                            "xla.sdy.LocalToGlobalShape",
                                            "xla.sdy.PropagationBarrier",
                                            "xla.sdy.Sharding",
                                            "xla.sdy.ShardingGroup",
                                            "sdy_testonly"};
  return targets.contains(target);
}

// Functions that had no operation of their own when the file was written.
StringRef operationOfTarget(StringRef target) {
  static const llvm::StringMap<StringRef> names = {
      {"mhlo.erf", "chlo.erf"},     {"mhlo.erf_inv", "chlo.erf_inv"}, {"mhlo.acos", "chlo.acos"},
      {"mhlo.acosh", "chlo.acosh"}, {"mhlo.asin", "chlo.asin"},       {"mhlo.asinh", "chlo.asinh"},
      {"mhlo.atanh", "chlo.atanh"}, {"mhlo.cosh", "chlo.cosh"},       {"mhlo.sinh", "chlo.sinh"},
      {"mhlo.tan", "stablehlo.tan"}};
  return names.lookup(target);
}

struct CustomCallPattern : OpConversionPattern<stablehlo::CustomCallOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(stablehlo::CustomCallOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter& rewriter) const override {
    StringRef target = op.getCallTargetName();
    if (isAnnotation(target)) {
      SmallVector<Value> operands = flatten(adaptor.getOperands());
      if (op->getNumResults() == 0) {
        rewriter.eraseOp(op);
        return success();
      }
      return forwardOperands(rewriter, *getTypeConverter(), op, operands);
    }
    // Memory whose content is not said.
    if ((target == "AllocateBuffer" || target == "CreateBuffer") && op->getNumResults() == 1 &&
        op->getNumOperands() == 0) {
      RankedTensorType type = heldResultType(*getTypeConverter(), op);
      if (!type)
        return failure();
      rewriter.replaceOp(op, emptyTensor(rewriter, op.getLoc(), type));
      return success();
    }
    if (StringRef name = operationOfTarget(target); !name.empty()) {
      OperationState state(op.getLoc(), name, op->getOperands(), op->getResultTypes());
      rewriter.replaceOp(op, rewriter.create(state));
      return success();
    }
    // Checks of results belong to whoever runs the program.
    if (target.starts_with("check."))
      return failure();
    return op.emitError("custom_call to '") << target << "' has no lowering";
  }
};

// Operations of the sharding dialect that give their operand back.
struct ForwardPattern : ConversionPattern {
  ForwardPattern(const TypeConverter& types, StringRef name, MLIRContext* context)
      : ConversionPattern(types, name, PatternBenefit(1), context) {}

  LogicalResult matchAndRewrite(Operation* op, ArrayRef<Value> operands,
                                ConversionPatternRewriter& rewriter) const override {
    return forwardOperands(rewriter, *getTypeConverter(), op, operands);
  }
};

struct ErasePattern : ConversionPattern {
  ErasePattern(const TypeConverter& types, StringRef name, MLIRContext* context)
      : ConversionPattern(types, name, PatternBenefit(1), context) {}

  LogicalResult matchAndRewrite(Operation* op, ArrayRef<Value>,
                                ConversionPatternRewriter& rewriter) const override {
    rewriter.eraseOp(op);
    return success();
  }
};

// A region that runs once, on values that it names anew: inlined where each part of a sharded value
// is all of it.
struct InlineRegionPattern : ConversionPattern {
  InlineRegionPattern(const TypeConverter& types, StringRef name, MLIRContext* context)
      : ConversionPattern(types, name, PatternBenefit(1), context) {}

  LogicalResult matchAndRewrite(Operation* op, ArrayRef<Value>,
                                ConversionPatternRewriter& rewriter) const override {
    if (op->getNumRegions() != 1 || !op->getRegion(0).hasOneBlock())
      return failure();
    Block& body = op->getRegion(0).front();
    Operation* end = &body.back();
    if (body.getArgumentTypes() != op->getOperandTypes() ||
        end->getOperandTypes() != op->getResultTypes())
      return op->emitError("operation '")
             << op->getName() << "' over several devices has no lowering";
    SmallVector<Value> results(end->getOperands());
    rewriter.inlineBlockBefore(&body, op, op->getOperands());
    rewriter.eraseOp(end);
    rewriter.replaceOp(op, results);
    return success();
  }
};

template <typename OpTy>
struct DeviceIdPattern : TensorPattern<OpTy> {
  using TensorPattern<OpTy>::TensorPattern;

  Value emit(OpTy op, typename OpTy::Adaptor, RankedTensorType type,
             ConversionPatternRewriter& rewriter) const override {
    auto zero = DenseElementsAttr::get(type, rewriter.getIntegerAttr(type.getElementType(), 0));
    return arith::ConstantOp::create(rewriter, op.getLoc(), zero);
  }
};

int64_t deviceCount(Operation* op) {
  int64_t count = 1;
  auto module = op->getParentOfType<ModuleOp>();
  for (StringRef name : {"mhlo.num_replicas", "mhlo.num_partitions"})
    if (auto attr = module->getAttrOfType<IntegerAttr>(name))
      count *= attr.getInt();
  return count;
}

// Whether each group of devices has one member. No group at all means that all devices are one.
bool isAlone(Operation* op) {
  auto groups = dyn_cast_or_null<DenseIntElementsAttr>(op->getAttr("replica_groups"));
  if (!groups)
    return false;
  if (groups.getNumElements() == 0)
    return deviceCount(op) == 1;
  return groups.getType().getShape().back() == 1;
}

template <typename OpTy>
struct CollectivePattern : OpConversionPattern<OpTy> {
  using OpConversionPattern<OpTy>::OpConversionPattern;
  using OpAdaptor = typename OpTy::Adaptor;

  LogicalResult matchAndRewrite(OpTy op, OpAdaptor adaptor,
                                ConversionPatternRewriter& rewriter) const override {
    if (!isAlone(op))
      return op.emitError("operation '")
             << op->getName() << "' over several devices has no lowering";
    return forwardOperands(rewriter, *this->getTypeConverter(), op, adaptor.getOperands());
  }
};

struct CollectivePermutePattern : OpConversionPattern<stablehlo::CollectivePermuteOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(stablehlo::CollectivePermuteOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter& rewriter) const override {
    SmallVector<int64_t> pairs = stablehlo::readI64List(op.getSourceTargetPairs());
    if (pairs.size() != 2 || pairs[0] != pairs[1])
      return op.emitError("operation '")
             << op->getName() << "' over several devices has no lowering";
    return forwardOperands(rewriter, *getTypeConverter(), op, adaptor.getOperands());
  }
};

template <typename Pattern>
void addByName(const TypeConverter& types, RewritePatternSet& patterns,
               std::initializer_list<StringRef> names) {
  for (StringRef name : names)
    patterns.add<Pattern>(types, name, patterns.getContext());
}

void addCollectives(const TypeConverter& types, RewritePatternSet& patterns) {
  patterns
      .add<CollectivePattern<stablehlo::AllReduceOp>, CollectivePattern<stablehlo::AllGatherOp>,
           CollectivePattern<stablehlo::AllToAllOp>, CollectivePattern<stablehlo::ReduceScatterOp>,
           CollectivePattern<stablehlo::CollectiveBroadcastOp>,
           CollectivePattern<stablehlo::CollectiveReduceOp>,
           CollectivePattern<stablehlo::CrossReplicaSumOp>, CollectivePermutePattern,
           DeviceIdPattern<stablehlo::PartitionIdOp>, DeviceIdPattern<stablehlo::ReplicaIdOp>>(
          types, patterns.getContext());
}

} // namespace

void populateControl(LoweringTypes& types, RewritePatternSet& patterns) {
  types.addConversion([](stablehlo::TokenType type) -> Type {
    return RankedTensorType::get({}, IntegerType::get(type.getContext(), 1));
  });
  types.addConversion(
      [&types](TupleType type, SmallVectorImpl<Type>& parts) -> std::optional<LogicalResult> {
        return types.convertTypes(type.getTypes(), parts);
      });
  populateFunctionOpInterfaceTypeConversionPattern<func::FuncOp>(patterns, types);
  MLIRContext* context = patterns.getContext();
  patterns.add<CallPattern, CompositePattern, FuncReturnPattern, WhilePattern, IfPattern,
               CasePattern, ReturnPattern, TuplePattern, GetTupleElementPattern,
               TokenPattern<stablehlo::CreateTokenOp>, TokenPattern<stablehlo::AfterAllOp>,
               BarrierPattern, TracePattern>(types, context);
  // After every other pattern: it says of what is left that it has no lowering.
  patterns.add<CustomCallPattern>(types, context, PatternBenefit(0));
  addCollectives(types, patterns);
  addByName<ForwardPattern>(types, patterns,
                            {"sdy.sharding_constraint", "sdy.reshard", "sdy.propagation_barrier",
                             "sdy.data_flow_edge", "sdy.all_gather", "sdy.all_slice",
                             "sdy.collective_permute", "sdy.all_to_all"});
  addByName<ErasePattern>(types, patterns, {"sdy.mesh", "sdy.sharding_group"});
  addByName<InlineRegionPattern>(types, patterns,
                                 {"sdy.manual_computation", "sdy.named_computation"});
}

} // namespace nocturne::compiler
