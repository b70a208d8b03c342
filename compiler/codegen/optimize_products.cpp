// Matrix products and convolutions as packed blocks and register tiles, after Goto and van de
// Geijn, "Anatomy of High-Performance Matrix Multiplication" (ACM TOMS 34, 2008): a panel of the
// right side stays in the first cache, a block of the left one in the second, and the innermost
// loop adds to a tile of the result that stays in registers.
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"

#include "compiler/codegen/optimize.h"
#include "compiler/codegen/optimize_product.h"

namespace nocturne::compiler {

using namespace mlir;

namespace {

int64_t ceilDiv(int64_t a, int64_t b) {
  return (a + b - 1) / b;
}

// The largest part of `extent` of at most `limit`, a multiple of `unit`, so that all parts are of
// about the same size.
int64_t evenPart(int64_t extent, int64_t limit, int64_t unit) {
  const int64_t parts = ceilDiv(extent, std::max(limit, unit));
  return ceilDiv(ceilDiv(extent, parts), unit) * unit;
}

// Sizes of blocks and tiles, in elements.
struct Plan {
  int64_t lanes = 1;             // of a vector
  int64_t tileRows = 1;          // of the tile in registers
  int64_t tileVectors = 1;       // of each of its rows
  int64_t rows = 1, columns = 1; // of a block
  int64_t sums = 1;              // products added before the tile goes back to memory
  size_t blocked = 0;            // loops of the product's sums from this one on are in a block
  bool packLhs = true, packRhs = true;

  int64_t tileColumns() const { return lanes * tileVectors; }
};

// Loops over sums that go into one block: as many of the innermost as fit, or a part of the last.
void planSums(const Product& product, int64_t limit, Plan& plan) {
  plan.blocked = product.sums.size() - 1;
  plan.sums = product.sums.back().extent;
  if (plan.sums > limit) {
    plan.sums = evenPart(plan.sums, limit, 1);
    return;
  }
  while (plan.blocked > 0 && plan.sums * product.sums[plan.blocked - 1].extent <= limit)
    plan.sums *= product.sums[--plan.blocked].extent;
}

std::optional<Plan> planFor(const Product& product, const VectorUnit& unit,
                            const ProductSizes& sizes) {
  constexpr int64_t leastWork = 4096; // products; below that, packing costs more than it saves
  constexpr int64_t packedBytes = 4 << 20;
  const int64_t panelBytes = int64_t(sizes.panelKib ? sizes.panelKib : 24) << 10;
  const int64_t blockBytes = int64_t(sizes.blockKib ? sizes.blockKib : 256) << 10;
  Plan plan;
  FloatType element = product.element;
  const int64_t bytes = element.getWidth() / 8;
  plan.lanes = unit.bytes / bytes;
  const int64_t rows = product.rowCount(), columns = product.columns.extent;
  if (columns < plan.lanes || product.sumCount() < 4 ||
      rows * columns * product.sumCount() < leastWork)
    return std::nullopt;
  const bool wide = unit.registers >= 32;
  // Few rows leave registers free for more columns, which keeps enough additions under way.
  plan.tileVectors = rows >= 4 ? 2 : rows >= 2 ? 4 : 8;
  if (sizes.tileVectors)
    plan.tileVectors = sizes.tileVectors;
  plan.tileVectors = std::min(plan.tileVectors, ceilDiv(columns, plan.lanes));
  const int64_t mostRows = wide ? 12 : unit.fma ? 6 : 4;
  const int64_t fewRows = 3;
  plan.tileRows = std::min(rows, sizes.tileRows ? sizes.tileRows : rows >= 4 ? mostRows : fewRows);
  planSums(product, panelBytes / (plan.tileColumns() * bytes), plan);
  plan.columns = evenPart(columns, packedBytes / (plan.sums * bytes), plan.tileColumns());
  plan.rows = evenPart(rows, blockBytes / (plan.sums * bytes), plan.tileRows);
  const bool oneSum = plan.blocked + 1 == product.sums.size();
  const ProductLoop& inner = product.sums.back();
  plan.packRhs = !(oneSum && product.columns.rhs == 1 && rows <= 2 * plan.tileRows);
  plan.packLhs = !(oneSum && (rows < 4 || (inner.lhs == 1 && columns <= 16 * plan.lanes)));
  // Nothing is gained where every element of the right side is used once and lies apart.
  if (rows < 4 && plan.packRhs)
    return std::nullopt;
  return plan;
}

// Makes the loops of one product.
class ProductEmitter {
public:
  ProductEmitter(OpBuilder& builder, Location loc, const Product& product, const Plan& plan,
                 bool fma)
      : b_(builder), loc_(loc), product_(product), plan_(plan), fma_(fma),
        vector_(VectorType::get({plan.lanes}, product.element)) {}

  void emit() {
    lhs_ = flat(product_.lhs);
    rhs_ = flat(product_.rhs);
    result_ = flat(product_.result);
    if (plan_.packLhs)
      packedLhs_ = scratch(plan_.rows * plan_.sums);
    if (plan_.packRhs)
      packedRhs_ = scratch(plan_.columns * plan_.sums);
    Value zero = index(0);
    emitOuter(0, {zero, zero, zero});
    for (Value buffer : {packedLhs_, packedRhs_})
      if (buffer)
        memref::DeallocOp::create(b_, loc_, buffer);
  }

private:
  // Places in the three buffers.
  struct Places {
    Value lhs, rhs, result;
  };
  // A part of the loops over rows, columns or sums: where it begins and how much it has.
  struct Part {
    Value begin, size;
  };
  using Body = llvm::function_ref<void(Value)>;

  Value index(int64_t value) { return arith::ConstantIndexOp::create(b_, loc_, value); }
  Value add(Value a, Value b) { return b_.createOrFold<arith::AddIOp>(loc_, a, b); }
  Value subtract(Value a, Value b) { return b_.createOrFold<arith::SubIOp>(loc_, a, b); }
  Value times(Value a, int64_t factor) {
    return b_.createOrFold<arith::MulIOp>(loc_, a, index(factor));
  }
  Value dividedBy(Value a, int64_t divisor) {
    return b_.createOrFold<arith::DivUIOp>(loc_, a, index(divisor));
  }
  Value rest(Value a, int64_t divisor) {
    return b_.createOrFold<arith::RemUIOp>(loc_, a, index(divisor));
  }

  void loop(Value from, Value to, int64_t step, Body body) {
    scf::ForOp::create(b_, loc_, from, to, index(step), ValueRange(),
                       [&](OpBuilder&, Location, Value at, ValueRange) {
                         body(at);
                         scf::YieldOp::create(b_, loc_);
                       });
  }

  // Parts of at most `size`; the last may be smaller.
  void parts(int64_t extent, int64_t size, llvm::function_ref<void(Part)> body) {
    if (size >= extent)
      return body({index(0), index(extent)});
    loop(index(0), index(extent), size, [&](Value begin) {
      Value left = subtract(index(extent), begin);
      body({begin, arith::MinUIOp::create(b_, loc_, left, index(size))});
    });
  }

  // All of a buffer as one row of elements.
  Value flat(Value buffer) {
    auto type = cast<MemRefType>(buffer.getType());
    llvm::SmallVector<int64_t> strides;
    int64_t offset = 0, size = 1;
    (void)type.getStridesAndOffset(strides, offset); // readProduct() has seen them
    for (auto [extent, stride] : llvm::zip(type.getShape(), strides))
      size += (extent - 1) * stride;
    auto layout = StridedLayoutAttr::get(b_.getContext(), offset, {1});
    auto row = MemRefType::get({size}, type.getElementType(), layout, type.getMemorySpace());
    OpFoldResult start = b_.getIndexAttr(offset);
    if (ShapedType::isDynamic(offset))
      start = memref::ExtractStridedMetadataOp::create(b_, loc_, buffer).getOffset();
    OpFoldResult length = b_.getIndexAttr(size), one = b_.getIndexAttr(1);
    return memref::ReinterpretCastOp::create(b_, loc_, row, buffer, start, {length}, {one});
  }

  Value scratch(int64_t size) {
    constexpr int64_t cacheLine = 64;
    return memref::AllocOp::create(b_, loc_, MemRefType::get({size}, product_.element),
                                   b_.getI64IntegerAttr(cacheLine));
  }

  Places moved(Places at, Value by, const ProductLoop& loop) {
    return {add(at.lhs, times(by, loop.lhs)), add(at.rhs, times(by, loop.rhs)),
            add(at.result, times(by, loop.result))};
  }

  void emitOuter(size_t depth, Places at) {
    llvm::ArrayRef<ProductLoop> outer = product_.outer;
    llvm::ArrayRef<ProductLoop> sums = llvm::ArrayRef(product_.sums).take_front(plan_.blocked);
    if (depth == outer.size() + sums.size())
      return emitSums(at);
    const ProductLoop& next = depth < outer.size() ? outer[depth] : sums[depth - outer.size()];
    loop(index(0), index(next.extent), 1,
         [&](Value i) { emitOuter(depth + 1, moved(at, i, next)); });
  }

  void emitSums(Places at) {
    llvm::ArrayRef<ProductLoop> inner = llvm::ArrayRef(product_.sums).drop_front(plan_.blocked);
    const int64_t extent = inner.size() == 1 ? inner[0].extent : plan_.sums;
    parts(extent, plan_.sums, [&](Part sums) {
      Places here = inner.size() == 1 ? moved(at, sums.begin, inner[0]) : at;
      parts(product_.columns.extent, plan_.columns, [&](Part columns) {
        Places block = moved(here, columns.begin, product_.columns);
        if (plan_.packRhs)
          packRhs(block.rhs, columns, sums.size);
        parts(product_.rowCount(), plan_.rows, [&](Part rows) {
          if (plan_.packLhs)
            packLhs(block.lhs, rows, sums.size);
          emitBlock(block, rows, columns, sums.size);
        });
      });
    });
  }

  // Calls `body` with the first of each panel of `width` and with how many it has, which is known
  // when code is made: all of them, or what is left of `extent` at its end.
  void panels(Part part, int64_t extent, int64_t width,
              llvm::function_ref<void(Value, int64_t)> body) {
    const int64_t last = extent % width;
    Value full = part.size;
    if (last != 0)
      full = times(dividedBy(part.size, width), width);
    if (extent >= width)
      loop(index(0), full, width, [&](Value first) { body(first, width); });
    if (last == 0)
      return;
    Value any = arith::CmpIOp::create(b_, loc_, arith::CmpIPredicate::ult, full, part.size);
    scf::IfOp::create(b_, loc_, any, [&](OpBuilder&, Location) {
      body(full, last);
      scf::YieldOp::create(b_, loc_);
    });
  }

  // The loops over sums of a block: `body` gets how far each side has moved and which sum it is.
  void sumLoops(Value count, llvm::function_ref<void(Value lhs, Value rhs, Value sum)> body) {
    Value zero = index(0);
    sumLoop(plan_.blocked, count, zero, zero, zero, body);
  }

  void sumLoop(size_t depth, Value count, Value lhs, Value rhs, Value sum,
               llvm::function_ref<void(Value, Value, Value)> body) {
    if (depth == product_.sums.size())
      return body(lhs, rhs, sum);
    const ProductLoop& next = product_.sums[depth];
    const bool only = plan_.blocked + 1 == product_.sums.size();
    loop(index(0), only ? count : index(next.extent), 1, [&](Value i) {
      sumLoop(depth + 1, count, add(lhs, times(i, next.lhs)), add(rhs, times(i, next.rhs)),
              add(times(sum, next.extent), i), body);
    });
  }

  // Where row `row` begins in the left side.
  Value rowPlace(Value lhs, Value row) {
    llvm::ArrayRef<ProductLoop> rows = product_.rows;
    for (size_t i = rows.size(); i-- > 0;) {
      Value at = i == 0 ? row : rest(row, rows[i].extent);
      lhs = add(lhs, times(at, rows[i].lhs));
      if (i > 0)
        row = dividedBy(row, rows[i].extent);
    }
    return lhs;
  }

  llvm::SmallVector<Value> rowPlaces(Value lhs, Value first, int64_t count) {
    llvm::SmallVector<Value> places;
    for (int64_t r = 0; r < count; ++r)
      places.push_back(rowPlace(lhs, add(first, index(r))));
    return places;
  }

  Value element(Value buffer, Value at) { return memref::LoadOp::create(b_, loc_, buffer, at); }
  void setElement(Value value, Value buffer, Value at) {
    memref::StoreOp::create(b_, loc_, value, buffer, at);
  }

  // Panels of tileRows rows; in each, the rows' elements of one sum lie side by side.
  void packLhs(Value lhs, Part rows, Value sums) {
    panels(rows, product_.rowCount(), plan_.tileRows, [&](Value first, int64_t count) {
      llvm::SmallVector<Value> places = rowPlaces(lhs, add(rows.begin, first), count);
      Value panel = b_.createOrFold<arith::MulIOp>(loc_, first, sums);
      sumLoops(sums, [&](Value byLhs, Value, Value sum) {
        Value to = add(panel, times(sum, plan_.tileRows));
        for (auto [r, place] : llvm::enumerate(places))
          setElement(element(lhs_, add(place, byLhs)), packedLhs_, add(to, index(int64_t(r))));
      });
    });
  }

  // Panels of tileColumns columns, whose elements of one sum lie side by side; zeros fill the last.
  void packRhs(Value rhs, Part columns, Value sums) {
    const int64_t width = plan_.tileColumns(), stride = product_.columns.rhs;
    panels(columns, product_.columns.extent, width, [&](Value first, int64_t count) {
      Value panel = b_.createOrFold<arith::MulIOp>(loc_, first, sums);
      Value from = add(rhs, times(first, stride));
      if (stride != 1 && count < width)
        loop(panel, add(panel, times(sums, width)), plan_.lanes,
             [&](Value at) { vector::StoreOp::create(b_, loc_, zeros(), packedRhs_, at); });
      if (stride != 1) {
        loop(index(0), index(count), 1, [&](Value column) {
          Value source = add(from, times(column, stride)), target = add(panel, column);
          sumLoops(sums, [&](Value, Value byRhs, Value sum) {
            setElement(element(rhs_, add(source, byRhs)), packedRhs_,
                       add(target, times(sum, width)));
          });
        });
        return;
      }
      sumLoops(sums, [&](Value, Value byRhs, Value sum) {
        Value source = add(from, byRhs), to = add(panel, times(sum, width));
        for (int64_t v = 0; v < plan_.tileVectors; ++v)
          vector::StoreOp::create(b_, loc_, load(rhs_, source, v, count), packedRhs_,
                                  add(to, index(v * plan_.lanes)));
      });
    });
  }

  Value zeros() { return arith::ConstantOp::create(b_, loc_, b_.getZeroAttr(vector_)); }

  // Which lanes of vector `v` of a row of `count` columns there are; null for all.
  Value mask(int64_t v, int64_t count) {
    const int64_t left = count - v * plan_.lanes;
    if (left >= plan_.lanes)
      return {};
    return vector::ConstantMaskOp::create(b_, loc_, VectorType::get({plan_.lanes}, b_.getI1Type()),
                                          llvm::ArrayRef<int64_t>{std::max<int64_t>(left, 0)});
  }

  Value load(Value buffer, Value row, int64_t v, int64_t count) {
    if (v * plan_.lanes >= count)
      return zeros();
    Value at = add(row, index(v * plan_.lanes));
    if (Value lanes = mask(v, count))
      return vector::MaskedLoadOp::create(b_, loc_, vector_, buffer, at, lanes, zeros());
    return vector::LoadOp::create(b_, loc_, vector_, buffer, at);
  }

  void store(Value value, Value buffer, Value row, int64_t v, int64_t count) {
    Value at = add(row, index(v * plan_.lanes));
    if (Value lanes = mask(v, count))
      vector::MaskedStoreOp::create(b_, loc_, buffer, at, lanes, value);
    else
      vector::StoreOp::create(b_, loc_, value, buffer, at);
  }

  void emitBlock(Places at, Part rows, Part columns, Value sums) {
    panels(columns, product_.columns.extent, plan_.tileColumns(), [&](Value column, int64_t width) {
      panels(rows, product_.rowCount(), plan_.tileRows, [&](Value row, int64_t height) {
        emitTile(at, rows.begin, row, height, column, width, sums);
      });
    });
  }

  void emitTile(Places at, Value rowsBegin, Value row, int64_t height, Value column, int64_t width,
                Value sums) {
    const int64_t vectors = ceilDiv(width, plan_.lanes);
    const int64_t rowStride = product_.rows.empty() ? 0 : product_.rows.back().result;
    const ProductLoop& inner = product_.sums.back();
    Value first = add(rowsBegin, row);
    llvm::SmallVector<Value> lhsRows, resultRows, tile;
    if (plan_.packLhs) {
      Value panel = b_.createOrFold<arith::MulIOp>(loc_, row, sums);
      for (int64_t r = 0; r < height; ++r)
        lhsRows.push_back(add(panel, index(r)));
    } else {
      lhsRows = rowPlaces(at.lhs, first, height);
    }
    Value rhs =
        plan_.packRhs ? b_.createOrFold<arith::MulIOp>(loc_, column, sums) : add(at.rhs, column);
    Value result = add(add(at.result, column), times(first, rowStride));
    for (int64_t r = 0; r < height; ++r)
      resultRows.push_back(add(result, index(r * rowStride)));
    for (int64_t r = 0; r < height; ++r)
      for (int64_t v = 0; v < vectors; ++v)
        tile.push_back(load(result_, resultRows[size_t(r)], v, width));
    const int64_t lhsStep = plan_.packLhs ? plan_.tileRows : inner.lhs;
    const int64_t rhsStep = plan_.packRhs ? plan_.tileColumns() : inner.rhs;
    auto loop = scf::ForOp::create(
        b_, loc_, index(0), sums, index(1), tile,
        [&](OpBuilder&, Location, Value sum, ValueRange carried) {
          llvm::SmallVector<Value> factors, next;
          Value from = add(rhs, times(sum, rhsStep));
          for (int64_t v = 0; v < vectors; ++v)
            factors.push_back(plan_.packRhs ? load(packedRhs_, from, v, plan_.tileColumns())
                                            : load(rhs_, from, v, width));
          Value by = times(sum, lhsStep);
          for (int64_t r = 0; r < height; ++r) {
            Value scalar = element(plan_.packLhs ? packedLhs_ : lhs_, add(lhsRows[size_t(r)], by));
            Value splat = vector::BroadcastOp::create(b_, loc_, vector_, scalar);
            for (int64_t v = 0; v < vectors; ++v)
              next.push_back(sumWith(splat, factors[size_t(v)], carried[size_t(r * vectors + v)]));
          }
          scf::YieldOp::create(b_, loc_, next);
        });
    for (int64_t r = 0; r < height; ++r)
      for (int64_t v = 0; v < vectors; ++v)
        store(loop.getResult(unsigned(r * vectors + v)), result_, resultRows[size_t(r)], v, width);
  }

  Value sumWith(Value a, Value b, Value sum) {
    if (fma_)
      return vector::FMAOp::create(b_, loc_, a, b, sum);
    return arith::AddFOp::create(b_, loc_, sum, arith::MulFOp::create(b_, loc_, a, b));
  }

  OpBuilder& b_;
  Location loc_;
  const Product& product_;
  const Plan& plan_;
  bool fma_;
  VectorType vector_;
  Value lhs_, rhs_, result_, packedLhs_, packedRhs_;
};

class TileProducts : public PassWrapper<TileProducts, OperationPass<func::FuncOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TileProducts)

  TileProducts(const VectorUnit& unit, const ProductSizes& sizes) : unit_(unit), sizes_(sizes) {}
  TileProducts(const TileProducts&) = default;

  llvm::StringRef getName() const override { return "tile-products"; }
  void getDependentDialects(DialectRegistry& registry) const override {
    registry.insert<arith::ArithDialect, memref::MemRefDialect, scf::SCFDialect,
                    vector::VectorDialect>();
  }

  void runOnOperation() override {
    llvm::SmallVector<linalg::LinalgOp> ops;
    getOperation().walk([&](linalg::LinalgOp op) { ops.push_back(op); });
    for (linalg::LinalgOp op : ops) {
      std::optional<Product> product = readProduct(op);
      std::optional<Plan> plan = product ? planFor(*product, unit_, sizes_) : std::nullopt;
      if (!plan)
        continue;
      OpBuilder builder(op);
      ProductEmitter(builder, op.getLoc(), *product, *plan, unit_.fma).emit();
      op->erase();
    }
  }

private:
  VectorUnit unit_;
  ProductSizes sizes_;
};

} // namespace

std::unique_ptr<Pass> createTileProductsPass(const VectorUnit& unit, const ProductSizes& sizes) {
  return std::make_unique<TileProducts>(unit, sizes);
}

} // namespace nocturne::compiler
