// What MLIR says about a module, kept instead of printed.
#pragma once

#include <optional>
#include <string>

#include "mlir/IR/Diagnostics.h"

#include "engine/error.h"

namespace nocturne::compiler {

// While it lives, the first error of `context` is kept and everything else is swallowed.
class FirstError {
public:
  explicit FirstError(mlir::MLIRContext& context);

  // The error with its place, or `otherwise` when nothing was said.
  Failure failure(FailureKind kind, const std::string& otherwise) const;

private:
  mlir::ScopedDiagnosticHandler handler_;
  std::optional<Failure> first_;
};

// The place of an operation as a failure has it.
void setPlace(Failure& failure, mlir::Location location);

} // namespace nocturne::compiler
