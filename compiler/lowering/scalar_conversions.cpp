#include "compiler/lowering/scalars.h"

namespace nocturne::compiler {

void addConversions(ScalarTable&) {}

} // namespace nocturne::compiler
