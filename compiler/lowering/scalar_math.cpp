#include "compiler/lowering/scalars.h"

namespace nocturne::compiler {

void addMath(ScalarTable&) {}

} // namespace nocturne::compiler
