#include "compiler/drivers/code_generator.h"

namespace nocturne::compiler {

CodeGenerator::~CodeGenerator() = default;

} // namespace nocturne::compiler
