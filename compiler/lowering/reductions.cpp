#include "compiler/lowering/families.h"

namespace nocturne::compiler {

void populateReductions(LoweringTypes&, mlir::RewritePatternSet&) {}

} // namespace nocturne::compiler
