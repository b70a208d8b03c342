// What code is built for: "cpu", "cpu --arch=x86-64-v3", "cuda --arch=sm_90".
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace nocturne::compiler {

struct Target {
  std::string name = "cpu";
  // Key to value, without the dashes. Sorted, so that the order of typing makes no difference.
  std::map<std::string, std::string> options;

  // "" when the option is not given.
  std::string option(const std::string& key) const;
  // The one spelling: name, then the options in order of their keys.
  std::string text() const;
  bool operator==(const Target&) const = default;
};

// `name {--key=value}`. The keys of cpu are arch and features, those of cuda are arch, features and
// cpu_arch. Values of cuda's arch are "sm_" and a number, with a letter or without; which names of
// processors exist is known to the code generator only. Throws UsageError, which names the part
// that is wrong and the nearest that is right.
Target parseTarget(std::string_view text);

} // namespace nocturne::compiler
