#include "compiler/lowering/families.h"

namespace nocturne::compiler {

void populateElementwise(LoweringTypes&, mlir::RewritePatternSet&) {}

} // namespace nocturne::compiler
