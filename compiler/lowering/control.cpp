#include "compiler/lowering/families.h"

namespace nocturne::compiler {

void populateControl(LoweringTypes&, mlir::RewritePatternSet&) {}

} // namespace nocturne::compiler
