// Which buffers may share memory.
#pragma once

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Value.h"

namespace nocturne::compiler {

// What a buffer is a view of, and whether that is known to be memory of its own.
struct BufferBase {
  mlir::Value buffer;
  bool known = false;
};
BufferBase baseOf(mlir::Value buffer);

// False only where the two can have no element in common.
bool mayOverlap(mlir::Value a, mlir::Value b);

// Whether the operands of `op` are all the memory that it uses: a gather reads in its body as well.
bool usesOnlyOperands(mlir::linalg::LinalgOp op);

} // namespace nocturne::compiler
