#include "compiler/drivers/target.h"

#include <algorithm>
#include <vector>

#include "engine/error.h"
#include "engine/options.h"

namespace nocturne::compiler {

namespace {

using Keys = std::vector<std::string>;

const std::map<std::string, Keys>& targets() {
  static const std::map<std::string, Keys> table = {
      {"cpu", {"arch", "features"}},
      {"cuda", {"arch", "features", "cpu_arch"}},
  };
  return table;
}

std::vector<std::string_view> words(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  std::vector<std::string_view> found;
  for (size_t start = text.find_first_not_of(kBlanks); start != std::string_view::npos;) {
    const size_t end = std::min(text.find_first_of(kBlanks, start), text.size());
    found.push_back(text.substr(start, end - start));
    start = text.find_first_not_of(kBlanks, end);
  }
  return found;
}

std::string joined(const Keys& names) {
  std::string text;
  for (const std::string& name : names)
    text.append(text.empty() ? "" : ", ").append(name);
  return text;
}

bool isDigit(char c) {
  return c >= '0' && c <= '9';
}

bool isLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// Names of processors and lists of features; nothing that a shell, a path or a key could mistake.
bool isValue(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return isDigit(c) || isLetter(c) || std::string_view("-_.,+").find(c) != std::string_view::npos;
  });
}

bool isCudaArch(std::string_view text) {
  if (!text.starts_with("sm_"))
    return false;
  text.remove_prefix(3);
  if (!text.empty() && isLetter(text.back()))
    text.remove_suffix(1);
  return text.size() >= 2 && std::all_of(text.begin(), text.end(), isDigit);
}

class Parser {
public:
  explicit Parser(std::string_view text) : text_(text) {}

  Target parse() {
    const std::vector<std::string_view> parts = words(text_);
    if (parts.empty())
      fail("a target has a name: " + joined(names()));
    target_.name = parts.front();
    if (!targets().contains(target_.name))
      fail("there is no target " + quoted(parts.front()) + " (there are " + joined(names()) + ")" +
           didYouMean(target_.name, names()));
    for (size_t i = 1; i < parts.size(); ++i)
      addOption(parts[i]);
    return target_;
  }

private:
  static Keys names() {
    Keys all;
    for (const auto& [name, keys] : targets())
      all.push_back(name);
    return all;
  }
  static std::string quoted(std::string_view part) { return '"' + std::string(part) + '"'; }

  [[noreturn]] void fail(const std::string& what) const {
    throw UsageError("target " + quoted(text_) + ": " + what);
  }

  void addOption(std::string_view part) {
    const size_t equals = part.find('=');
    if (!part.starts_with("--") || equals == std::string_view::npos)
      fail(quoted(part) + " is not of the form --key=value");
    const std::string key(part.substr(2, equals - 2));
    const std::string value(part.substr(equals + 1));
    const Keys& keys = targets().at(target_.name);
    if (std::find(keys.begin(), keys.end(), key) == keys.end()) {
      Keys options; // as one writes them
      for (const std::string& known : keys)
        options.push_back("--" + known);
      fail(target_.name + " has no option " + quoted("--" + key) + " (it has " + joined(options) +
           ")" + didYouMean("--" + key, options));
    }
    if (!isValue(value))
      fail(quoted(part) + " has no usable value");
    if (target_.name == "cuda" && key == "arch" && !isCudaArch(value))
      fail(quoted(value) + " is no CUDA architecture such as sm_90");
    if (!target_.options.emplace(key, value).second)
      fail(quoted("--" + key) + " is given twice");
  }

  std::string_view text_;
  Target target_;
};

} // namespace

std::string Target::option(const std::string& key) const {
  const auto found = options.find(key);
  return found == options.end() ? std::string() : found->second;
}

std::string Target::text() const {
  std::string text = name;
  for (const auto& [key, value] : options)
    text.append(" --").append(key).append("=").append(value);
  return text;
}

Target parseTarget(std::string_view text) {
  return Parser(text).parse();
}

} // namespace nocturne::compiler
