// What a result's notes say: which operations had no rule, and which rates were supposed.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "engine/result.h"

namespace nocturne::tools {

struct Notes {
  std::vector<Uncovered> uncovered;
  std::vector<std::string> assumedRates; // element types without a rate of their own
};

// Reads the notes of ResultRow. Thousands of rows have the same ones, so each text is parsed once.
class NotesReader {
public:
  // Stays valid until the next call. Throws Error when the text is not what the engine writes.
  const Notes& read(const std::string& text);

private:
  Notes none_;
  std::unordered_map<std::string, Notes> known_;
};

} // namespace nocturne::tools
