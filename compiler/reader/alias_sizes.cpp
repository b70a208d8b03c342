#include "compiler/reader/alias_sizes.h"

#include <cctype>

namespace nocturne::compiler {

namespace {

bool isNameCharacter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' || c == '.';
}

// The alias at the front: its mark and its name.
std::string_view nameAt(std::string_view text) {
  size_t length = 1;
  while (length < text.size() && isNameCharacter(text[length]))
    ++length;
  return text.substr(0, length);
}

} // namespace

double AliasSizes::define(std::string_view definition) {
  const std::string_view name = nameAt(definition);
  definition.remove_prefix(name.size());
  const size_t value = definition.find_first_not_of(" =");
  double parts = 1;
  if (value == std::string_view::npos || definition.substr(value).starts_with("loc("))
    return parts;
  for (size_t at = value; at < definition.size(); ++at) {
    if (definition[at] != '!' && definition[at] != '#')
      continue;
    const std::string_view used = nameAt(definition.substr(at));
    if (const auto known = sizes_.find(std::string(used)); known != sizes_.end())
      parts += known->second;
    at += used.size() - 1;
  }
  sizes_[std::string(name)] = parts;
  return parts;
}

} // namespace nocturne::compiler
