#include "compiler/lowering/families.h"

namespace nocturne::compiler {

void populateShapes(LoweringTypes&, mlir::RewritePatternSet&) {}

} // namespace nocturne::compiler
