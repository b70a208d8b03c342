// Part 2 of 6 of the generated operation definitions: one unit with all of them would need two
// gigabytes and more than a minute of the compiler's time.

#include "compiler/dialect/AssemblyFormats.h"
#include "compiler/dialect/StablehloOps.h"

#define GET_OP_DEFS_2
#include "compiler/dialect/generated/Ops.cpp.inc"
