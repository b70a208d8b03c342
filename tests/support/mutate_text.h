// Texts that are nearly right.
#pragma once

#include <algorithm>
#include <random>
#include <string>
#include <vector>

namespace nocturne::test {

// `text` with up to three places erased, replaced, or with something put in: one of `pieces`, which
// mean something where `text` comes from, or any byte. Of one `random`, the same everywhere.
inline std::string mutated(std::string text, const std::vector<std::string>& pieces,
                           std::mt19937& random) {
  const auto piece = [&] {
    const size_t index = random() % (pieces.size() + 1);
    return index < pieces.size() ? pieces[index]
                                 : std::string(1, static_cast<char>(random() % 256));
  };
  for (unsigned changes = 1 + random() % 3; changes > 0; --changes) {
    const size_t at = random() % (text.size() + 1);
    const size_t length = std::min<size_t>(random() % 12, text.size() - at);
    switch (random() % 3) {
    case 0:
      text.erase(at, length);
      break;
    case 1:
      text.insert(at, piece());
      break;
    default:
      text.replace(at, length, piece());
    }
  }
  return text;
}

} // namespace nocturne::test
