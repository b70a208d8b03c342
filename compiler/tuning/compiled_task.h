// A task that was built, ready to be called.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/drivers/compiled_module.h"
#include "compiler/execution/tensor_data.h"
#include "compiler/tuning/dispatch_table.h"
#include "engine/error.h"

namespace nocturne::compiler {

// A tensor of the caller's: dense, row by row, of any alignment that its element type has.
struct Buffer {
  std::string_view dtype; // as StableHLO spells it
  std::span<const int64_t> dims;
  void* data = nullptr;
};

// Thread-safe, as far as the memory that calls are given is not shared; copies share the library,
// which stays loaded as long as one of them lives.
class CompiledTask {
public:
  CompiledTask(std::string name, CompiledFunction function, std::vector<CandidateRecord> candidates,
               size_t winner);

  const std::string& name() const { return facts_->name; }
  const LibraryEntry& entry() const { return function_.entry(); }
  // All of them with their times, and which one calls run.
  const std::vector<CandidateRecord>& candidates() const { return facts_->candidates; }
  size_t winner() const { return facts_->winner; }

  // Computes `outputs` from `inputs`, which are left as they are. No tensor is made or copied.
  // Returns what is wrong with the arguments, in which case nothing was called, or what the code
  // says.
  std::optional<Failure> call(std::span<const Buffer> inputs,
                              std::span<const Buffer> outputs) const;
  // The same with tensors; makes the results.
  std::optional<Failure> call(std::span<const TensorData> inputs,
                              std::vector<TensorData>& results) const;

private:
  struct Facts {
    std::string name;
    std::vector<CandidateRecord> candidates;
    size_t winner;
  };
  CompiledFunction function_;
  std::shared_ptr<const Facts> facts_;
};

} // namespace nocturne::compiler
