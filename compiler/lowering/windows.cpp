#include "compiler/lowering/families.h"

namespace nocturne::compiler {

void populateWindows(LoweringTypes&, mlir::RewritePatternSet&) {}

} // namespace nocturne::compiler
