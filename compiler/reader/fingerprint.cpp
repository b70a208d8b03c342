#include "compiler/reader/fingerprint.h"

#include <string>

#include "engine/op_codec.h"

namespace nocturne::compiler {

namespace {

// Raise it when the form below changes. Types and operations stand in it as in a module table,
// whose version is therefore hashed as well.
constexpr uint64_t kFormVersion = 2;

constexpr size_t kChunk = size_t{1} << 16;

void flush(Hasher& hasher, std::string& buffer) {
  hasher.raw(buffer);
  buffer.clear();
}

void writeTypes(ByteWriter& out, const std::vector<TensorType>& types) {
  out.number(types.size());
  for (const TensorType& type : types)
    writeType(out, type);
}

void writeRow(ByteWriter& out, const Module& module, const OpRow& row) {
  out.number(row.op);
  out.real(row.multiplicity);
  out.number(row.callDepth);
  out.number(row.loopDepth);
  out.number(row.operandCount);
  out.number(row.resultCount);
  for (size_t i = 0; i < size_t{row.operandCount} + row.resultCount; ++i)
    out.number(module.valueIds[row.firstOperand + i]);
}

} // namespace

// Every variable part is preceded by its length, so that no two modules have one form.
Digest fingerprintOf(const Module& module) {
  Hasher hasher;
  std::string buffer;
  buffer.reserve(2 * kChunk);
  ByteWriter out(buffer);
  out.number(kFormVersion);
  out.number(kModuleTableVersion);
  writeTypes(out, module.arguments);
  writeTypes(out, module.results);
  out.number(module.ops.size());
  for (const OpInfo& op : module.ops) {
    writeOp(out, op);
    if (buffer.size() >= kChunk)
      flush(hasher, buffer);
  }
  for (const OpRow& row : module.rows) {
    writeRow(out, module, row);
    if (buffer.size() >= kChunk)
      flush(hasher, buffer);
  }
  flush(hasher, buffer);
  return hasher.finish();
}

} // namespace nocturne::compiler
