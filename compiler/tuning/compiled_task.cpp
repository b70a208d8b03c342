#include "compiler/tuning/compiled_task.h"

#include <algorithm>
#include <cstdint>

#include "engine/number_text.h"

namespace nocturne::compiler {

namespace {

using Direction = LibraryArgument::Direction;

Failure refused(const std::string& message) {
  return {FailureKind::BadConfig, message, "", 0, 0};
}

std::string typeText(std::string_view dtype, std::span<const int64_t> dims) {
  std::string text;
  for (const int64_t extent : dims)
    text += std::to_string(extent) + 'x';
  return text.append(dtype);
}

size_t bytesOf(const LibraryArgument& argument) {
  size_t bytes = argument.elementBytes;
  for (const int64_t extent : argument.dims)
    bytes *= size_t(extent);
  return bytes;
}

// What code supposes of the alignment of elements: their size, of complex ones half of it.
size_t alignmentOf(const LibraryArgument& argument) {
  constexpr size_t kMost = 8;
  return std::clamp<size_t>(argument.elementBytes, 1, kMost);
}

bool overlap(const void* a, size_t aBytes, const void* b, size_t bBytes) {
  const auto first = reinterpret_cast<uintptr_t>(a), second = reinterpret_cast<uintptr_t>(b);
  return first < second + bBytes && second < first + aBytes;
}

// The arguments of one call against those of the entry point.
class ArgumentCheck {
public:
  explicit ArgumentCheck(const LibraryEntry& entry) : entry_(entry) {}

  std::optional<Failure> run(std::span<const Buffer> inputs, std::span<const Buffer> outputs) {
    size_t nextInput = 0, nextOutput = 0;
    for (const LibraryArgument& argument : entry_.arguments) {
      const bool isInput = argument.direction == Direction::In;
      const std::span<const Buffer> given = isInput ? inputs : outputs;
      size_t& next = isInput ? nextInput : nextOutput;
      if (next < given.size())
        if (auto problem = add(argument, given[next], nameOf(isInput, next)))
          return problem;
      ++next;
    }
    if (nextInput != inputs.size() || nextOutput != outputs.size())
      return refused('@' + entry_.name + " takes " + counted(nextInput, "input") + " and gives " +
                     counted(nextOutput, "result") + ", not " + std::to_string(inputs.size()) +
                     " and " + std::to_string(outputs.size()));
    return overlaps();
  }

  const std::vector<void*>& addresses() const { return addresses_; }

private:
  static std::string nameOf(bool isInput, size_t index) {
    return (isInput ? "input " : "result ") + std::to_string(index);
  }

  std::optional<Failure> add(const LibraryArgument& argument, const Buffer& buffer,
                             const std::string& name) {
    if (buffer.dtype != argument.dtype || !std::ranges::equal(buffer.dims, argument.dims))
      return refused(name + " of @" + entry_.name + " is " +
                     typeText(argument.dtype, argument.dims) + ", not " +
                     typeText(buffer.dtype, buffer.dims));
    if (buffer.data == nullptr && bytesOf(argument) > 0)
      return refused(name + " of @" + entry_.name + " has no memory");
    if (reinterpret_cast<uintptr_t>(buffer.data) % alignmentOf(argument) != 0)
      return refused(name + " of @" + entry_.name + " is not aligned to its elements");
    addresses_.push_back(buffer.data);
    return std::nullopt;
  }

  std::optional<Failure> overlaps() const {
    for (size_t i = 0; i < addresses_.size(); ++i)
      for (size_t j = 0; j < i; ++j) {
        const LibraryArgument &a = entry_.arguments[j], &b = entry_.arguments[i];
        if (a.direction == Direction::In && b.direction == Direction::In)
          continue;
        if (overlap(addresses_[j], bytesOf(a), addresses_[i], bytesOf(b)))
          return refused("arguments " + std::to_string(j) + " and " + std::to_string(i) + " of @" +
                         entry_.name + " share memory, and one of them is a result");
      }
    return std::nullopt;
  }

  const LibraryEntry& entry_;
  std::vector<void*> addresses_;
};

} // namespace

CompiledTask::CompiledTask(std::string name, CompiledFunction function,
                           std::vector<CandidateRecord> candidates, size_t winner)
    : function_(std::move(function)),
      facts_(std::make_shared<const Facts>(Facts{std::move(name), std::move(candidates), winner})) {
}

std::optional<Failure> CompiledTask::call(std::span<const Buffer> inputs,
                                          std::span<const Buffer> outputs) const {
  ArgumentCheck check(entry());
  if (auto problem = check.run(inputs, outputs))
    return problem;
  if (const int32_t code = function_.call(check.addresses()); code != kCallSucceeded)
    return Failure{FailureKind::ToolFailed,
                   '@' + entry().name + " refused its call with " + std::to_string(code), "", 0, 0};
  return std::nullopt;
}

std::optional<Failure> CompiledTask::call(std::span<const TensorData> inputs,
                                          std::vector<TensorData>& results) const {
  std::vector<Buffer> in, out;
  for (const TensorData& tensor : inputs) // which is only read
    in.push_back({tensor.dtype(), tensor.dims(), const_cast<std::byte*>(tensor.data())});
  results.clear();
  for (const LibraryArgument& argument : entry().arguments)
    if (argument.direction == Direction::Out)
      results.emplace_back(argument);
  for (TensorData& tensor : results)
    out.push_back({tensor.dtype(), tensor.dims(), tensor.data()});
  return call(in, out);
}

} // namespace nocturne::compiler
