// The attributes that costs depend on, as the engine's typed fields.
#pragma once

#include "mlir/IR/Operation.h"

#include "compiler/reader/op_kinds.h"
#include "engine/op_info.h"

namespace nocturne::compiler {

// Fields of `info`, whose operand and result types are set, from the operation. What is missing
// gets the specification's default; an attribute of a kind that is not known leaves its field
// empty.
OpAttributes readAttributes(mlir::Operation* op, const OpKind& kind, const OpInfo& info);

// As an enumeration attribute is written: "LT" for `#stablehlo<comparison_direction LT>`, also in
// the quoted form of older releases and in dialects that are only kept as text.
std::string enumText(mlir::Attribute attribute);

} // namespace nocturne::compiler
