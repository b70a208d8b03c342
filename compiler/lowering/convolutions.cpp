#include "compiler/lowering/families.h"

namespace nocturne::compiler {

void populateConvolutions(LoweringTypes&, mlir::RewritePatternSet&) {}

} // namespace nocturne::compiler
