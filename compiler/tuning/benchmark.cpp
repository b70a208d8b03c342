#include "compiler/tuning/benchmark.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>

#include <sys/resource.h>

#include "compiler/codegen/target.h"
#include "compiler/execution/measure_protocol.h"
#include "engine/digest.h"

namespace nocturne::compiler {

namespace {

using Clock = std::chrono::steady_clock;

double secondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double processorSeconds() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return double(time.tv_sec) + double(time.tv_nsec) * 1e-9;
}

long timesInterrupted() {
  rusage usage{};
  ::getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nivcsw;
}

struct Sample {
  double seconds = 0; // of one call
  bool interrupted = false;
};

Sample sample(const std::function<void()>& call, uint64_t calls) {
  const long before = timesInterrupted();
  const double processor = processorSeconds();
  const Clock::time_point start = Clock::now();
  for (uint64_t i = 0; i < calls; ++i)
    call();
  const double passed = secondsSince(start), used = processorSeconds() - processor;
  const bool interrupted = timesInterrupted() != before;
  return {(interrupted ? std::min(used, passed) : passed) / double(calls), interrupted};
}

// One call and its samples.
class Trial {
public:
  explicit Trial(const std::function<void()>& call) : call_(call) {}

  void warmUp(const TimingOptions& options) {
    double least = sample(call_, 1).seconds;
    for (const Clock::time_point start = Clock::now(); secondsSince(start) < options.warmUpSeconds;)
      least = std::min(least, sample(call_, 1).seconds);
    constexpr double kMostCalls = 1e6;
    calls_ = uint64_t(std::clamp(options.sampleSeconds / std::max(least, 1e-9), 1.0, kMostCalls));
  }

  void add() {
    const Clock::time_point start = Clock::now();
    const Sample taken = sample(call_, calls_);
    seconds_ += secondsSince(start);
    interrupted_ += taken.interrupted ? 1 : 0;
    samples_.push_back(taken.seconds);
  }

  bool hasEnough(const TimingOptions& options) const {
    return samples_.size() >= std::max(options.repetitions, size_t{1}) ||
           (seconds_ > options.mostSeconds && samples_.size() >= kLeastSamples);
  }

  Timing timing() const {
    Timing timing = timingOf(samples_);
    timing.callsPerSample = calls_;
    timing.interrupted = interrupted_;
    return timing;
  }

private:
  const std::function<void()>& call_;
  std::vector<double> samples_;
  uint64_t calls_ = 1;
  size_t interrupted_ = 0;
  double seconds_ = 0;
};

// Between the two nearest samples where it falls between them.
double quantile(const std::vector<double>& sorted, double part) {
  const double place = part * double(sorted.size() - 1);
  const auto below = size_t(place);
  const size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (place - double(below)) * (sorted[above] - sorted[below]);
}

} // namespace

Timing timingOf(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  Timing timing;
  timing.median = quantile(samples, 0.5);
  timing.lower = quantile(samples, 0.25);
  timing.upper = quantile(samples, 0.75);
  timing.samples = samples.size();
  return timing;
}

std::vector<Timing> timeCalls(std::span<const std::function<void()>> calls,
                              const TimingOptions& options) {
  std::vector<Trial> trials;
  for (const std::function<void()>& call : calls)
    trials.emplace_back(call).warmUp(options);
  for (bool busy = true; busy;) {
    busy = false;
    for (Trial& trial : trials) {
      if (trial.hasEnough(options))
        continue;
      trial.add();
      busy = true;
    }
  }
  std::vector<Timing> timings;
  for (const Trial& trial : trials)
    timings.push_back(trial.timing());
  return timings;
}

size_t fastest(std::span<const Timing> timings, double tie) {
  double least = timings.front().median;
  for (const Timing& timing : timings)
    least = std::min(least, timing.median);
  for (size_t i = 0; i < timings.size(); ++i)
    if (timings[i].median <= least * (1 + tie))
      return i;
  return 0;
}

std::string processorIdentity() {
  const CpuTarget native = cpuTarget("native");
  constexpr size_t kDigits = 8;
  return processorName() + " (" + native.cpu + ", features " +
         hashBytes(native.features).hex().substr(0, kDigits) + ')';
}

} // namespace nocturne::compiler
