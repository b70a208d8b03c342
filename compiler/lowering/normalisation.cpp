#include "compiler/lowering/families.h"

namespace nocturne::compiler {

void populateNormalisation(LoweringTypes&, mlir::RewritePatternSet&) {}

} // namespace nocturne::compiler
