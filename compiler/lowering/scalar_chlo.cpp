#include "compiler/lowering/scalars.h"

namespace nocturne::compiler {

void addChloMath(ScalarTable&) {}

} // namespace nocturne::compiler
