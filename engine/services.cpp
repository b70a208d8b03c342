#include "engine/services.h"

#include "engine/json_text.h"

namespace nocturne {

namespace {

std::string notesOf(const EstimatorResult& result) {
  Json notes = Json::object();
  for (const Uncovered& op : result.uncovered)
    notes["uncovered"].push_back(Json::array({op.name, op.runs}));
  for (ElementKind kind : result.assumedRates)
    notes["assumed_rates"].push_back(std::string(name(kind)));
  return notes.empty() ? "" : canonicalJson(notes);
}

void readNotes(const std::string& text, EstimatorResult& result) {
  if (text.empty())
    return;
  Json notes = Json::parse(text);
  for (const Json& op : notes.value("uncovered", Json::array()))
    result.uncovered.push_back({op.at(0).get<std::string>(), op.at(1).get<double>()});
  for (const Json& kind : notes.value("assumed_rates", Json::array())) {
    std::optional<ElementKind> known = elementKindFromName(kind.get<std::string>());
    if (!known)
      throw Error(excerpt(kind) + " is no element type");
    result.assumedRates.push_back(*known);
  }
}

} // namespace

ModuleFacts factsOf(const Module& module) {
  return {module.contentHash,     module.fingerprint, module.rows.size(), module.collectives,
          module.collectiveBytes, module.peakBytes,   module.assumptions};
}

ResultRow toRow(const EstimatorResult& result, int64_t failureOp) {
  ResultRow row;
  row.success = result.success;
  row.runtime = result.runtime;
  row.flops = result.flops;
  row.bytes = result.bytes;
  row.coveredRuns = result.coveredRuns;
  row.totalRuns = result.totalRuns;
  row.notes = notesOf(result);
  if (result.failure) {
    row.failure = result.failure->kind;
    row.failureMessage = result.failure->message;
    row.failureOp = failureOp;
  }
  return row;
}

EstimatorResult fromRow(const ResultRow& row) {
  EstimatorResult result;
  result.success = row.success;
  result.runtime = row.runtime;
  result.flops = row.flops;
  result.bytes = row.bytes;
  result.coveredRuns = row.coveredRuns;
  result.totalRuns = row.totalRuns;
  if (row.failure)
    result.failure = Failure{*row.failure, row.failureMessage, "", 0, 0};
  try {
    readNotes(row.notes, result);
  } catch (const Json::exception& error) {
    throw Error(std::string("the notes of a result cannot be read: ") + error.what());
  }
  return result;
}

} // namespace nocturne
