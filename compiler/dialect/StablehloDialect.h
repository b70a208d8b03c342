// The dialect's classes: enumerations, types, attributes and operations.

#pragma once

#include "compiler/dialect/AttrHelpers.h"
#include "compiler/dialect/Traits.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/TensorEncoding.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "compiler/dialect/generated/Dialect.h.inc"
#include "compiler/dialect/generated/Enums.h.inc"

#define GET_TYPEDEF_CLASSES
#include "compiler/dialect/generated/Types.h.inc"

#define GET_ATTRDEF_CLASSES
#include "compiler/dialect/generated/Attrs.h.inc"
