// What elementwise operations do to one element. The bodies of reducers, comparators and update
// functions are made of the same operations on tensors of rank 0, so everything that computes goes
// through this table.
#pragma once

#include "mlir/IR/Builders.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/StringMap.h"

namespace nocturne::compiler {

// One elementwise operation at one element.
struct ScalarCall {
  mlir::Operation* op; // for its attributes and name; do not use its operands
  llvm::SmallVector<mlir::Type> operandElements; // StableHLO element types (signed or not), with
                                                 // floats narrower than f32 replaced by f32
  mlir::Type resultElement;                      // likewise
  mlir::ValueRange operands;                     // of computeType(operandElements[i])
};

// An element type as a call has it.
mlir::Type widened(mlir::Type element);

// Gives the value of computeType(resultElement), or null for element types that it does not know.
using ScalarEmitter = mlir::Value (*)(mlir::OpBuilder& builder, mlir::Location loc,
                                      const ScalarCall& call);

class ScalarTable {
public:
  // `name` is the full name ("stablehlo.add", "chlo.erf").
  void add(llvm::StringRef name, ScalarEmitter emitter) { emitters_[name] = emitter; }
  ScalarEmitter find(llvm::StringRef name) const { return emitters_.lookup(name); }

private:
  llvm::StringMap<ScalarEmitter> emitters_;
};

// All of them; built once.
const ScalarTable& scalarTable();

// Emits `op` on held (storageType) values: decodes, calls the emitter, encodes. Operations that
// only move bits (select) are not decoded. Null when there is no emitter, or none for these types.
mlir::Value emitScalarOp(mlir::OpBuilder& builder, mlir::Location loc, mlir::Operation* op,
                         mlir::ValueRange stored);

// Emits the body of a region whose arguments and results are tensors of rank 0, on held values.
// Constants, elementwise operations, reshapes and broadcasts between tensors of rank 0, calls that
// were inlined and stablehlo.return are understood; anything else fails with an error at its place.
mlir::LogicalResult emitScalarBody(mlir::OpBuilder& builder, mlir::Block& body,
                                   mlir::ValueRange stored,
                                   llvm::SmallVectorImpl<mlir::Value>& results);

// Each family adds its operations.
void addArithmetic(ScalarTable& table);  // add .. xor, shifts, compare, clamp, select, min, max
void addConversions(ScalarTable& table); // convert, reduce_precision, real, imag, complex
void addMath(ScalarTable& table);        // exponential .. tanh, power, atan2, rounding on reals
void addComplexMath(ScalarTable& table); // the same names on complex: see below
void addChloMath(ScalarTable& table);    // chlo.* with a scalar meaning

// Emitters of addMath ask this for complex operands: addComplexMath's function for `name`.
ScalarEmitter complexEmitter(llvm::StringRef name);
// What it gives for `call`; null when there is no such function.
mlir::Value emitComplex(mlir::OpBuilder& builder, mlir::Location loc, const ScalarCall& call);

} // namespace nocturne::compiler
