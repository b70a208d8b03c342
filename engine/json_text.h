// JSON that people write: parsed with places for the mistakes in it.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "engine/options.h"

namespace nocturne {

struct ParsedJson {
  Json value;
  // Keys as written of each object that has any, by its JSON pointer: a Json sorts them.
  std::map<std::string, std::vector<std::string>> keyOrder;
};

// Comments are allowed; a key that appears twice in an object is not, nor is nesting below 64
// levels. `name` stands for the text in messages: "name:line:column: ...". Throws UsageError.
ParsedJson parseJsonText(std::string_view text, const std::string& name);

// The whole file. Throws UsageError when it cannot be read.
std::string readTextFile(const std::string& path);

// `pointer` + "/" + key, with '~' and '/' escaped as RFC 6901 has it.
std::string childPointer(const std::string& pointer, std::string_view key);
std::string childPointer(const std::string& pointer, size_t index);

// The value as canonical text for a message, cut off when it is long.
std::string excerpt(const Json& value);

// Calls `work` and puts `pointer` in front of the message of a UsageError that has no pointer.
template <typename Work>
auto atPointer(const std::string& pointer, Work&& work) {
  try {
    return work();
  } catch (const UsageError& error) {
    if (!error.pointer().empty() || pointer.empty())
      throw;
    throw UsageError(error.what(), pointer);
  }
}

} // namespace nocturne
