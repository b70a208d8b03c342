#include "compiler/lowering/families.h"

namespace nocturne::compiler {

void populateContractions(LoweringTypes&, mlir::RewritePatternSet&) {}

} // namespace nocturne::compiler
