// Asking for the next row of a buffer while there is something to compute on this one.
#pragma once

#include <optional>

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace nocturne::compiler {

// A row in a loop over the rows of a buffer beyond the caches. Who first reads it has to wait for
// memory, unless it was asked for before.
class NextRow {
public:
  // The row that `op` reads again after another operation did, if asking for the next one while
  // `op` computes is worthwhile.
  static std::optional<NextRow> readAgainBy(mlir::linalg::GenericOp op);

  // So many elements are computed between two requests: the processor keeps only some dozens.
  int64_t step();
  // Makes the next row, at the builder's place in the loop over rows.
  void find(mlir::OpBuilder& b);
  // Asks for the next row's elements from `first` on, one step() of them.
  void request(mlir::OpBuilder& b, mlir::Value first);

private:
  NextRow(mlir::memref::SubViewOp row, mlir::scf::ForOp rows, unsigned dim, int64_t last)
      : row_(row), rows_(rows), dim_(dim), last_(last) {}
  int64_t elementBytes();

  mlir::memref::SubViewOp row_;
  mlir::scf::ForOp rows_;
  unsigned dim_; // of the buffer, that rows are counted along
  int64_t last_; // row
  mlir::Value next_;
};

} // namespace nocturne::compiler
