#include "compiler/lowering/families.h"

namespace nocturne::compiler {

void populateSorting(LoweringTypes&, mlir::RewritePatternSet&) {}

} // namespace nocturne::compiler
