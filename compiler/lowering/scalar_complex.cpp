#include "compiler/lowering/scalars.h"

namespace nocturne::compiler {

void addComplexMath(ScalarTable&) {}

ScalarEmitter complexEmitter(llvm::StringRef) {
  return nullptr;
}

} // namespace nocturne::compiler
