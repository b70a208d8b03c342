#include "compiler/reader/trip_count.h"

#include <algorithm>

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/StringSwitch.h"

#include "compiler/reader/attributes.h"
#include "compiler/reader/entry.h"

namespace nocturne::compiler {

namespace {

// Real bounds are a few steps away; a hostile file can chain as many as it likes.
constexpr unsigned kMaxDepth = 48, kMaxSteps = 20000;

// Arithmetic that may exceed 64 bits, as bounds at the ends of a type do.
__extension__ using Wide = __int128;

std::optional<int64_t> narrow(Wide value) {
  if (value < INT64_MIN || value > INT64_MAX)
    return std::nullopt;
  return static_cast<int64_t>(value);
}

std::optional<int64_t> integerValue(mlir::Operation* op) {
  mlir::Attribute value = op->getAttr("value");
  llvm::APInt number;
  bool isUnsigned = false;
  if (auto scalar = mlir::dyn_cast_or_null<mlir::IntegerAttr>(value)) {
    number = scalar.getValue();
  } else {
    auto dense = mlir::dyn_cast_or_null<mlir::DenseIntElementsAttr>(value);
    if (!dense || !dense.isSplat())
      return std::nullopt;
    number = dense.getSplatValue<llvm::APInt>();
    isUnsigned = dense.getElementType().isUnsignedInteger();
  }
  if (isUnsigned)
    return number.getActiveBits() < 64 ? std::optional<int64_t>(number.getZExtValue())
                                       : std::nullopt;
  if (number.getSignificantBits() > 64)
    return std::nullopt;
  return number.getSExtValue();
}

// The region whose block argument or terminator is meant has one block.
mlir::Operation* terminatorOf(mlir::Region& region) {
  if (!region.hasOneBlock() || region.front().empty())
    return nullptr;
  return &region.front().back();
}

bool passesThrough(llvm::StringRef name) {
  return llvm::StringSwitch<bool>(name)
      .Cases({"stablehlo.convert", "stablehlo.reshape", "stablehlo.broadcast_in_dim",
              "stablehlo.broadcast", "stablehlo.bitcast_convert", "sdy.sharding_constraint"},
             true)
      .Default(false);
}

std::string flipped(llvm::StringRef direction) {
  return llvm::StringSwitch<std::string>(direction)
      .Case("LT", "GT")
      .Case("LE", "GE")
      .Case("GT", "LT")
      .Case("GE", "LE")
      .Default(direction.str());
}

std::optional<double> ceilDivide(Wide distance, Wide step) {
  if (distance <= 0)
    return 0;
  // A loop that walks away from its bound ends by overflow, which nobody means.
  if (step <= 0)
    return std::nullopt;
  return static_cast<double>((distance + step - 1) / step);
}

} // namespace

std::optional<double> countTrips(llvm::StringRef direction, int64_t start, int64_t bound,
                                 int64_t step) {
  Wide distance = Wide{bound} - start;
  if (direction == "LT")
    return ceilDivide(distance, step);
  if (direction == "LE")
    return ceilDivide(distance + 1, step);
  if (direction == "GT")
    return ceilDivide(-distance, -Wide{step});
  if (direction == "GE")
    return ceilDivide(-distance + 1, -Wide{step});
  if (direction == "NE") {
    if (distance == 0)
      return 0;
    if (step == 0 || distance % step != 0 || distance / step < 0)
      return std::nullopt;
    return static_cast<double>(distance / step);
  }
  if (direction == "EQ")
    return distance != 0 ? std::optional<double>(0)
           : step != 0   ? std::optional<double>(1)
                         : std::nullopt;
  return std::nullopt;
}

std::optional<int64_t> TripCounts::constant(mlir::Value value, const Frame* frame, unsigned depth) {
  std::optional<Linear> found = linear(value, mlir::Value(), frame, depth);
  if (!found || found->counter)
    return std::nullopt;
  return found->offset;
}

std::optional<TripCounts::Linear> TripCounts::linear(mlir::Value value, mlir::Value variable,
                                                     const Frame* frame, unsigned depth) {
  if (depth > kMaxDepth || ++steps_ > kMaxSteps)
    return std::nullopt;
  if (value == variable)
    return Linear{true, 0};
  if (auto blockArgument = mlir::dyn_cast<mlir::BlockArgument>(value))
    return argument(blockArgument, variable, frame, depth + 1);
  auto result = mlir::cast<mlir::OpResult>(value);
  mlir::Operation* op = result.getOwner();
  const OpKind& kind = kinds_.of(op);
  if (kind.treatment == Treatment::Constant) {
    std::optional<int64_t> number = integerValue(op);
    return number ? std::optional<Linear>({false, *number}) : std::nullopt;
  }
  if (passesThrough(kind.name) && op->getNumOperands() >= 1)
    return linear(op->getOperand(0), variable, frame, depth + 1);
  if (kind.name == "stablehlo.optimization_barrier" && op->getNumOperands() == op->getNumResults())
    return linear(op->getOperand(result.getResultNumber()), variable, frame, depth + 1);
  if (kind.treatment == Treatment::While)
    return invariantOf(op, result.getResultNumber(), frame, depth + 1);
  if (mlir::Operation* callee = calls_.callee(op)) {
    mlir::Operation* end = terminatorOf(callee->getRegion(0));
    if (!end || result.getResultNumber() >= end->getNumOperands())
      return std::nullopt;
    Frame inner{op, frame};
    return linear(end->getOperand(result.getResultNumber()), variable, &inner, depth + 1);
  }
  return arithmetic(op, variable, frame, depth + 1);
}

std::optional<TripCounts::Linear> TripCounts::arithmetic(mlir::Operation* op, mlir::Value variable,
                                                         const Frame* frame, unsigned depth) {
  llvm::StringRef name = kinds_.of(op).name;
  if (!name.consume_front("stablehlo.") || op->getNumOperands() != 2 || op->getNumResults() != 1)
    return std::nullopt;
  bool keepsCounter = name == "add" || name == "subtract";
  if (!keepsCounter && name != "multiply" && name != "minimum" && name != "maximum")
    return std::nullopt;
  std::optional<Linear> a = linear(op->getOperand(0), variable, frame, depth);
  std::optional<Linear> b = a ? linear(op->getOperand(1), variable, frame, depth) : std::nullopt;
  if (!b || (a->counter && (b->counter || !keepsCounter)) || (b->counter && name != "add"))
    return std::nullopt;
  Wide x = a->offset, y = b->offset;
  Wide value = name == "add"        ? x + y
               : name == "subtract" ? x - y
               : name == "multiply" ? x * y
               : name == "minimum"  ? std::min(x, y)
                                    : std::max(x, y);
  std::optional<int64_t> offset = narrow(value);
  return offset ? std::optional<Linear>({a->counter || b->counter, *offset}) : std::nullopt;
}

std::optional<TripCounts::Linear> TripCounts::argument(mlir::BlockArgument value,
                                                       mlir::Value variable, const Frame* frame,
                                                       unsigned depth) {
  mlir::Operation* parent = value.getOwner()->getParentOp();
  if (!parent || !value.getOwner()->isEntryBlock())
    return std::nullopt;
  unsigned index = value.getArgNumber();
  if (isFunction(parent))
    return parameterOf(parent, index, variable, frame, depth);
  Treatment treatment = kinds_.of(parent).treatment;
  if (treatment == Treatment::While)
    return invariantOf(parent, index, frame, depth);
  if (treatment == Treatment::Inline && index < parent->getNumOperands())
    return linear(parent->getOperand(index), variable, frame, depth);
  return std::nullopt;
}

// A carried value that the body hands on unchanged is what it was before the loop.
std::optional<TripCounts::Linear> TripCounts::invariantOf(mlir::Operation* loop, unsigned index,
                                                          const Frame* frame, unsigned depth) {
  if (loop->getNumRegions() != 2 || index >= loop->getNumOperands())
    return std::nullopt;
  mlir::Region& body = loop->getRegion(1);
  mlir::Operation* end = terminatorOf(body);
  if (!end || index >= end->getNumOperands() || index >= body.getNumArguments() ||
      end->getOperand(index) != body.getArgument(index))
    return std::nullopt;
  std::optional<int64_t> start = constant(loop->getOperand(index), frame, depth);
  return start ? std::optional<Linear>({false, *start}) : std::nullopt;
}

std::optional<TripCounts::Linear> TripCounts::parameterOf(mlir::Operation* function, unsigned index,
                                                          mlir::Value variable, const Frame* frame,
                                                          unsigned depth) {
  if (frame) {
    if (index >= frame->call->getNumOperands())
      return std::nullopt;
    return linear(frame->call->getOperand(index), variable, frame->outer, depth);
  }
  // The table of a function is shared by its calls, so all of them have to agree.
  llvm::ArrayRef<mlir::Operation*> calls = calls_.callsTo(function);
  if (calls.empty() || calls_.isEntry(function) || calls.size() > 64)
    return std::nullopt;
  std::optional<int64_t> agreed;
  for (mlir::Operation* call : calls) {
    if (index >= call->getNumOperands())
      return std::nullopt;
    std::optional<int64_t> value = constant(call->getOperand(index), nullptr, depth);
    if (!value || (agreed && *agreed != *value))
      return std::nullopt;
    agreed = value;
  }
  return Linear{false, *agreed};
}

std::optional<TripCounts::Comparison> TripCounts::comparisonOf(mlir::Value condition) {
  mlir::Operation* compare = condition.getDefiningOp();
  for (unsigned i = 0; i < kMaxDepth && compare && passesThrough(kinds_.of(compare).name); ++i)
    compare = compare->getOperand(0).getDefiningOp();
  if (!compare || kinds_.of(compare).attributes != AttributeFamily::Compare ||
      compare->getNumOperands() != 2)
    return std::nullopt;
  mlir::Attribute direction = compare->getAttr("comparison_direction");
  if (!direction)
    return std::nullopt;
  return Comparison{enumText(direction), compare->getOperand(0), compare->getOperand(1)};
}

std::optional<double> TripCounts::of(mlir::Operation* loop) {
  steps_ = 0;
  if (loop->getNumRegions() != 2)
    return std::nullopt;
  mlir::Region& condition = loop->getRegion(0);
  mlir::Region& body = loop->getRegion(1);
  mlir::Operation* test = terminatorOf(condition);
  mlir::Operation* end = terminatorOf(body);
  if (!test || !end || test->getNumOperands() != 1)
    return std::nullopt;
  std::optional<Comparison> compare = comparisonOf(test->getOperand(0));
  if (!compare)
    return std::nullopt;
  unsigned carried = std::min({condition.getNumArguments(), body.getNumArguments(),
                               end->getNumOperands(), loop->getNumOperands()});
  for (unsigned index = 0; index < carried; ++index) {
    mlir::Value variable = condition.getArgument(index);
    std::optional<Linear> lhs = linear(compare->lhs, variable, nullptr, 0);
    std::optional<Linear> rhs = linear(compare->rhs, variable, nullptr, 0);
    if (!lhs || !rhs || lhs->counter == rhs->counter)
      continue;
    Linear moving = lhs->counter ? *lhs : *rhs, fixed = lhs->counter ? *rhs : *lhs;
    std::optional<int64_t> start = constant(loop->getOperand(index), nullptr, 0);
    std::optional<Linear> step =
        linear(end->getOperand(index), body.getArgument(index), nullptr, 0);
    std::optional<int64_t> bound = narrow(Wide{fixed.offset} - moving.offset);
    if (!start || !step || !step->counter || !bound)
      return std::nullopt;
    return countTrips(lhs->counter ? compare->direction : flipped(compare->direction), *start,
                      *bound, step->offset);
  }
  return std::nullopt;
}

} // namespace nocturne::compiler
