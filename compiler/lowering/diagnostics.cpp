#include "compiler/lowering/diagnostics.h"

#include "mlir/IR/BuiltinAttributes.h"

#include "compiler/reader/locations.h"

namespace nocturne::compiler {

void setPlace(Failure& failure, mlir::Location location) {
  if (std::optional<mlir::FileLineColLoc> place = fileLocation(location)) {
    failure.file = place->getFilename().str();
    failure.line = place->getLine();
    failure.column = place->getColumn();
  }
}

FirstError::FirstError(mlir::MLIRContext& context)
    : handler_(&context, [this](mlir::Diagnostic& diagnostic) {
        if (first_ || diagnostic.getSeverity() != mlir::DiagnosticSeverity::Error)
          return;
        first_ = Failure{FailureKind::Internal, diagnostic.str(), "", 0, 0};
        setPlace(*first_, diagnostic.getLocation());
      }) {}

Failure FirstError::failure(FailureKind kind, const std::string& otherwise) const {
  Failure failure = first_.value_or(Failure{kind, otherwise, "", 0, 0});
  failure.kind = kind;
  return failure;
}

} // namespace nocturne::compiler
