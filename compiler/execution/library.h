// Compiled code in this process.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "compiler/drivers/code_generator.h"
#include "compiler/execution/tensor_data.h"

namespace nocturne::compiler {

// A shared library made of an object file and loaded; nothing of it stays on disk. Safe to use from
// many threads.
class LoadedLibrary {
public:
  // Links and loads. Throws ItemError: tool_failed when the linker is missing or fails.
  explicit LoadedLibrary(const std::string& object);
  ~LoadedLibrary();
  LoadedLibrary(const LoadedLibrary&) = delete;
  LoadedLibrary& operator=(const LoadedLibrary&) = delete;

  using Function = int32_t (*)(void* const* arguments, size_t count);
  // Throws ItemError (internal) when there is no such symbol.
  Function find(const std::string& symbol) const;

private:
  void* handle_ = nullptr;
};

// One entry point with a place for every argument, for calling it again and again.
class PreparedCall {
public:
  // Makes the result tensors. Throws UsageError when `inputs` are not what `entry` asks for.
  PreparedCall(const LoadedLibrary& library, const LibraryEntry& entry,
               std::vector<const TensorData*> inputs);

  // The inputs must still live. Throws ItemError (internal) when the code refuses the call.
  void run();
  std::vector<TensorData>& results() { return results_; }

private:
  LoadedLibrary::Function function_;
  std::vector<TensorData> results_;
  std::vector<void*> addresses_;
};

} // namespace nocturne::compiler
