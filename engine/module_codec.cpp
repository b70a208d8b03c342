// The binary form of a module table. In order: magic, version, name, files, digests, distinct
// operations, distinct multiplicities, rows, value ids, arguments, results, peak bytes,
// assumptions. A row stores what differs from the row before it, which leaves about a dozen bytes.
#include <algorithm>
#include <limits>
#include <unordered_map>
#include <utility>

#include "engine/module.h"
#include "engine/op_codec.h"

namespace nocturne {

namespace {

constexpr std::string_view kMagic = "NoMT";
constexpr size_t kLeastRowBytes = 6;
constexpr size_t kFirstOps = 1024;

// Bits of a row's first byte.
enum RowFlag : uint8_t {
  SameMultiplicity = 1, // as the row before
  SameNesting = 2,      // file, call depth and loop depth as the row before
  OperandsFollow = 4,   // the value ids begin where those of the row before end
  NextTopLevel = 8,     // the next operation of the entry function
};

uint64_t endOfValues(const OpRow& row) {
  return uint64_t{row.firstOperand} + row.operandCount + row.resultCount;
}

bool sameNesting(const OpRow& a, const OpRow& b) {
  return a.file == b.file && a.callDepth == b.callDepth && a.loopDepth == b.loopDepth;
}

int64_t difference(uint32_t value, uint32_t before) {
  return static_cast<int64_t>(value) - static_cast<int64_t>(before);
}

uint32_t advance(uint32_t before, int64_t by) {
  constexpr int64_t kLargest = std::numeric_limits<uint32_t>::max();
  if (by < -kLargest || by > kLargest || before + by < 0 || before + by > kLargest)
    ByteReader::fail("a number is out of range");
  return static_cast<uint32_t>(before + by);
}

bool sameBits(double a, double b) {
  return std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b);
}

double readFinite(ByteReader& in) {
  double value = in.real();
  if (value - value != 0) // infinities and NaN
    ByteReader::fail("a number is not finite");
  return value;
}

void writeTypes(ByteWriter& out, const std::vector<TensorType>& types) {
  out.number(types.size());
  for (const TensorType& type : types)
    writeType(out, type);
}

std::vector<TensorType> readTypes(ByteReader& in) {
  std::vector<TensorType> types(in.count(4));
  for (TensorType& type : types)
    type = readType(in);
  return types;
}

// Most rows share a few multiplicities: they are stored once.
struct Multiplicities {
  std::vector<double> values;
  std::unordered_map<uint64_t, uint32_t> places; // by bits

  explicit Multiplicities(const std::vector<OpRow>& rows) {
    for (const OpRow& row : rows)
      if (places
              .emplace(std::bit_cast<uint64_t>(row.multiplicity),
                       static_cast<uint32_t>(values.size()))
              .second)
        values.push_back(row.multiplicity);
  }
  uint32_t placeOf(double value) const { return places.at(std::bit_cast<uint64_t>(value)); }
};

uint8_t rowFlags(const OpRow& row, const OpRow& before) {
  int flags = 0;
  if (sameBits(row.multiplicity, before.multiplicity))
    flags |= SameMultiplicity;
  if (sameNesting(row, before))
    flags |= SameNesting;
  if (row.firstOperand == endOfValues(before))
    flags |= OperandsFollow;
  if (difference(row.topLevel, before.topLevel) == 1)
    flags |= NextTopLevel;
  return static_cast<uint8_t>(flags);
}

void writeRow(ByteWriter& out, const OpRow& row, const OpRow& before, const Multiplicities& table) {
  uint8_t flags = rowFlags(row, before);
  out.byte(flags);
  out.number(row.op);
  out.signedNumber(difference(row.line, before.line));
  out.number(row.column);
  out.number(row.operandCount);
  out.number(row.resultCount);
  if ((flags & SameMultiplicity) == 0)
    out.number(table.placeOf(row.multiplicity));
  if ((flags & SameNesting) == 0) {
    out.number(row.file);
    out.number(row.callDepth);
    out.number(row.loopDepth);
  }
  if ((flags & OperandsFollow) == 0)
    out.number(row.firstOperand);
  if ((flags & NextTopLevel) == 0)
    out.signedNumber(difference(row.topLevel, before.topLevel));
}

void writeRows(ByteWriter& out, const Module& module) {
  Multiplicities table(module.rows);
  out.number(table.values.size());
  for (double value : table.values)
    out.real(value);
  out.number(module.rows.size());
  OpRow before;
  for (const OpRow& row : module.rows) {
    writeRow(out, row, before, table);
    before = row;
  }
}

std::vector<double> readMultiplicities(ByteReader& in) {
  std::vector<double> values(in.count(8));
  for (double& value : values) {
    value = readFinite(in);
    if (value < 0)
      ByteReader::fail("a negative multiplicity");
  }
  return values;
}

OpRow readRow(ByteReader& in, const OpRow& before, const std::vector<double>& multiplicities) {
  OpRow row = before;
  uint8_t flags = in.byte();
  if (flags > (SameMultiplicity | SameNesting | OperandsFollow | NextTopLevel))
    ByteReader::fail("no such kind of row");
  row.op = in.small<uint32_t>();
  row.line = advance(before.line, in.signedNumber());
  row.column = in.small<uint32_t>();
  row.operandCount = in.small<uint16_t>();
  row.resultCount = in.small<uint16_t>();
  if ((flags & SameMultiplicity) == 0) {
    uint64_t place = in.number();
    if (place >= multiplicities.size())
      ByteReader::fail("no such multiplicity");
    row.multiplicity = multiplicities[place];
  }
  if ((flags & SameNesting) == 0) {
    row.file = in.small<uint16_t>();
    row.callDepth = in.small<uint16_t>();
    row.loopDepth = in.small<uint16_t>();
  }
  // Checked against the list of values once that is known.
  row.firstOperand = (flags & OperandsFollow) != 0
                         ? advance(0, static_cast<int64_t>(endOfValues(before)))
                         : in.small<uint32_t>();
  row.topLevel = advance(before.topLevel, (flags & NextTopLevel) != 0 ? 1 : in.signedNumber());
  return row;
}

void readRows(ByteReader& in, Module& module) {
  std::vector<double> multiplicities = readMultiplicities(in);
  size_t count = in.count(kLeastRowBytes);
  module.rows.reserve(count);
  OpRow before;
  for (size_t i = 0; i < count; ++i) {
    before = readRow(in, before, multiplicities);
    module.rows.push_back(before);
  }
}

void writeValues(ByteWriter& out, const std::vector<uint32_t>& values) {
  out.number(values.size());
  uint32_t before = 0;
  for (uint32_t value : values) {
    out.signedNumber(difference(value, before));
    before = value;
  }
}

std::vector<uint32_t> readValues(ByteReader& in) {
  std::vector<uint32_t> values(in.count());
  uint32_t before = 0;
  for (uint32_t& value : values)
    before = value = advance(before, in.signedNumber());
  return values;
}

void checkRows(const Module& module) {
  for (const OpRow& row : module.rows)
    if (row.op >= module.ops.size() || row.file >= module.files.size() ||
        endOfValues(row) > module.valueIds.size())
      ByteReader::fail("a row points at nothing");
}

void readHeader(ByteReader& in) {
  if (in.remaining() < kMagic.size() || in.raw(kMagic.size()) != kMagic)
    throw Error("the bytes are no module table");
  uint64_t version = in.number();
  if (version != kModuleTableVersion)
    throw Error("the module table has version " + std::to_string(version) + ", not " +
                std::to_string(kModuleTableVersion));
}

// files[0] is the path, which is the caller's to know.
void readFiles(ByteReader& in, Module& module) {
  size_t count = in.count();
  module.files.resize(1);
  for (size_t i = 0; i < count; ++i)
    module.files.emplace_back(in.text());
}

void readAssumptions(ByteReader& in, Module& module) {
  size_t count = in.count(3);
  for (size_t i = 0; i < count; ++i) {
    Assumption assumption;
    assumption.kind = in.text();
    assumption.value = in.text();
    assumption.location = in.text();
    module.assumptions.push_back(std::move(assumption));
  }
}

} // namespace

std::string serialise(const Module& module) {
  std::string bytes(kMagic);
  bytes.reserve(1024 + 16 * module.rows.size() + 128 * module.ops.size());
  ByteWriter out(bytes);
  out.number(kModuleTableVersion);
  out.text(module.name);
  out.number(module.files.empty() ? 0 : module.files.size() - 1);
  for (size_t i = 1; i < module.files.size(); ++i)
    out.text(module.files[i]);
  out.digest(module.contentHash);
  out.digest(module.fingerprint);
  out.number(module.ops.size());
  for (const OpInfo& op : module.ops)
    writeOp(out, op);
  writeRows(out, module);
  writeValues(out, module.valueIds);
  writeTypes(out, module.arguments);
  writeTypes(out, module.results);
  out.real(module.peakBytes);
  out.number(module.assumptions.size());
  for (const Assumption& assumption : module.assumptions) {
    out.text(assumption.kind);
    out.text(assumption.value);
    out.text(assumption.location);
  }
  return bytes;
}

Module deserialiseModule(std::string_view bytes) {
  ByteReader in(bytes);
  readHeader(in);
  Module module;
  module.name = in.text();
  readFiles(in, module);
  module.contentHash = in.digest();
  module.fingerprint = in.digest();
  size_t ops = in.count();
  // Not all of them in advance: an operation is far larger than its bytes may be.
  module.ops.reserve(std::min(ops, kFirstOps));
  for (size_t i = 0; i < ops; ++i)
    module.ops.push_back(readOp(in));
  readRows(in, module);
  module.valueIds = readValues(in);
  module.arguments = readTypes(in);
  module.results = readTypes(in);
  module.peakBytes = readFinite(in);
  readAssumptions(in, module);
  in.expectEnd();
  checkRows(module);
  finishModule(module);
  return module;
}

} // namespace nocturne
