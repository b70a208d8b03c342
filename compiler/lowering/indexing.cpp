#include "compiler/lowering/families.h"

namespace nocturne::compiler {

void populateIndexing(LoweringTypes&, mlir::RewritePatternSet&) {}

} // namespace nocturne::compiler
