#include "compiler/reader/locations.h"

#include "mlir/IR/BuiltinAttributes.h"

namespace nocturne::compiler {

namespace {

// Aliases let a file nest locations without any bracket, so the search has an end.
constexpr unsigned kMaxSteps = 64;

std::optional<mlir::FileLineColLoc> search(mlir::LocationAttr location, unsigned& steps) {
  while (steps++ < kMaxSteps) {
    if (auto file = mlir::dyn_cast<mlir::FileLineColLoc>(location))
      return file;
    if (auto range = mlir::dyn_cast<mlir::FileLineColRange>(location))
      return mlir::FileLineColLoc::get(range.getFilename(), range.getStartLine(),
                                       range.getStartColumn());
    if (auto name = mlir::dyn_cast<mlir::NameLoc>(location)) {
      location = name.getChildLoc();
    } else if (auto call = mlir::dyn_cast<mlir::CallSiteLoc>(location)) {
      location = call.getCallee();
    } else if (auto fused = mlir::dyn_cast<mlir::FusedLoc>(location)) {
      for (mlir::Location part : fused.getLocations())
        if (std::optional<mlir::FileLineColLoc> found = search(part, steps))
          return found;
      return std::nullopt;
    } else {
      return std::nullopt;
    }
  }
  return std::nullopt;
}

} // namespace

std::optional<mlir::FileLineColLoc> fileLocation(mlir::Location location) {
  unsigned steps = 0;
  return search(location, steps);
}

} // namespace nocturne::compiler
