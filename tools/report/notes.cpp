#include "tools/report/notes.h"

#include <nlohmann/json.hpp>

namespace nocturne::tools {

namespace {

// Enough for the few distinct notes that rows near each other have, and a bound on memory.
constexpr size_t kMaxKnown = 4096;

Notes parse(const std::string& text) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object())
    throw Error("the notes of a result are damaged: " + text);
  Notes notes;
  for (const Json& entry : json.value("uncovered", Json::array()))
    notes.uncovered.push_back({entry.at(0).get<std::string>(), entry.at(1).get<double>()});
  for (const Json& rate : json.value("assumed_rates", Json::array()))
    notes.assumedRates.push_back(rate.get<std::string>());
  return notes;
}

} // namespace

const Notes& NotesReader::read(const std::string& text) {
  if (text.empty())
    return none_;
  if (const auto found = known_.find(text); found != known_.end())
    return found->second;
  Notes notes = parse(text);
  if (known_.size() >= kMaxKnown)
    known_.clear();
  return known_.emplace(text, std::move(notes)).first->second;
}

} // namespace nocturne::tools
