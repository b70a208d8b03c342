#include "compiler/execution/measure.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <memory>
#include <new>

#include "compiler/codegen/module_generator.h"
#include "compiler/drivers/compiled_module.h"
#include "compiler/drivers/driver.h"
#include "compiler/execution/measure_protocol.h"
#include "compiler/execution/pinned_thread.h"
#include "compiler/execution/tensor_data.h"
#include "engine/error.h"
#include "engine/options.h"

namespace nocturne::compiler {

namespace {

using Clock = std::chrono::steady_clock;

// Shorter samples would measure the clock, which costs 20 to 50 ns.
constexpr double kShortestSample = 20e-6;
constexpr uint64_t kMostCalls = 4096;
constexpr size_t kMostSamples = 100'000;
constexpr double kLongestWait = 1e6; // seconds

double secondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

BuildOutcome build(const MeasureRequest& request) {
  BuildOptions options;
  options.outputDir = request.folder;
  options.target = "cpu --arch=" + request.arch;
  options.lockTimeout = std::chrono::milliseconds(
      static_cast<int64_t>(1000 * std::min(request.timeoutSeconds, kLongestWait)));
  return BuildDriver(std::make_shared<ModuleGenerator>())
      .build(ModuleSource{request.path, request.text}, options);
}

std::vector<LibraryEntry> chosenEntries(const std::vector<LibraryEntry>& all,
                                        const std::string& wanted) {
  std::vector<std::string> names;
  for (const LibraryEntry& entry : all) {
    if (entry.name == (wanted.empty() ? "main" : wanted))
      return {entry};
    names.push_back(entry.name);
  }
  if (!wanted.empty())
    throw UsageError("the module has no public function @" + wanted + didYouMean(wanted, names));
  if (all.empty())
    throw ItemError(
        {FailureKind::Unreadable, "the module has no function that can be run", "", 0, 0});
  return all;
}

// The functions with all their tensors, ready to be called.
class ReadyCalls {
public:
  ReadyCalls(const CompiledModule& module, const std::string& entry, uint64_t seed) {
    for (const LibraryEntry& one : chosenEntries(module.entries(), entry))
      add(module.function(one.name), seed);
  }

  void run() const {
    for (const Call& call : calls_)
      if (const int32_t code = call.function.call(call.addresses); code != kCallSucceeded)
        throw ItemError({FailureKind::Internal,
                         "compiled code refused its call with " + std::to_string(code), "", 0, 0});
  }

private:
  struct Call {
    CompiledFunction function;
    std::vector<void*> addresses;
  };

  void add(CompiledFunction function, uint64_t seed) {
    std::vector<void*> addresses;
    for (const LibraryArgument& argument : function.entry().arguments) {
      TensorData& tensor = tensors_.emplace_back(argument);
      if (argument.direction == LibraryArgument::Direction::In)
        fillRandom(tensor, seed + (uint64_t{tensors_.size() - 1} << 32));
      addresses.push_back(tensor.data());
    }
    calls_.push_back({std::move(function), std::move(addresses)});
  }

  std::deque<TensorData> tensors_;
  std::vector<Call> calls_;
};

} // namespace

std::vector<double> takeSamples(const std::function<void()>& call, const MeasureRequest& request,
                                uint64_t& callsPerSample) {
  for (int64_t i = 0; i < request.warmup; ++i)
    call();
  // One more says how long a call is.
  Clock::time_point start = Clock::now();
  call();
  const double one = std::max(secondsSince(start), 1e-9);
  callsPerSample = one >= kShortestSample
                       ? 1
                       : std::min(kMostCalls, static_cast<uint64_t>(kShortestSample / one) + 1);
  std::vector<double> samples;
  const auto wanted = static_cast<size_t>(std::max<int64_t>(request.repetitions, 1));
  samples.reserve(std::min(wanted, kMostSamples));
  const Clock::time_point begin = Clock::now();
  while (samples.size() < wanted ||
         (samples.size() < kMostSamples && secondsSince(begin) < request.minSeconds)) {
    start = Clock::now();
    for (uint64_t i = 0; i < callsPerSample; ++i)
      call();
    samples.push_back(secondsSince(start) / static_cast<double>(callsPerSample));
  }
  return samples;
}

Measurement measureModule(const MeasureRequest& request,
                          const std::function<void(std::string_view stage)>& onStage) {
  onStage(kBuilding);
  Measurement measurement;
  const BuildOutcome built = build(request);
  measurement.buildSeconds = built.seconds;
  measurement.built = built.built;
  measurement.library = built.manifest->libraryDigest;
  measurement.processor = processorName();
  const LoadedModule module = CompiledModule::load(built.library);
  const ReadyCalls calls(*module, request.entry, request.seed);
  onStage(kRunning);
  const PinnedThread pinned;
  setTimes(measurement,
           takeSamples([&calls] { calls.run(); }, request, measurement.callsPerSample));
  return measurement;
}

void answerMeasureRequest(std::string_view request,
                          const std::function<void(std::string_view line)>& say) {
  std::string path;
  const auto tell = [&](FailureKind kind, const std::string& message) {
    say(answerText(Failure{kind, message, path, 0, 0}));
  };
  try {
    const MeasureRequest parsed = parseRequest(request);
    path = parsed.path;
    say(answerText(measureModule(parsed, say)));
  } catch (const ItemError& error) {
    say(answerText(error.failure()));
  } catch (const UsageError& error) {
    tell(FailureKind::BadConfig, error.what());
  } catch (const std::bad_alloc&) {
    tell(FailureKind::ToolFailed, "there is not enough memory to measure the module");
  } catch (const std::exception& error) {
    // A disk, a linker: another day it may work.
    tell(FailureKind::ToolFailed, error.what());
  }
}

} // namespace nocturne::compiler
