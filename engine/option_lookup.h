// Options by path, for whoever checks a grid.
#pragma once

#include <string>
#include <string_view>

#include "engine/options.h"

namespace nocturne {

// The option that a path leads to, and what is left of the path when it goes on into the option's
// table ("bf16" of "per_datatype_flops.bf16").
struct FoundOption {
  const ConfigOption* option = nullptr;
  std::string tableKey;
};
FoundOption findOption(const OptionSchema& schema, std::string_view path);

// The value as the option's validator keeps it. Throws UsageError without pointer.
Json checkedValue(const FoundOption& found, const Json& value);

// "; did you mean ...?" for a key that `level`, somewhere below `root`, does not have.
std::string suggestOption(const OptionSchema& root, const OptionSchema& level,
                          std::string_view key);

} // namespace nocturne
