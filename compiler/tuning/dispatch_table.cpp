#include "compiler/tuning/dispatch_table.h"

#include <algorithm>
#include <array>

#include "engine/error.h"
#include "engine/file_bytes.h"
#include "engine/json.h"
#include "storage/atomic_file.h"

namespace nocturne::compiler {

namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr int kSchema = 1;
constexpr std::array<std::string_view, 7> kStates = {"timed",  "built",   "same",     "wrong",
                                                     "failed", "crashed", "timed out"};

OrderedJson timingJson(const Timing& timing) {
  return {{"median_s", timing.median},
          {"lower_quartile_s", timing.lower},
          {"upper_quartile_s", timing.upper},
          {"samples", timing.samples},
          {"calls_per_sample", timing.callsPerSample},
          {"interrupted_samples", timing.interrupted}};
}

Timing timingFrom(const Json& json) {
  Timing timing;
  json.at("median_s").get_to(timing.median);
  json.at("lower_quartile_s").get_to(timing.lower);
  json.at("upper_quartile_s").get_to(timing.upper);
  json.at("samples").get_to(timing.samples);
  json.at("calls_per_sample").get_to(timing.callsPerSample);
  json.at("interrupted_samples").get_to(timing.interrupted);
  return timing;
}

OrderedJson recordJson(const CandidateRecord& record) {
  OrderedJson json = {{"name", record.name},     {"state", toString(record.state)},
                      {"reason", record.reason}, {"may_pass", record.mayPass},
                      {"build", record.build},   {"blake3", record.digest}};
  if (record.state == CandidateState::Timed)
    json["timing"] = timingJson(record.timing);
  return json;
}

CandidateRecord recordFrom(const Json& json) {
  CandidateRecord record;
  json.at("name").get_to(record.name);
  record.state = candidateStateFromString(json.at("state").get<std::string>());
  json.at("reason").get_to(record.reason);
  json.at("may_pass").get_to(record.mayPass);
  json.at("build").get_to(record.build);
  json.at("blake3").get_to(record.digest);
  if (record.state == CandidateState::Timed)
    record.timing = timingFrom(json.at("timing"));
  return record;
}

OrderedJson dispatchJson(const Dispatch& dispatch) {
  OrderedJson candidates = OrderedJson::array();
  for (const CandidateRecord& record : dispatch.candidates)
    candidates.push_back(recordJson(record));
  return {{"processor", dispatch.processor},
          {"winner", dispatch.winner},
          {"candidates", std::move(candidates)}};
}

Dispatch dispatchFrom(const Json& json) {
  Dispatch dispatch;
  json.at("processor").get_to(dispatch.processor);
  json.at("winner").get_to(dispatch.winner);
  for (const Json& record : json.at("candidates"))
    dispatch.candidates.push_back(recordFrom(record));
  if (dispatch.winner >= dispatch.candidates.size() ||
      dispatch.candidates[dispatch.winner].state != CandidateState::Timed)
    throw Error("the winner was not measured");
  return dispatch;
}

} // namespace

std::string_view toString(CandidateState state) {
  return kStates.at(static_cast<size_t>(state));
}

CandidateState candidateStateFromString(std::string_view text) {
  const auto found = std::find(kStates.begin(), kStates.end(), text);
  if (found == kStates.end())
    throw Error("candidates have no state \"" + std::string(text) + '"');
  return static_cast<CandidateState>(found - kStates.begin());
}

DispatchTable DispatchTable::read(const std::string& path, const Digest& task) {
  DispatchTable table;
  try {
    const Json json = Json::parse(readFile(path));
    if (json.at("schema") != kSchema || json.at("task") != task.hex())
      return {};
    for (const Json& entry : json.at("measured"))
      table.entries_.push_back(dispatchFrom(entry));
  } catch (const std::exception&) {
    return {}; // measured again
  }
  return table;
}

void DispatchTable::write(const std::string& path, const Digest& task) const {
  OrderedJson measured = OrderedJson::array();
  for (const Dispatch& entry : entries_)
    measured.push_back(dispatchJson(entry));
  const OrderedJson json = {
      {"schema", kSchema}, {"task", task.hex()}, {"measured", std::move(measured)}};
  writeFileAtomically(path, json.dump(2, ' ', false, OrderedJson::error_handler_t::replace) + "\n");
}

const Dispatch* DispatchTable::find(const std::string& processor) const {
  const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const Dispatch& entry) {
    return entry.processor == processor;
  });
  return found == entries_.end() ? nullptr : &*found;
}

void DispatchTable::set(Dispatch dispatch) {
  std::erase_if(entries_,
                [&](const Dispatch& entry) { return entry.processor == dispatch.processor; });
  entries_.push_back(std::move(dispatch));
}

} // namespace nocturne::compiler
