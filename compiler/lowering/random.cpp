#include "compiler/lowering/families.h"

namespace nocturne::compiler {

void populateRandom(LoweringTypes&, mlir::RewritePatternSet&) {}

} // namespace nocturne::compiler
