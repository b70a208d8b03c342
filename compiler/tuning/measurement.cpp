#include "compiler/tuning/measurement.h"

#include <algorithm>
#include <cstring>
#include <deque>

#include "compiler/drivers/compiled_module.h"
#include "compiler/execution/pinned_thread.h"
#include "compiler/execution/tensor_data.h"
#include "compiler/tuning/compare.h"
#include "engine/file_bytes.h"
#include "storage/atomic_file.h"

namespace nocturne::compiler {

namespace {

using Direction = LibraryArgument::Direction;

[[noreturn]] void fail(FailureKind kind, const std::string& message) {
  throw ItemError({kind, message, "", 0, 0});
}

CompiledFunction entryOf(const CompiledModule& module, const std::string& name) {
  if (!name.empty())
    return module.function(name);
  if (module.entries().size() != 1)
    throw UsageError("there are several functions; the task has to name its entry");
  return module.function(module.entries().front().name);
}

// A function with tensors for all its arguments.
class Call {
public:
  Call(const std::string& library, const Trials& trials)
      : module_(CompiledModule::load(library).value()), function_(entryOf(module_, trials.entry)) {
    for (const LibraryArgument& argument : function_.entry().arguments) {
      if (std::count(argument.dims.begin(), argument.dims.end(), LibraryArgument::kDynamic) > 0)
        fail(FailureKind::BadConfig, "@" + function_.entry().name + " has dynamic shapes");
      TensorData& tensor = tensors_.emplace_back(argument);
      if (argument.direction == Direction::In)
        fillRandom(tensor, trials.seed + (uint64_t(tensors_.size()) << 32));
      else
        results_.push_back(&tensor);
      addresses_.push_back(tensor.data());
    }
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  void run() {
    if (const int32_t code = function_.call(addresses_); code != kCallSucceeded)
      fail(FailureKind::Internal, "the code refused its call with " + std::to_string(code));
  }

  // So that a call that leaves something out is seen, even after a right one.
  void clearResults() {
    for (TensorData* result : results_)
      std::memset(result->data(), 0, result->bytes());
  }

  const LibraryEntry& entry() const { return function_.entry(); }
  const std::vector<TensorData*>& results() const { return results_; }

private:
  CompiledModule module_;
  CompiledFunction function_;
  std::deque<TensorData> tensors_; // whose addresses do not change
  std::vector<TensorData*> results_;
  std::vector<void*> addresses_;
};

// The results of the reference, one after the other.
class Wanted {
public:
  explicit Wanted(const Trials& trials) : bytes_(readFile(trials.results)), trials_(trials) {}

  // Why the results of `call` are not those; "" when they are.
  std::string objection(const Call& call) const {
    size_t place = 0, index = 0;
    for (const TensorData* got : call.results()) {
      TensorData wanted(got->dtype(), got->dims());
      if (place + wanted.bytes() > bytes_.size())
        return "its results are larger than those of the reference";
      std::memcpy(wanted.data(), bytes_.data() + place, wanted.bytes());
      place += wanted.bytes();
      if (const auto problem = difference(*got, wanted, trials_.tolerance))
        return "result " + std::to_string(index) + ' ' + *problem;
      ++index;
    }
    return place == bytes_.size() ? "" : "its results are smaller than those of the reference";
  }

private:
  std::string bytes_;
  const Trials& trials_;
};

// One candidate on its way through the checks.
struct Contender {
  std::unique_ptr<Call> call;
  Measured measured;

  void drop(Measured::State state, const std::string& reason) {
    measured.state = state;
    measured.reason = reason;
    call.reset();
  }
};

void compare(Contender& contender, const Wanted& wanted) {
  try {
    contender.call->clearResults();
    contender.call->run();
    if (const std::string objection = wanted.objection(*contender.call); !objection.empty())
      contender.drop(Measured::State::Wrong, objection);
  } catch (const Error& error) {
    contender.drop(Measured::State::Failed, error.what());
  }
}

Contender prepare(const std::string& library, const Trials& trials) {
  Contender contender;
  try {
    contender.call = std::make_unique<Call>(library, trials);
  } catch (const Error& error) {
    contender.drop(Measured::State::Failed, error.what());
  }
  return contender;
}

} // namespace

void writeResults(const std::string& library, const Trials& trials) {
  Call call(library, trials);
  call.run();
  AtomicFile file(trials.results);
  for (const TensorData* result : call.results())
    file.write({reinterpret_cast<const char*>(result->data()), result->bytes()});
  file.commit();
}

std::vector<Measured> measure(const std::vector<std::string>& libraries, const Trials& trials) {
  const Wanted wanted(trials);
  std::vector<Contender> contenders;
  for (const std::string& library : libraries) {
    contenders.push_back(prepare(library, trials));
    if (contenders.back().call)
      compare(contenders.back(), wanted);
  }
  std::vector<std::function<void()>> calls;
  std::vector<Contender*> timed;
  for (Contender& contender : contenders) {
    if (!contender.call)
      continue;
    calls.emplace_back([call = contender.call.get()] { call->run(); });
    timed.push_back(&contender);
  }
  const PinnedThread pinned;
  const std::vector<Timing> timings = timeCalls(calls, trials.timing);
  for (size_t i = 0; i < timed.size(); ++i) {
    timed[i]->measured.state = Measured::State::Timed;
    timed[i]->measured.timing = timings[i];
    compare(*timed[i], wanted);
  }
  std::vector<Measured> measured;
  for (Contender& contender : contenders)
    measured.push_back(std::move(contender.measured));
  return measured;
}

} // namespace nocturne::compiler
