// Elementary functions of f32 as arithmetic, which becomes vector code where a call of libm does
// not. Reductions of arguments and polynomials are those of Moshier's Cephes library (expf, logf,
// tanhf of its single directory); errors stay below 2 units in the last place.
#include <initializer_list>
#include <limits>
#include <memory>

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

#include "compiler/codegen/optimize.h"

namespace nocturne::compiler {

using namespace mlir;

namespace {

constexpr int32_t kExponentBias = 127, kMantissaBits = 23;

// Arithmetic on f32 in which products and sums may become one operation.
class Emitter {
public:
  // `scales`: whether the processor multiplies by powers of 2 in one instruction.
  Emitter(OpBuilder& builder, Location loc, bool scales)
      : b_(builder), loc_(loc), scales_(scales) {}

  Value number(float value) {
    return arith::ConstantOp::create(b_, loc_, b_.getF32FloatAttr(value));
  }
  Value whole(int32_t value) {
    return arith::ConstantOp::create(b_, loc_, b_.getI32IntegerAttr(value));
  }
  Value add(Value a, Value b) {
    return arith::AddFOp::create(b_, loc_, a, b, arith::FastMathFlags::contract);
  }
  Value subtract(Value a, Value b) {
    return arith::SubFOp::create(b_, loc_, a, b, arith::FastMathFlags::contract);
  }
  Value multiply(Value a, Value b) {
    return arith::MulFOp::create(b_, loc_, a, b, arith::FastMathFlags::contract);
  }
  Value divide(Value a, Value b) { return arith::DivFOp::create(b_, loc_, a, b); }
  Value absolute(Value a) { return math::AbsFOp::create(b_, loc_, a); }
  Value withSign(Value a, Value sign) { return math::CopySignOp::create(b_, loc_, a, sign); }
  Value plus(Value a, int32_t value) { return arith::AddIOp::create(b_, loc_, a, whole(value)); }
  Value minus(Value a, Value b) { return arith::SubIOp::create(b_, loc_, a, b); }
  Value bits(Value a) { return arith::BitcastOp::create(b_, loc_, b_.getI32Type(), a); }
  Value fromBits(Value a) { return arith::BitcastOp::create(b_, loc_, b_.getF32Type(), a); }
  Value toFloat(Value a) { return arith::SIToFPOp::create(b_, loc_, b_.getF32Type(), a); }
  Value shiftLeft(Value a, int32_t by) { return arith::ShLIOp::create(b_, loc_, a, whole(by)); }
  Value shiftRight(Value a, int32_t by) { return arith::ShRSIOp::create(b_, loc_, a, whole(by)); }
  Value both(Value a, int32_t mask) { return arith::AndIOp::create(b_, loc_, a, whole(mask)); }
  Value compare(arith::CmpFPredicate predicate, Value a, float value) {
    return arith::CmpFOp::create(b_, loc_, predicate, a, number(value));
  }
  Value select(Value condition, Value yes, Value no) {
    return arith::SelectOp::create(b_, loc_, condition, yes, no);
  }
  // a * 2^n for n between -252 and 254. In two steps where the processor has none, because 2^n
  // alone may be no normal number where the result still is one.
  Value scale(Value a, Value n) {
    if (scales_)
      return LLVM::LoadExpOp::create(b_, loc_, a.getType(), a, n);
    Value half = shiftRight(n, 1);
    return multiply(multiply(a, powerOf2(half)), powerOf2(minus(n, half)));
  }
  Value polynomial(Value x, std::initializer_list<float> highestFirst) {
    Value sum;
    for (float coefficient : highestFirst)
      sum = sum ? add(multiply(sum, x), number(coefficient)) : number(coefficient);
    return sum;
  }

private:
  // For normal numbers.
  Value powerOf2(Value n) { return fromBits(shiftLeft(plus(n, kExponentBias), kMantissaBits)); }

  OpBuilder& b_;
  Location loc_;
  bool scales_;
};

constexpr auto kLess = arith::CmpFPredicate::OLT, kGreater = arith::CmpFPredicate::OGT,
               kEqual = arith::CmpFPredicate::OEQ;

// exp(x) = 2^n exp(r) with |r| <= log(2) / 2. Compares are false for NaN, which so goes through.
Value exponential(Emitter& e, Value x) {
  constexpr float lowest = -104.0F, highest = 88.8F; // 0 and infinity beyond
  constexpr float rounder = 12582912.0F;             // 1.5 * 2^23: the sum has no digits below 1
  constexpr int32_t roundedZero = 0x4B400000;        // the bits of `rounder`
  constexpr float log2High = 0.693359375F, log2Low = -2.12194440e-4F;
  x = e.select(e.compare(kLess, x, lowest), e.number(lowest), x);
  x = e.select(e.compare(kGreater, x, highest), e.number(highest), x);
  Value shifted = e.add(e.multiply(x, e.number(1.44269504088896341F)), e.number(rounder));
  Value n = e.subtract(shifted, e.number(rounder));
  Value r = e.subtract(e.subtract(x, e.multiply(n, e.number(log2High))),
                       e.multiply(n, e.number(log2Low)));
  Value p = e.polynomial(r, {1.9875691500e-4F, 1.3981999507e-3F, 8.3334519073e-3F, 4.1665795894e-2F,
                             1.6666665459e-1F, 5.0000001201e-1F});
  p = e.add(e.add(e.multiply(e.multiply(r, r), p), r), e.number(1.0F));
  return e.scale(p, e.plus(e.bits(shifted), -roundedZero));
}

// log(x) = n log(2) + log(m) with m in [sqrt(1/2), sqrt(2)).
Value logarithm(Emitter& e, Value x) {
  constexpr float leastNormal = 1.17549435e-38F, scale = 8388608.0F; // 2^23
  constexpr int32_t rootOfHalf = 0x3F3504F3, mantissa = 0x007FFFFF;
  constexpr float log2High = 0.693359375F, log2Low = -2.12194440e-4F;
  Value small = e.compare(kLess, x, leastNormal);
  Value normal = e.select(small, e.multiply(x, e.number(scale)), x);
  // Counted from sqrt(1/2), the exponent is that of the nearest power of 2 and the rest is m.
  Value shifted = e.plus(e.bits(normal), 0x3F800000 - rootOfHalf);
  Value exponent = e.plus(e.shiftRight(shifted, kMantissaBits), -kExponentBias);
  Value n = e.toFloat(exponent);
  n = e.subtract(n, e.select(small, e.number(float(kMantissaBits)), e.number(0.0F)));
  Value m = e.subtract(e.fromBits(e.plus(e.both(shifted, mantissa), rootOfHalf)), e.number(1.0F));
  Value square = e.multiply(m, m);
  Value p = e.polynomial(m, {7.0376836292e-2F, -1.1514610310e-1F, 1.1676998740e-1F,
                             -1.2420140846e-1F, 1.4249322787e-1F, -1.6668057665e-1F,
                             2.0000714765e-1F, -2.4999993993e-1F, 3.3333331174e-1F});
  Value y = e.multiply(e.multiply(p, m), square);
  y = e.add(y, e.multiply(n, e.number(log2Low)));
  y = e.subtract(y, e.multiply(square, e.number(0.5F)));
  y = e.add(e.add(m, y), e.multiply(n, e.number(log2High)));
  const float infinity = std::numeric_limits<float>::infinity();
  y = e.select(e.compare(kEqual, x, infinity), x, y);
  y = e.select(e.compare(kEqual, x, 0.0F), e.number(-infinity), y);
  // Also true for NaN.
  return e.select(e.compare(arith::CmpFPredicate::ULT, x, 0.0F),
                  e.number(std::numeric_limits<float>::quiet_NaN()), y);
}

Value hyperbolicTangent(Emitter& e, Value x) {
  constexpr float small = 0.625F;
  Value size = e.absolute(x);
  Value grown = exponential(e, e.add(size, size));
  Value large = e.subtract(e.number(1.0F), e.divide(e.number(2.0F), e.add(grown, e.number(1.0F))));
  Value z = e.multiply(x, x);
  Value p = e.polynomial(z, {-5.70498872745e-3F, 2.06390887954e-2F, -5.37397155531e-2F,
                             1.33314422036e-1F, -3.33332819422e-1F});
  Value near = e.add(e.multiply(e.multiply(p, z), x), x);
  // Of a zero, too, the sign stays.
  return e.withSign(e.select(e.compare(kLess, size, small), near, large), x);
}

template <typename Op>
struct Expand : OpRewritePattern<Op> {
  Expand(MLIRContext* context, bool scales, Value (*formula)(Emitter&, Value))
      : OpRewritePattern<Op>(context), scales_(scales), formula_(formula) {}

  LogicalResult matchAndRewrite(Op op, PatternRewriter& rewriter) const override {
    if (!op.getType().isF32())
      return failure();
    Emitter emitter(rewriter, op.getLoc(), scales_);
    rewriter.replaceOp(op, formula_(emitter, op.getOperand()));
    return success();
  }

private:
  bool scales_;
  Value (*formula_)(Emitter&, Value);
};

// LLVM's own form, which it can turn into a vector reduction, before others take it to pieces.
template <typename Op, typename Intrinsic>
struct KeepWhole : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;

  LogicalResult matchAndRewrite(Op op, PatternRewriter& rewriter) const override {
    if (!op.getType().isF32() && !op.getType().isF64())
      return failure();
    const bool anyZero = bitEnumContainsAll(op.getFastmath(), arith::FastMathFlags::nsz);
    auto whole = rewriter.replaceOpWithNewOp<Intrinsic>(op, op.getLhs(), op.getRhs());
    if (anyZero)
      whole.setFastmathFlags(LLVM::FastmathFlags::nsz);
    return success();
  }
};

class ExpandMath : public PassWrapper<ExpandMath, OperationPass<func::FuncOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ExpandMath)

  explicit ExpandMath(const VectorUnit& unit) : scales_(unit.bytes == 64) {}
  ExpandMath(const ExpandMath&) = default;

  llvm::StringRef getName() const override { return "expand-math"; }
  void getDependentDialects(DialectRegistry& registry) const override {
    registry.insert<arith::ArithDialect, LLVM::LLVMDialect, math::MathDialect>();
  }

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<Expand<math::ExpOp>>(&getContext(), scales_, exponential);
    patterns.add<Expand<math::LogOp>>(&getContext(), scales_, logarithm);
    patterns.add<Expand<math::TanhOp>>(&getContext(), scales_, hyperbolicTangent);
    patterns.add<KeepWhole<arith::MaximumFOp, LLVM::MaximumOp>,
                 KeepWhole<arith::MinimumFOp, LLVM::MinimumOp>>(&getContext());
    walkAndApplyPatterns(getOperation(), std::move(patterns));
  }

private:
  bool scales_; // AVX-512 does, and so do LLVM's vectors then
};

} // namespace

std::unique_ptr<Pass> createExpandMathPass(const VectorUnit& unit) {
  return std::make_unique<ExpandMath>(unit);
}

} // namespace nocturne::compiler
