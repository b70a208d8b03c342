#include "storage/facts_columns.h"

#include <nlohmann/json.hpp>

namespace nocturne {

std::string assumptionsText(const std::vector<Assumption>& assumptions) {
  if (assumptions.empty())
    return {};
  Json list = Json::array();
  for (const Assumption& assumption : assumptions)
    list.push_back({assumption.kind, assumption.value, assumption.location});
  return list.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::vector<Assumption> assumptionsFromText(std::string_view text) {
  std::vector<Assumption> assumptions;
  if (text.empty())
    return assumptions;
  try {
    for (const Json& entry : Json::parse(text))
      assumptions.push_back({entry.at(0).get<std::string>(), entry.at(1).get<std::string>(),
                             entry.at(2).get<std::string>()});
  } catch (const Json::exception& error) {
    throw Error(std::string("stored assumptions are broken: ") + error.what());
  }
  return assumptions;
}

void bindFacts(Statement& statement, int first, const ModuleFacts& facts,
               const std::string& assumptions) {
  statement.bind(first, facts.contentHash)
      .bind(first + 1, facts.fingerprint)
      .bind(first + 2, facts.rows)
      .bind(first + 3, facts.collectives)
      .bind(first + 4, facts.collectiveBytes)
      .bind(first + 5, facts.peakBytes)
      .bind(first + 6, std::string_view(assumptions));
}

ModuleFacts readFacts(const Statement& statement, int firstColumn) {
  ModuleFacts facts;
  facts.contentHash = statement.digest(firstColumn);
  facts.fingerprint = statement.digest(firstColumn + 1);
  facts.rows = static_cast<uint64_t>(statement.integer(firstColumn + 2));
  facts.collectives = statement.real(firstColumn + 3);
  facts.collectiveBytes = statement.real(firstColumn + 4);
  facts.peakBytes = statement.real(firstColumn + 5);
  facts.assumptions = assumptionsFromText(statement.text(firstColumn + 6));
  return facts;
}

} // namespace nocturne
