// The dialect's operations. Apart from StablehloDialect.h because they are the expensive part:
// about 28,000 generated lines.

#pragma once

#include "compiler/dialect/StablehloDialect.h"

#define GET_OP_CLASSES
#include "compiler/dialect/generated/Ops.h.inc"
