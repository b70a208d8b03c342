#include "engine/module.h"

#include <limits>
#include <utility>

#include "engine/error.h"
#include "engine/exact_sum.h"
#include "engine/op_codec.h"

namespace nocturne {

namespace {

void countRows(Module& module) {
  std::vector<ExactSum> runs(module.ops.size());
  module.opRows.assign(module.ops.size(), 0);
  for (const OpRow& row : module.rows) {
    if (row.op >= module.ops.size())
      throw Error("a row of module '" + module.name + "' names operation " +
                  std::to_string(row.op) + " of " + std::to_string(module.ops.size()));
    ++module.opRows[row.op];
    runs[row.op].add(row.multiplicity);
  }
  module.opRuns.clear();
  module.opRuns.reserve(runs.size());
  for (const ExactSum& sum : runs)
    module.opRuns.push_back(sum.value());
}

void countCollectives(Module& module) {
  ExactSum count, bytes;
  for (size_t i = 0; i < module.ops.size(); ++i) {
    if (!isCollective(module.ops[i].name))
      continue;
    count.add(module.opRuns[i]);
    bytes.addProduct(module.ops[i].operandBytes(), module.opRuns[i]);
  }
  module.collectives = count.value();
  module.collectiveBytes = bytes.value();
}

uint16_t valueCount(const std::vector<TensorType>& types) {
  if (types.size() > std::numeric_limits<uint16_t>::max())
    throw Error("an operation has more than 65535 operands or results");
  return static_cast<uint16_t>(types.size());
}

// What a built module has in place of a file and of a canonical walk.
Digest digestOf(const Module& module, std::string_view purpose) {
  std::string bytes;
  ByteWriter out(bytes);
  for (const OpInfo& op : module.ops)
    writeOp(out, op);
  for (const OpRow& row : module.rows) {
    out.number(row.op);
    out.real(row.multiplicity);
  }
  out.number(module.arguments.size());
  for (const TensorType& type : module.arguments)
    writeType(out, type);
  for (const TensorType& type : module.results)
    writeType(out, type);
  return Hasher().field(purpose).field(module.name).field(bytes).finish();
}

} // namespace

std::string Module::place(const OpRow& row) const {
  std::string out = row.file < files.size() ? files[row.file] : path;
  if (row.line != 0) {
    out += ':' + std::to_string(row.line);
    if (row.column != 0)
      out += ':' + std::to_string(row.column);
  }
  return out;
}

void finishModule(Module& module) {
  countRows(module);
  countCollectives(module);
}

ModuleBuilder::ModuleBuilder(std::string name) {
  module_.path = name;
  module_.files = {name};
  module_.name = std::move(name);
}

ModuleBuilder& ModuleBuilder::add(OpInfo op, double multiplicity) {
  OpRow row;
  row.multiplicity = multiplicity;
  row.topLevel = static_cast<uint32_t>(module_.rows.size());
  row.operandCount = valueCount(op.operands);
  row.resultCount = valueCount(op.results);
  row.firstOperand = static_cast<uint32_t>(module_.valueIds.size());
  for (unsigned i = 0; i < unsigned{row.operandCount} + row.resultCount; ++i)
    module_.valueIds.push_back(static_cast<uint32_t>(module_.valueIds.size()));

  auto next = static_cast<uint32_t>(module_.ops.size());
  auto [place, isNew] = index_.emplace(serialise(op), next);
  if (isNew)
    module_.ops.push_back(std::move(op));
  row.op = place->second;
  module_.rows.push_back(row);
  return *this;
}

ModuleBuilder& ModuleBuilder::argument(TensorType type) {
  module_.arguments.push_back(std::move(type));
  return *this;
}

ModuleBuilder& ModuleBuilder::result(TensorType type) {
  module_.results.push_back(std::move(type));
  return *this;
}

Module ModuleBuilder::build() {
  Module module = module_;
  module.contentHash = digestOf(module, "content of a built module");
  module.fingerprint = digestOf(module, "fingerprint of a built module");
  finishModule(module);
  return module;
}

} // namespace nocturne
