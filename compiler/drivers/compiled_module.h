// A built library in this process.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "compiler/drivers/code_generator.h"
#include "compiler/drivers/manifest.h"

namespace nocturne::compiler {

// Codes of calls. All others are the generator's.
inline constexpr int32_t kCallSucceeded = 0;
inline constexpr int32_t kWrongCount = 1;

// One entry point. Keeps its library loaded, so that it may outlive the CompiledModule; copies are
// cheap. Thread-safe, as far as the memory that calls are given is not shared.
class CompiledFunction {
public:
  const LibraryEntry& entry() const { return *entry_; }
  // args[k] is the data of the k-th argument: dense, row-major, as large as the entry point says.
  // Returns kCallSucceeded, kWrongCount, or a code of the generator's.
  int32_t call(std::span<void* const> args) const {
    return args.size() == entry_->arguments.size() ? function_(args.data(), args.size())
                                                   : kWrongCount;
  }

private:
  friend class CompiledModule;
  using Function = int32_t (*)(void* const*, size_t);
  CompiledFunction(std::shared_ptr<const LibraryEntry> entry, Function function)
      : entry_(std::move(entry)), function_(function) {}
  std::shared_ptr<const LibraryEntry> entry_; // owns the library as well
  Function function_;
};

class LoadedModule;

// Thread-safe; copies share the library, which is unloaded with the last copy and function.
class CompiledModule {
public:
  // `path` is a folder of builds (its lib.so counts), a folder of one build, or a library. The
  // library is read and compared with the digest of its manifest, and the processor with what it
  // needs, before any of its code can run.
  static LoadedModule load(const std::string& path);

  const Manifest& manifest() const;
  const std::vector<LibraryEntry>& entries() const { return manifest().entries; }
  // nullptr when there is none of that name.
  const CompiledFunction* entry(std::string_view name) const;
  // Throws UsageError with the nearest name.
  CompiledFunction function(std::string_view name) const;

private:
  struct Library;
  CompiledModule() = default;
  static CompiledModule open(const std::string& path);
  std::shared_ptr<const Library> library_;
  std::shared_ptr<const std::vector<CompiledFunction>> functions_;
};

// A module, or why there is none: bad_config for what cannot run here (an object file, a processor
// without a feature), unreadable for what is missing, damaged or of another version, tool_failed
// for what the loader of the system refuses.
class LoadedModule {
public:
  LoadedModule(CompiledModule module) : value_(std::move(module)) {}
  LoadedModule(Failure failure) : value_(std::move(failure)) {}

  explicit operator bool() const { return std::holds_alternative<CompiledModule>(value_); }
  // Throws ItemError when there is none.
  const CompiledModule& value() const;
  const CompiledModule& operator*() const { return value(); }
  const CompiledModule* operator->() const { return &value(); }
  // Only when there is no module.
  const Failure& failure() const { return std::get<Failure>(value_); }

private:
  std::variant<CompiledModule, Failure> value_;
};

} // namespace nocturne::compiler
