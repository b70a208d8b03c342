// Control flow, tuples, collectives and calls.

#include "compiler/dialect/StablehloOps.h"
#include "compiler/dialect/VerifyHelpers.h"

using namespace mlir;

namespace nocturne::stablehlo {

//===------------------------------------------------------------------------------------------===//
// Control flow
//===------------------------------------------------------------------------------------------===//

static LogicalResult checkTypes(Operation* op, StringRef what, TypeRange actual,
                                TypeRange expected) {
  for (auto [index, pair] : llvm::enumerate(llvm::zip(actual, expected)))
    if (auto [type, wanted] = pair; type != wanted && !typesAgree(type, wanted))
      return op->emitOpError() << "expected " << what << " " << index << " of type " << wanted
                               << ", got " << type;
  return success();
}

// A terminator's operands, none where the block does not end with one.
static TypeRange returnedTypes(Region& region) {
  Block& block = region.back();
  return block.empty() ? TypeRange() : TypeRange(block.back().getOperandTypes());
}

LogicalResult WhileOp::verify() {
  const size_t count = getNumOperands();
  if (failed(checkCount(*this, "results", getNumResults(), count)) ||
      failed(checkRegion(*this, "condition", getCond(), count)) ||
      failed(checkRegion(*this, "body", getBody(), count)) ||
      failed(checkReturns(*this, "condition", getCond(), 1)) ||
      failed(checkReturns(*this, "body", getBody(), count)))
    return failure();
  if (failed(checkTypes(*this, "condition argument", getCond().getArgumentTypes(),
                        getOperandTypes())) ||
      failed(checkTypes(*this, "body argument", getBody().getArgumentTypes(), getOperandTypes())) ||
      failed(checkTypes(*this, "returned value", returnedTypes(getBody()), getOperandTypes())) ||
      failed(checkTypes(*this, "result", getResultTypes(), getOperandTypes())))
    return failure();
  for (Type type : returnedTypes(getCond()))
    if (!getElementTypeOrSelf(type).isInteger(1))
      return emitOpError() << "expected a condition that returns a boolean, got " << type;
  return success();
}

static LogicalResult verifyBranch(Operation* op, Region& region) {
  if (failed(checkRegion(op, "branch", region, 0)) ||
      failed(checkReturns(op, "branch", region, op->getNumResults())))
    return failure();
  return checkTypes(op, "returned value", returnedTypes(region), op->getResultTypes());
}

LogicalResult IfOp::verify() {
  if (failed(verifyBranch(*this, getTrueBranch())))
    return failure();
  return verifyBranch(*this, getFalseBranch());
}

LogicalResult CaseOp::verify() {
  if (getBranches().empty())
    return emitOpError() << "expected at least 1 branch, got 0";
  for (Region& branch : getBranches())
    if (failed(verifyBranch(*this, branch)))
      return failure();
  return success();
}

LogicalResult OptimizationBarrierOp::verify() {
  if (failed(checkCount(*this, "results", getNumResults(), getNumOperands())))
    return failure();
  return checkTypes(*this, "result", getResultTypes(), getOperandTypes());
}

LogicalResult TupleOp::verify() {
  auto tuple = dyn_cast<TupleType>(getResult().getType());
  if (!tuple)
    return emitOpError() << "expected a tuple as result, got " << getResult().getType();
  if (failed(checkCount(*this, "operands", getNumOperands(), tuple.size())))
    return failure();
  return checkTypes(*this, "operand", getOperandTypes(), tuple.getTypes());
}

LogicalResult GetTupleElementOp::verify() {
  auto tuple = dyn_cast<TupleType>(getOperand().getType());
  if (!tuple)
    return emitOpError() << "expected a tuple as operand, got " << getOperand().getType();
  if (failed(checkDim(*this, "index", getIndex(), static_cast<int64_t>(tuple.size()))))
    return failure();
  return checkTypes(*this, "result", getResult().getType(),
                    tuple.getType(static_cast<size_t>(getIndex())));
}

//===------------------------------------------------------------------------------------------===//
// Collectives
//===------------------------------------------------------------------------------------------===//

// The devices of groups that are written out form a matrix.
static LogicalResult verifyGroups(Operation* op, Attribute groups) {
  auto elements = dyn_cast<DenseIntElementsAttr>(groups);
  if (!elements || elements.getType().getRank() == 2)
    return success();
  return op->emitOpError() << "expected replica groups of rank 2, got " << elements.getType();
}

static LogicalResult verifyPairwise(Operation* op) {
  return checkCount(op, "results", op->getNumResults(), op->getNumOperands());
}

// Operands and results have one shape but for dimension `dim`, where one size divides the other.
static LogicalResult verifyScaledDim(Operation* op, StringRef what, int64_t dim, bool grows) {
  for (auto [operand, result] : llvm::zip(op->getOperands(), op->getResults())) {
    auto from = rankedType(operand), to = rankedType(result);
    if (!from || !to)
      continue;
    if (from.getRank() != to.getRank())
      return op->emitOpError() << "expected operand and result of one rank, got " << from << " and "
                               << to;
    if (failed(checkDim(op, what, dim, from.getRank())))
      return failure();
    Dims expected(from.getShape());
    int64_t& scaled = expected[static_cast<size_t>(dim)];
    const int64_t actual = to.getDimSize(static_cast<unsigned>(dim));
    const bool known = !ShapedType::isDynamic(scaled) && !ShapedType::isDynamic(actual);
    const int64_t larger = grows ? actual : scaled, smaller = grows ? scaled : actual;
    if (known && smaller != 0 && larger % smaller != 0)
      return op->emitOpError() << "expected sizes in dimension " << dim
                               << " of which one divides the other, got " << scaled << " and "
                               << actual;
    scaled = ShapedType::kDynamic;
    if (failed(checkShape(op, "a result", to, expected)))
      return failure();
  }
  return success();
}

template <typename CollectiveOp>
static LogicalResult verifyReducingCollective(CollectiveOp op) {
  if (failed(verifyPairwise(op)) || failed(verifyGroups(op, op.getReplicaGroups())) ||
      failed(checkRegion(op, "computation", op.getComputation(), 2)))
    return failure();
  return checkReturns(op, "computation", op.getComputation(), 1);
}

static LogicalResult verifySameShapes(Operation* op) {
  for (auto [operand, result] : llvm::zip(op->getOperandTypes(), op->getResultTypes()))
    if (failed(verifyCompatibleShape(operand, result)))
      return op->emitOpError() << "expected results of the operands' shapes, got " << operand
                               << " and " << result;
  return success();
}

LogicalResult AllReduceOp::verify() {
  if (failed(verifyReducingCollective(*this)))
    return failure();
  return verifySameShapes(*this);
}

LogicalResult CollectiveReduceOp::verify() {
  if (failed(verifyReducingCollective(*this)))
    return failure();
  return verifySameShapes(*this);
}

LogicalResult ReduceScatterOp::verify() {
  if (failed(verifyReducingCollective(*this)))
    return failure();
  return verifyScaledDim(*this, "scatter dimension", getScatterDimension(), /*grows=*/false);
}

LogicalResult AllGatherOp::verify() {
  if (failed(verifyPairwise(*this)) || failed(verifyGroups(*this, getReplicaGroups())))
    return failure();
  return verifyScaledDim(*this, "gather dimension", getAllGatherDim(), /*grows=*/true);
}

LogicalResult AllToAllOp::verify() {
  if (failed(verifyPairwise(*this)) || failed(verifyGroups(*this, getReplicaGroups())))
    return failure();
  if (getSplitCount() < 1)
    return emitOpError() << "expected a positive split count, got " << getSplitCount();
  for (Value operand : getInputs()) {
    auto type = rankedType(operand);
    if (!type)
      continue;
    if (failed(checkDim(*this, "split dimension", getSplitDimension(), type.getRank())) ||
        failed(checkDim(*this, "concat dimension", getConcatDimension(), type.getRank())))
      return failure();
    const int64_t size = type.getDimSize(static_cast<unsigned>(getSplitDimension()));
    if (!ShapedType::isDynamic(size) && size % getSplitCount() != 0)
      return emitOpError() << "expected a split dimension of a size that " << getSplitCount()
                           << " divides, got " << size;
  }
  return success();
}

LogicalResult CollectivePermuteOp::verify() {
  auto pairs = dyn_cast<DenseIntElementsAttr>(getSourceTargetPairs());
  if (failed(verifyPairwise(*this)))
    return failure();
  if (pairs && pairs.getNumElements() != 0 &&
      (pairs.getType().getRank() != 2 || pairs.getType().getDimSize(1) != 2))
    return emitOpError() << "expected source and target pairs of shape [N, 2], got "
                         << formatDims(pairs.getType().getShape());
  return verifySameShapes(*this);
}

LogicalResult CollectiveBroadcastOp::verify() {
  if (failed(verifyPairwise(*this)) || failed(verifyGroups(*this, getReplicaGroups())))
    return failure();
  return verifySameShapes(*this);
}

LogicalResult CrossReplicaSumOp::verify() {
  if (failed(verifyPairwise(*this)) || failed(verifyGroups(*this, getReplicaGroups())))
    return failure();
  return verifySameShapes(*this);
}

//===------------------------------------------------------------------------------------------===//
// Calls
//===------------------------------------------------------------------------------------------===//

LogicalResult CustomCallOp::verify() {
  if (auto layouts = getOperandLayoutsAttr())
    return checkCount(*this, "operand layouts", layouts.size(), getNumOperands());
  return success();
}

LogicalResult CompositeOp::verify() {
  return getName().empty() ? emitOpError("expected a name that is not empty") : success();
}

} // namespace nocturne::stablehlo
