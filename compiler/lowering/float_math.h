// Arithmetic on values of one float type, for emitters of long formulas.
#pragma once

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"

namespace nocturne::compiler {

class FloatMath {
public:
  // `origin` is the operation that is lowered: functions of libm are declared in its module.
  FloatMath(mlir::OpBuilder& builder, mlir::Location loc, mlir::Operation* origin,
            mlir::FloatType type)
      : builder_(builder), loc_(loc), origin_(origin), type_(type) {}

  FloatMath in(mlir::FloatType type) const { return {builder_, loc_, origin_, type}; }

  mlir::Value constant(double value) const;
  mlir::Value infinity() const;
  mlir::Value nan() const;

  mlir::Value add(mlir::Value a, mlir::Value b) const;
  mlir::Value sub(mlir::Value a, mlir::Value b) const;
  mlir::Value mul(mlir::Value a, mlir::Value b) const;
  mlir::Value div(mlir::Value a, mlir::Value b) const;
  mlir::Value neg(mlir::Value a) const;
  mlir::Value fma(mlir::Value a, mlir::Value b, mlir::Value c) const; // a * b + c, rounded once

  // Ordered comparisons: false for NaN.
  mlir::Value compare(mlir::arith::CmpFPredicate predicate, mlir::Value a, mlir::Value b) const;
  mlir::Value less(mlir::Value a, mlir::Value b) const;
  mlir::Value equal(mlir::Value a, mlir::Value b) const;
  mlir::Value isNan(mlir::Value a) const;
  mlir::Value isInf(mlir::Value a) const;
  mlir::Value isFinite(mlir::Value a) const;
  mlir::Value both(mlir::Value a, mlir::Value b) const;   // of i1
  mlir::Value either(mlir::Value a, mlir::Value b) const; // of i1
  mlir::Value negated(mlir::Value a) const;               // of i1
  mlir::Value select(mlir::Value condition, mlir::Value a, mlir::Value b) const;

  // An operation of the math dialect: apply<math::ExpOp>(x).
  template <typename Op, typename... Operands>
  mlir::Value apply(Operands... operands) const {
    return Op::create(builder_, loc_, operands...);
  }

  // Horner's scheme; the coefficient of the highest power comes first.
  mlir::Value polynomial(mlir::Value x, llvm::ArrayRef<double> coefficients) const;

  // A function of the C library on doubles, which type() must be. It returns one double or, where
  // `results` is 2, a double complex: both parts come back in registers as a struct of two doubles
  // does.
  llvm::SmallVector<mlir::Value, 2> libm(llvm::StringRef name, mlir::ValueRange arguments,
                                         unsigned results = 1) const;

  // From and to another float type.
  mlir::Value enter(mlir::Value value) const;
  mlir::Value leave(mlir::Value value, mlir::Type type) const;

  mlir::OpBuilder& builder() const { return builder_; }
  mlir::Location loc() const { return loc_; }
  mlir::FloatType type() const { return type_; }

private:
  mlir::OpBuilder& builder_;
  mlir::Location loc_;
  mlir::Operation* origin_;
  mlir::FloatType type_;
};

} // namespace nocturne::compiler
