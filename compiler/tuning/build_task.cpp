#include "compiler/tuning/build_task.h"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <map>
#include <thread>

#include "compiler/tuning/candidates.h"
#include "compiler/tuning/code_digest.h"
#include "engine/file_bytes.h"
#include "engine/json.h"
#include "engine/number_text.h"
#include "engine/options.h"
#include "storage/atomic_file.h"

namespace nocturne::compiler {

namespace {

// Raised when tasks are measured or compared in another way.
constexpr uint64_t kTuningVersion = 1;
constexpr uint64_t kInputSeed = 20260101;
// Who is this much slower than the fastest in the first round is not timed again; who is this much
// slower in the second still counts as equally fast, and the earlier one wins.
constexpr double kFinalists = 0.15, kTie = 0.01;
constexpr size_t kMostFinalists = 4;
constexpr const char* kReference = "reference.bin"; // its results

[[noreturn]] void fail(const Task& task, FailureKind kind, const std::string& message) {
  throw ItemError({kind, "task " + task.name + ": " + message, "", 0, 0});
}

const ModuleSource& moduleOf(const Task& task, const Candidate& candidate) {
  return candidate.module ? *candidate.module : task.payload;
}

BuildOptions buildOptions(const Candidate& candidate, const std::string& target) {
  BuildOptions options;
  options.target = target;
  options.flags = flagsOf(candidate);
  return options;
}

CandidateState stateOf(FailureKind kind) {
  switch (kind) {
  case FailureKind::Crashed:
    return CandidateState::Crashed;
  case FailureKind::TimedOut:
    return CandidateState::TimedOut;
  default:
    return CandidateState::Failed;
  }
}

void setFailure(CandidateRecord& record, const Failure& failure) {
  record.state = stateOf(failure.kind);
  record.reason = failure.text();
}

// Removes a file at the end of the scope.
class RemovedFile {
public:
  explicit RemovedFile(std::string path) : path_(std::move(path)) {}
  ~RemovedFile() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  RemovedFile(const RemovedFile&) = delete;
  RemovedFile& operator=(const RemovedFile&) = delete;

private:
  const std::string path_;
};

} // namespace

// One task, under its lock.
class TaskBuilder::Work {
public:
  Work(BuildDriver& driver, const TaskOptions& options, const Task& task, const std::string& target)
      : options_(options), task_(task), target_(target), parsed_(parseTarget(target)),
        candidates_(candidatesOf(task, parsed_)), driver_(driver), worker_(driver, options.worker) {
    plan();
  }

  const std::string& folder() const { return report_.folder; }
  const Digest& key() const { return report_.key; }

  TaskReport run(BuildLocks& locks, const std::string& measuringLock) {
    try {
      return work(locks, measuringLock);
    } catch (const BuildCancelled&) {
      throw BuildCancelled("task " + task_.name + ": stopped" + howFar());
    }
  }

private:
  TaskReport work(BuildLocks& locks, const std::string& measuringLock) {
    makeDirectories(folder());
    removeLeftovers();
    describe();
    if (!options_.force && reuse()) {
      link();
      return std::move(report_);
    }
    buildAll();
    if (parsed_.name == "cpu") {
      // Two that measure at a time would measure each other.
      const BuildLocks::Held held =
          locks.acquire(measuringLock, options_.lockTimeout, options_.stop);
      measureAll();
    } else {
      chooseUnmeasured();
    }
    link();
    return std::move(report_);
  }

  // For who stopped it and wonders whether to begin again.
  std::string howFar() const {
    if (built_ == 0)
      return "";
    const std::string measured =
        measured_ > 0 ? ", " + std::to_string(measured_) + " of them measured" : "";
    return " with " + std::to_string(built_) + " of " + counted(candidates_.size(), "candidate") +
           " built" + measured + "; what is built stays";
  }

  // The cpu for which the reference is built, which has to run here.
  const std::string& referenceTarget() const {
    static const std::string usual = "cpu";
    return parsed_.name == "cpu" ? target_ : usual;
  }

  void plan() {
    report_.target = target_;
    report_.processor = processorIdentity();
    const Candidate reference = referenceCandidate();
    Hasher hasher;
    hasher.field("nocturne task").number(kTuningVersion).field(task_.entry);
    hasher.number(static_cast<uint64_t>(task_.searchSpace));
    hasher.field(task_.tolerance ? Json(*task_.tolerance).dump() : std::string());
    hasher.field(buildKey(reference, referenceTarget()));
    for (const Candidate& candidate : candidates_) {
      keys_.push_back(buildKey(candidate, target_));
      hasher.field(candidate.name).field(keys_.back());
      report_.candidates.push_back({});
      report_.candidates.back().name = candidate.name;
    }
    report_.key = hasher.finish();
    report_.folder = std::filesystem::absolute(options_.cacheDir).lexically_normal().string() +
                     "/tasks/" + report_.key.hex();
  }

  Digest buildKey(const Candidate& candidate, const std::string& target) const {
    return driver_.key({&moduleOf(task_, candidate), 1}, buildOptions(candidate, target));
  }

  std::string file(const char* name) const { return folder() + '/' + name; }
  std::string buildFolder(const Digest& key) const { return folder() + "/.nocturne/" + key.hex(); }

  // Of somebody who died holding the lock.
  void removeLeftovers() const {
    std::error_code ignored;
    std::vector<std::filesystem::path> left;
    for (std::filesystem::directory_iterator entry(folder(), ignored), end; entry != end;
         entry.increment(ignored)) {
      const std::string name = entry->path().filename().string();
      if (name.starts_with(kRequestStart) || name == kReference ||
          name.find(".draft-") != std::string::npos)
        left.push_back(entry->path());
    }
    for (const std::filesystem::path& path : left)
      std::filesystem::remove(path, ignored);
  }

  // For people who look at the folder.
  void describe() const {
    if (std::filesystem::exists(file("task.json")))
      return;
    nlohmann::ordered_json json = {{"name", task_.name},
                                   {"target", target_},
                                   {"entry", task_.entry},
                                   {"search_space", static_cast<int>(task_.searchSpace)},
                                   {"candidates", nlohmann::ordered_json::array()}};
    for (size_t i = 0; i < candidates_.size(); ++i)
      json["candidates"].push_back({{"name", candidates_[i].name},
                                    {"build", keys_[i].hex()},
                                    {"flags", flagsOf(candidates_[i])}});
    writeFileAtomically(file("payload.mlir"), task_.payload.text);
    writeFileAtomically(file("task.json"),
                        json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
  }

  // What is on disk is what was measured.
  bool isUnchanged(const Dispatch& dispatch) const {
    if (dispatch.candidates.size() != candidates_.size() ||
        dispatch.candidates[dispatch.winner].digest.empty())
      return false;
    for (size_t i = 0; i < candidates_.size(); ++i) {
      const CandidateRecord& record = dispatch.candidates[i];
      if (!record.digest.empty() &&
          (record.build != keys_[i].hex() || record.digest != digestOf(keys_[i])))
        return false;
    }
    return true;
  }

  // Of the library as it is; "" when it is gone or damaged.
  std::string digestOf(const Digest& key) const {
    try {
      const std::string folder = buildFolder(key);
      return hashFile(folder + '/' + readManifest(folder).library).contentHash.hex();
    } catch (const Error&) {
      return "";
    }
  }

  bool reuse() {
    const DispatchTable table = DispatchTable::read(file("dispatch.json"), key());
    const Dispatch* found = table.find(report_.processor);
    if (found == nullptr || !isUnchanged(*found))
      return false;
    for (size_t i = 0; i < candidates_.size(); ++i)
      if (found->candidates[i].mayPass && !build(candidates_[i], target_).failure)
        return false;
    report_.candidates = found->candidates;
    report_.winner = found->winner;
    report_.library = buildFolder(keys_[found->winner]);
    return true;
  }

  WorkerAnswer ask(const WorkerRequest& request, std::chrono::milliseconds timeout) const {
    return worker_.ask(request, folder(), timeout, options_.stop);
  }

  WorkerAnswer build(const Candidate& candidate, const std::string& target) const {
    return ask(BuildRequest{moduleOf(task_, candidate), target, folder(), flagsOf(candidate),
                            options_.force},
               options_.buildTimeout);
  }

  // The reference and all candidates, several at a time. What stops one thread stops all.
  void buildAll() {
    const size_t count = candidates_.size() + 1;
    std::vector<WorkerAnswer> answers(count);
    std::atomic<size_t> next = 0;
    std::atomic<bool> stopped = false;
    std::vector<std::exception_ptr> errors(count);
    const auto work = [&] {
      for (size_t i = next++; i < count && !stopped; i = next++) {
        try {
          answers[i] = i == 0 ? build(referenceCandidate(), referenceTarget())
                              : build(candidates_[i - 1], target_);
          if (i > 0 && !answers[i].failure)
            ++built_;
        } catch (...) {
          errors[i] = std::current_exception();
          stopped = true;
        }
      }
    };
    {
      const size_t wanted = options_.jobs > 0 ? options_.jobs : std::thread::hardware_concurrency();
      std::vector<std::jthread> threads;
      for (size_t i = 0; i < std::clamp<size_t>(wanted, 1, count); ++i)
        threads.emplace_back(work);
    }
    for (const std::exception_ptr& error : errors)
      if (error)
        std::rethrow_exception(error);
    takeBuilds(answers);
  }

  void takeBuilds(const std::vector<WorkerAnswer>& answers) {
    if (const auto& failure = answers.front().failure) {
      Failure why = *failure;
      why.message = "task " + task_.name + ": the payload cannot be built: " + why.message;
      throw ItemError(why);
    }
    reference_ = answers.front().folder;
    checkEntry();
    std::map<Digest, size_t> codes; // to the first candidate that has it
    for (size_t i = 0; i < candidates_.size(); ++i) {
      CandidateRecord& record = report_.candidates[i];
      const WorkerAnswer& answer = answers[i + 1];
      if (answer.failure) {
        setFailure(record, *answer.failure);
        record.mayPass = answer.failure->kind == FailureKind::ToolFailed;
        continue;
      }
      record.state = CandidateState::Built;
      record.build = keys_[i].hex();
      record.digest = answer.digest;
      const Digest code = codeDigest(answer.folder + "/lib.so", keys_[i]);
      const auto [first, isNew] = codes.emplace(code, i);
      if (!isNew) {
        record.state = CandidateState::Same;
        record.reason = "the same code as " + report_.candidates[first->second].name;
      }
    }
  }

  void checkEntry() const {
    std::vector<std::string> names;
    for (const LibraryEntry& entry : readManifest(reference_).entries)
      names.push_back(entry.name);
    if (task_.entry.empty() && names.size() == 1)
      return;
    if (task_.entry.empty())
      throw UsageError("task " + task_.name + ": the payload has " + std::to_string(names.size()) +
                       " functions; the entry has to be named");
    if (std::find(names.begin(), names.end(), task_.entry) == names.end())
      throw UsageError("task " + task_.name + ": the payload has no function \"" + task_.entry +
                       '"' + didYouMean(task_.entry, names));
  }

  Trials trials() const {
    return {task_.entry, file(kReference), kInputSeed, task_.tolerance, options_.timing};
  }

  std::vector<size_t> inState(CandidateState state) const {
    std::vector<size_t> found;
    for (size_t i = 0; i < candidates_.size(); ++i)
      if (report_.candidates[i].state == state)
        found.push_back(i);
    return found;
  }

  void measureAll() {
    const RemovedFile results(file(kReference)); // as large as the results are
    const WorkerAnswer reference = ask(ReferenceRequest{reference_, trials()}, options_.runTimeout);
    if (reference.failure)
      fail(task_, reference.failure->kind,
           "the payload cannot be run: " + reference.failure->message);
    for (const size_t i : inState(CandidateState::Built))
      measureOne(i);
    confirm();
    report_.measured = true;
    DispatchTable table = DispatchTable::read(file("dispatch.json"), key());
    table.set({report_.processor, report_.candidates, report_.winner});
    table.write(file("dispatch.json"), key());
  }

  void take(CandidateRecord& record, const Measured& measured) const {
    record.reason = measured.reason;
    switch (measured.state) {
    case Measured::State::Timed:
      record.state = CandidateState::Timed;
      record.timing = measured.timing;
      break;
    case Measured::State::Wrong:
      record.state = CandidateState::Wrong;
      break;
    case Measured::State::Failed:
      record.state = CandidateState::Failed;
      break;
    }
  }

  // A process for each, so that one that crashes is known.
  void measureOne(size_t index) {
    CandidateRecord& record = report_.candidates[index];
    const WorkerAnswer answer =
        ask(MeasureRequest{{buildFolder(keys_[index])}, trials()}, options_.runTimeout);
    if (answer.failure)
      setFailure(record, *answer.failure);
    else
      take(record, answer.measured.at(0));
    ++measured_;
  }

  // Those that were about as fast as the fastest, in turns in one process: what disturbs them
  // disturbs all.
  void confirm() {
    std::vector<size_t> order = inState(CandidateState::Timed);
    if (order.empty())
      failAll();
    const auto median = [&](size_t i) { return report_.candidates[i].timing.median; };
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return median(a) < median(b); });
    std::erase_if(order, [&, best = median(order.front())](size_t i) {
      return median(i) > best * (1 + kFinalists);
    });
    order.resize(std::min(order.size(), kMostFinalists));
    report_.winner = order.front();
    std::sort(order.begin(), order.end());
    if (order.size() > 1)
      playFinal(order);
    report_.library = buildFolder(keys_[report_.winner]);
  }

  void playFinal(const std::vector<size_t>& finalists) {
    MeasureRequest request{{}, trials()};
    for (const size_t i : finalists)
      request.libraries.push_back(buildFolder(keys_[i]));
    const WorkerAnswer answer = ask(request, options_.runTimeout * int(finalists.size()));
    if (answer.failure)
      return; // the first round stands
    std::vector<Timing> timings;
    std::vector<size_t> left;
    for (size_t i = 0; i < finalists.size(); ++i) {
      CandidateRecord& record = report_.candidates[finalists[i]];
      take(record, answer.measured.at(i));
      if (record.state != CandidateState::Timed)
        continue;
      timings.push_back(record.timing);
      left.push_back(finalists[i]);
    }
    if (left.empty())
      failAll();
    report_.winner = left[fastest(timings, kTie)];
  }

  void chooseUnmeasured() {
    const std::vector<size_t> built = inState(CandidateState::Built);
    if (built.empty())
      failAll();
    report_.winner = built.front();
    report_.library = buildFolder(keys_[report_.winner]);
    report_.note = "nothing was run or compared: candidates for " + parsed_.name +
                   " are built only; the first one is chosen";
  }

  [[noreturn]] void failAll() const {
    const auto failed = std::find_if(
        report_.candidates.begin(), report_.candidates.end(),
        [](const CandidateRecord& record) { return record.state != CandidateState::Same; });
    fail(task_, FailureKind::Internal,
         "no candidate is usable; " + failed->name + ": " + failed->reason);
  }

  // Lets lib.so and manifest.json of the folder lead to the winner, which is there.
  void link() const {
    const Candidate& winner = candidates_[report_.winner];
    BuildOptions options = buildOptions(winner, target_);
    options.outputDir = folder();
    driver_.build(moduleOf(task_, winner), options);
  }

  const TaskOptions& options_;
  const Task& task_;
  const std::string& target_;
  const Target parsed_;
  const std::vector<Candidate> candidates_;
  BuildDriver& driver_;
  const CandidateWorker worker_;
  std::vector<Digest> keys_; // of the candidates' builds
  std::string reference_;    // folder of its build
  std::atomic<size_t> built_ = 0;
  size_t measured_ = 0;
  TaskReport report_;
};

TaskBuilder::TaskBuilder(BuildDriver& driver, TaskOptions options)
    : driver_(driver), options_(std::move(options)) {
  if (options_.cacheDir.empty())
    throw UsageError("tasks need a folder for what is built and measured");
}

TaskReport TaskBuilder::build(const Task& task, const std::string& target) {
  Work work(driver_, options_, task, target);
  const std::string locks = std::filesystem::path(work.folder()).parent_path() / "locks";
  makeDirectories(locks);
  const BuildLocks::Held held =
      locks_.acquire(locks + '/' + work.key().hex(), options_.lockTimeout, options_.stop);
  return work.run(locks_, locks + "/measuring");
}

CompiledTask TaskBuilder::load(const Task& task, const TaskReport& report) const {
  const LoadedModule loaded = CompiledModule::load(report.library);
  const CompiledModule& module = loaded.value();
  if (task.entry.empty() && module.entries().size() != 1)
    throw UsageError("task " + task.name +
                     ": there are several functions; an entry has to be named");
  const std::string& name = task.entry.empty() ? module.entries().front().name : task.entry;
  return {task.name, module.function(name), report.candidates, report.winner};
}

std::optional<CompiledTask> buildTask(TaskBuilder& builder, const Task& task,
                                      const std::string& target, bool load) {
  const TaskReport report = builder.build(task, target);
  if (!load)
    return std::nullopt;
  return builder.load(task, report);
}

} // namespace nocturne::compiler
