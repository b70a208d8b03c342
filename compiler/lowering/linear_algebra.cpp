#include "compiler/lowering/families.h"

namespace nocturne::compiler {

void populateLinearAlgebra(LoweringTypes&, mlir::RewritePatternSet&) {}

} // namespace nocturne::compiler
