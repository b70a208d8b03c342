// Where object code comes from. The drivers know no compiler: they are given one.
#pragma once

#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

#include "compiler/drivers/target.h"

namespace nocturne::compiler {

// A module as text. The name is for messages; code must not depend on it, because equal texts share
// one build.
struct ModuleSource {
  std::string name;
  std::string text;
};

// One tensor that an entry point takes: dense, row-major.
struct LibraryArgument {
  enum class Direction : uint8_t { In, Out };
  static constexpr int64_t kDynamic = -1;

  Direction direction = Direction::In;
  std::string dtype;         // "f32", "i64", ... as StableHLO spells it
  std::vector<int64_t> dims; // the rank is their number
  uint32_t elementBytes = 0; // of one element in memory; 0 when elements are packed
  bool operator==(const LibraryArgument&) const = default;
};

// A function of the library: `int32_t symbol(void* const* args, size_t n)`. args[k] is the address
// of the data of the k-th argument; inputs come first, outputs after. Returns 0, 1 when n is not
// the number of arguments, or a code of the generator's own.
struct LibraryEntry {
  std::string name;
  std::string symbol;
  std::vector<LibraryArgument> arguments;
  bool operator==(const LibraryEntry&) const = default;
};

// A file that goes beside the library: kept IR, the text of a kernel. `name` has no slash.
struct ExtraFile {
  std::string name;
  std::string content;
};

struct GeneratedCode {
  std::string object; // a relocatable ELF file, position independent
  std::vector<LibraryEntry> entries;
  std::vector<ExtraFile> files;
  // What the processor must have: levels ("x86-64-v3") and names of features ("avx2", "fma").
  std::vector<std::string> features;
  // Libraries that the linker needs beside libc and libm, by path.
  std::vector<std::string> libraries;
  std::string log;
};

struct GenerateOptions {
  bool keepIr = false;
  // The generator's own options. They are part of the key, in their order.
  std::vector<std::string> flags;
  std::stop_token stop;
};

// Thread-safe: one generator serves all workers of a batch.
class CodeGenerator {
public:
  virtual ~CodeGenerator();
  // Throws ItemError. The same source, target and flags give the same code.
  virtual GeneratedCode generate(const ModuleSource& source, const Target& target,
                                 const GenerateOptions& options) = 0;
  // Every version that the code depends on. Part of the key.
  virtual std::string version() const = 0;
  // Makes the target the same on every machine: defaults filled in, "native" replaced by the
  // processor's name and features. Throws UsageError for a processor that it does not know.
  virtual Target resolve(const Target& target) const = 0;
};

} // namespace nocturne::compiler
