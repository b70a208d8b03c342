#include "compiler/lowering/scalars.h"

namespace nocturne::compiler {

void addArithmetic(ScalarTable&) {}

} // namespace nocturne::compiler
