#include "compiler/lowering/families.h"

namespace nocturne::compiler {

void populateMovement(LoweringTypes&, mlir::RewritePatternSet&) {}

} // namespace nocturne::compiler
