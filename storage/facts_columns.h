// ModuleFacts as columns, the same in the result cache and in the run record.
#pragma once

#include <string>
#include <vector>

#include "engine/services.h"
#include "storage/database.h"

namespace nocturne {

// "content_hash, fingerprint, row_count, collectives, collective_bytes, peak_bytes, assumptions"
inline constexpr int kFactsColumns = 7;
inline constexpr const char* kFactsColumnNames =
    "content_hash, fingerprint, row_count, collectives, collective_bytes, peak_bytes, assumptions";

// A JSON array of [kind, value, location]; "" for none. Bytes that are not UTF-8 are replaced.
std::string assumptionsText(const std::vector<Assumption>& assumptions);
std::vector<Assumption> assumptionsFromText(std::string_view text); // throws Error

// Binds parameters first, first + 1, ... `assumptions` is assumptionsText and has to outlive the
// statement's next reset.
void bindFacts(Statement& statement, int first, const ModuleFacts& facts,
               const std::string& assumptions);
ModuleFacts readFacts(const Statement& statement, int firstColumn);

} // namespace nocturne
