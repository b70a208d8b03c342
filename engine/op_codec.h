// Binary form of tensor types and operations, the inner part of module tables.
#pragma once

#include "engine/byte_stream.h"
#include "engine/op_info.h"

namespace nocturne {

void writeType(ByteWriter& out, const TensorType& type);
TensorType readType(ByteReader& in);
void writeOp(ByteWriter& out, const OpInfo& op);
OpInfo readOp(ByteReader& in);

} // namespace nocturne
