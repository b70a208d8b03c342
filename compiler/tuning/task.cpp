#include "compiler/tuning/task.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "engine/error.h"
#include "engine/file_bytes.h"
#include "engine/json.h"
#include "engine/options.h"

namespace nocturne::compiler {

namespace {

namespace fs = std::filesystem;

constexpr int kTaskSchema = 1;

// A file that was asked for and is not there is a mistake in what was asked.
std::string readNamed(const fs::path& path, const std::string& pointer = "") {
  try {
    return readFile(path.string());
  } catch (const ItemError& error) {
    throw UsageError(error.failure().text(), pointer);
  }
}

ModuleSource readModule(const fs::path& path, const std::string& pointer = "") {
  return {path.filename().string(), readNamed(path, pointer)};
}

// The members of one object, each read once; those that nobody asked for are mistakes.
class Members {
public:
  Members(const Json& json, std::string pointer) : json_(json), pointer_(std::move(pointer)) {
    if (!json.is_object())
      throw UsageError("expected an object", pointer_);
  }

  const Json* find(const std::string& name) {
    known_.push_back(name);
    const auto found = json_.find(name);
    return found == json_.end() ? nullptr : &*found;
  }

  std::string text(const std::string& name, const std::string& otherwise = "") {
    const Json* value = find(name);
    if (value == nullptr)
      return otherwise;
    if (!value->is_string() || value->get<std::string>().empty())
      throw UsageError("expected a text", pointerOf(name));
    return value->get<std::string>();
  }

  void finish() const {
    for (const auto& [name, value] : json_.items())
      if (std::find(known_.begin(), known_.end(), name) == known_.end())
        throw UsageError("there is no member \"" + name + '"' + didYouMean(name, known_),
                         pointerOf(name));
  }

  std::string pointerOf(const std::string& name) const { return pointer_ + '/' + name; }

private:
  const Json& json_;
  std::string pointer_;
  std::vector<std::string> known_;
};

Candidate readCandidate(const Json& json, const std::string& pointer, const fs::path& folder) {
  Members members(json, pointer);
  Candidate candidate;
  candidate.name = members.text("name");
  if (candidate.name.empty())
    throw UsageError("a candidate has a name", pointer);
  const std::string schedule = members.text("schedule"), module = members.text("module");
  if (const Json* flags = members.find("flags")) {
    if (!flags->is_array() || !std::all_of(flags->begin(), flags->end(),
                                           [](const Json& flag) { return flag.is_string(); }))
      throw UsageError("expected a list of texts", members.pointerOf("flags"));
    flags->get_to(candidate.flags);
  }
  members.finish();
  if (!schedule.empty()) {
    candidate.schedule = readNamed(folder / schedule, members.pointerOf("schedule"));
    if (candidate.schedule.empty()) // which would be none
      throw UsageError("the schedule " + schedule + " is empty", members.pointerOf("schedule"));
  }
  if (!module.empty())
    candidate.module = readModule(folder / module, members.pointerOf("module"));
  return candidate;
}

std::vector<Candidate> readCandidates(const Json& json, const fs::path& folder) {
  const std::string pointer = "/candidates";
  if (!json.is_array())
    throw UsageError("expected a list", pointer);
  std::vector<Candidate> candidates;
  std::set<std::string> names;
  for (size_t i = 0; i < json.size(); ++i) {
    const std::string place = pointer + '/' + std::to_string(i);
    candidates.push_back(readCandidate(json[i], place, folder));
    if (!names.insert(candidates.back().name).second)
      throw UsageError("two candidates have the name \"" + candidates.back().name + '"', place);
  }
  return candidates;
}

Task taskFrom(const Json& json, const fs::path& path) {
  Members members(json, "");
  const Json* schema = members.find("schema");
  if (schema == nullptr || *schema != kTaskSchema)
    throw UsageError("expected " + std::to_string(kTaskSchema), "/schema");
  Task task;
  task.name = members.text("name", path.stem().string());
  const std::string payload = members.text("payload");
  if (payload.empty())
    throw UsageError("a task has a payload, the file of a module", "/payload");
  task.entry = members.text("entry");
  if (const Json* level = members.find("search_space"))
    task.searchSpace =
        searchSpaceFromNumber(level->is_number_integer() ? level->get<int64_t>() : -1);
  if (const Json* tolerance = members.find("tolerance")) {
    if (!tolerance->is_number() || tolerance->get<double>() < 0)
      throw UsageError("expected a number that is not negative", "/tolerance");
    task.tolerance = tolerance->get<double>();
  }
  if (const Json* candidates = members.find("candidates"))
    task.candidates = readCandidates(*candidates, path.parent_path());
  members.finish();
  task.payload = readModule(path.parent_path() / payload, members.pointerOf("payload"));
  return task;
}

} // namespace

bool Candidate::operator==(const Candidate& other) const {
  const bool same = name == other.name && schedule == other.schedule && flags == other.flags &&
                    module.has_value() == other.module.has_value();
  return same &&
         (!module || (module->name == other.module->name && module->text == other.module->text));
}

SearchSpace searchSpaceFromNumber(int64_t number) {
  if (number < 0 || number > 2)
    throw UsageError("expected 0, 1 or 2", "/search_space");
  return static_cast<SearchSpace>(number);
}

Task readTask(const std::string& path) {
  const fs::path file(path);
  if (file.extension() != ".json")
    return {file.stem().string(), readModule(file), "", {}, SearchSpace::Small, {}};
  const std::string text = readNamed(file);
  try {
    return taskFrom(Json::parse(text, nullptr, true, true), file);
  } catch (const UsageError& error) {
    throw error.inFile(path);
  } catch (const Json::exception& error) {
    throw UsageError(path + ": " + error.what());
  }
}

} // namespace nocturne::compiler
