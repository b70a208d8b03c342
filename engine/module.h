// The table that a StableHLO module becomes: flat, free of MLIR, immutable once built, shared
// between actors by shared_ptr<const Module>. See docs/architecture.md for how the reader fills it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/digest.h"
#include "engine/op_info.h"

namespace nocturne {

// One row: one operation in execution order. Calls are inlined; operations inside a loop or branch
// follow the row of the loop or branch itself.
struct OpRow {
  uint32_t op = 0;           // index into Module::ops
  double multiplicity = 1.0; // how often it runs in one execution of the module
  uint32_t line = 0, column = 0;
  uint16_t file = 0;         // index into Module::files
  uint16_t callDepth = 0;    // 0 in the entry function
  uint16_t loopDepth = 0;    // number of enclosing while, if and case operations
  uint32_t firstOperand = 0; // index into Module::valueIds
  uint16_t operandCount = 0;
  uint16_t resultCount = 0; // result ids follow the operand ids
  // Which operation of the entry function (counted from 0, calls and loops as one each) the row is,
  // or is inside of.
  uint32_t topLevel = 0;
  bool operator==(const OpRow&) const = default;
};

// Something the reader had to suppose: {"trip_count", "1", place}, {"branch", "largest", ...},
// {"entry", "f", ...}, {"dynamic_dimension", ...}.
struct Assumption {
  std::string kind;
  std::string value;
  std::string location;
  bool operator==(const Assumption&) const = default;
};

struct Module {
  std::string name;               // symbol of the builtin.module, or the file's stem
  std::string path;               // as given; not part of any key
  std::vector<std::string> files; // for OpRow::file; files[0] is `path`
  Digest contentHash;             // of the file's bytes
  Digest fingerprint;             // of the canonical walk: see compiler/reader/fingerprint.h

  std::vector<OpInfo> ops;      // distinct operations, in order of first appearance
  std::vector<double> opRuns;   // per distinct operation: sum of the multiplicities of its rows
  std::vector<uint64_t> opRows; // per distinct operation: number of its rows
  std::vector<OpRow> rows;
  std::vector<uint32_t> valueIds; // SSA value numbers, sliced by the rows

  std::vector<TensorType> arguments; // of the entry function
  std::vector<TensorType> results;
  double collectives = 0;     // number of collective operations, with multiplicity
  double collectiveBytes = 0; // operand bytes of those, with multiplicity
  // Peak bytes alive when the table runs in order: arguments and constants held throughout, each
  // other value from its definition to its last use, free operations (reshape, tuple) aliasing.
  double peakBytes = 0;
  std::vector<Assumption> assumptions;

  // "file:line:column" of a row; only the file where the line is not known.
  std::string place(const OpRow& row) const;
};

using ModulePtr = std::shared_ptr<const Module>;

// Recomputes opRuns, opRows, collectives and collectiveBytes from ops and rows. The reader and
// ModuleBuilder call it last.
void finishModule(Module& module);

// Makes a module by hand, for tests and examples: each add() appends a row, merging equal
// operations. It knows no data flow: every operand and every result is a value of its own.
class ModuleBuilder {
public:
  explicit ModuleBuilder(std::string name);
  ModuleBuilder& add(OpInfo op, double multiplicity = 1.0);
  ModuleBuilder& argument(TensorType type);
  ModuleBuilder& result(TensorType type);
  // Fingerprint and content hash are made from the name and the operations.
  Module build();

private:
  Module module_;
  std::unordered_map<std::string, uint32_t> index_; // serialised operation -> place in module_.ops
};

// Versioned binary form, for the cache's `files` table and for messages between processes.
// Everything but `path` and files[0] round-trips (both are empty afterwards); what finishModule
// computes is not stored but computed again.
std::string serialise(const Module& module);
// Throws Error when the bytes are not a module of this version.
Module deserialiseModule(std::string_view bytes);
// Part of cache keys. Raise it when the serialised form changes, and only then: for a change of
// what the reader makes of a file there is kReaderVersion in compiler/reader/reader.h.
inline constexpr uint32_t kModuleTableVersion = 2;

} // namespace nocturne
