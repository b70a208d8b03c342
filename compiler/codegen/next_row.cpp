#include "compiler/codegen/next_row.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

namespace nocturne::compiler {

using namespace mlir;

namespace {

constexpr int64_t kLineBytes = 64, kStepBytes = 1024;
// Shorter rows are fetched by the processor itself; three longer ones fill the second cache.
constexpr int64_t kLeastRowBytes = 2048, kMostRowBytes = 128 << 10;
// Smaller buffers may be in the second cache anyway.
constexpr int64_t kLeastBufferBytes = 1 << 20;
constexpr int64_t kLeastRows = 8;

int64_t bytesOf(MemRefType type) {
  return type.getNumElements() * (type.getElementTypeBitWidth() / 8);
}

// The dimension of the buffer whose index is that of the loop, if the others are fixed.
std::optional<unsigned> rowDimension(memref::SubViewOp row, scf::ForOp rows) {
  std::optional<unsigned> found;
  for (auto [dim, offset] : llvm::enumerate(row.getMixedOffsets())) {
    if (getConstantIntValue(offset))
      continue;
    if (found || llvm::dyn_cast<Value>(offset) != rows.getInductionVar())
      return std::nullopt;
    found = unsigned(dim);
  }
  return found;
}

bool isDenseRow(MemRefType type) {
  llvm::SmallVector<int64_t> strides;
  int64_t offset = 0;
  return type.getRank() == 1 && type.hasStaticShape() && type.getElementType().isIntOrFloat() &&
         succeeded(type.getStridesAndOffset(strides, offset)) && strides[0] == 1;
}

bool isReadBefore(Value row, Operation* op) {
  return llvm::any_of(row.getUsers(), [&](Operation* user) {
    return user->getBlock() == op->getBlock() && user->isBeforeInBlock(op) &&
           isa<linalg::LinalgOp>(user);
  });
}

} // namespace

std::optional<NextRow> NextRow::readAgainBy(linalg::GenericOp op) {
  auto rows = dyn_cast<scf::ForOp>(op->getParentOp());
  std::optional<int64_t> end = rows ? getConstantIntValue(rows.getUpperBound()) : std::nullopt;
  if (!end || *end < kLeastRows || getConstantIntValue(rows.getStep()) != 1)
    return std::nullopt;
  for (Value input : op.getDpsInputs()) {
    auto row = input.getDefiningOp<memref::SubViewOp>();
    if (!row || !rows.isDefinedOutsideOfLoop(row.getSource()) || !isDenseRow(row.getType()) ||
        !row.getSourceType().hasStaticShape() || !isReadBefore(row, op))
      continue;
    const int64_t bytes = bytesOf(row.getType());
    std::optional<unsigned> dim = rowDimension(row, rows);
    if (dim && bytes >= kLeastRowBytes && bytes <= kMostRowBytes &&
        bytesOf(row.getSourceType()) >= kLeastBufferBytes)
      return NextRow(row, rows, *dim, *end - 1);
  }
  return std::nullopt;
}

int64_t NextRow::elementBytes() {
  return row_.getType().getElementTypeBitWidth() / 8;
}

int64_t NextRow::step() {
  return kStepBytes / elementBytes();
}

void NextRow::find(OpBuilder& b) {
  Location loc = row_.getLoc();
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  Value last = arith::ConstantIndexOp::create(b, loc, last_);
  Value following = arith::AddIOp::create(b, loc, rows_.getInductionVar(), one);
  llvm::SmallVector<OpFoldResult> offsets = row_.getMixedOffsets();
  offsets[dim_] = arith::MinSIOp::create(b, loc, following, last).getResult();
  next_ = memref::SubViewOp::create(b, loc, row_.getType(), row_.getSource(), offsets,
                                    row_.getMixedSizes(), row_.getMixedStrides());
}

void NextRow::request(OpBuilder& b, Value first) {
  Location loc = row_.getLoc();
  Value end = arith::AddIOp::create(b, loc, first, arith::ConstantIndexOp::create(b, loc, step()));
  Value line = arith::ConstantIndexOp::create(b, loc, kLineBytes / elementBytes());
  OpBuilder::InsertionGuard guard(b);
  auto lines = scf::ForOp::create(b, loc, first, end, line);
  b.setInsertionPointToStart(lines.getBody());
  constexpr uint32_t firstCache = 3;
  memref::PrefetchOp::create(b, loc, next_, lines.getInductionVar(), /*isWrite=*/false, firstCache,
                             /*isDataCache=*/true);
}

} // namespace nocturne::compiler
