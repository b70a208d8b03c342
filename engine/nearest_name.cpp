#include <algorithm>

#include "engine/options.h"

namespace nocturne {

namespace {

// Words beyond this are no misspelt names, and comparing them takes time in the square.
constexpr size_t kLongestWord = 100;
constexpr size_t kShortestPrefix = 3;

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

// Insertions, deletions, replacements and swaps of neighbours; upper and lower case are one.
size_t editDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> beforePrevious(b.size() + 1), previous(b.size() + 1), current(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j)
    previous[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    current[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      bool same = lower(a[i - 1]) == lower(b[j - 1]);
      current[j] =
          std::min({previous[j] + 1, current[j - 1] + 1, previous[j - 1] + (same ? 0 : 1)});
      bool swapped = i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
                     lower(a[i - 2]) == lower(b[j - 1]);
      if (swapped)
        current[j] = std::min(current[j], beforePrevious[j - 2] + 1);
    }
    std::swap(beforePrevious, previous);
    std::swap(previous, current);
  }
  return previous[b.size()];
}

bool startsWith(std::string_view text, std::string_view prefix) {
  return text.size() >= prefix.size() &&
         std::equal(prefix.begin(), prefix.end(), text.begin(),
                    [](char a, char b) { return lower(a) == lower(b); });
}

// The shortest candidate that continues the word ("H100" -> "H100_SXM_80GB").
std::string nearestContinuation(std::string_view word, const std::vector<std::string>& candidates) {
  std::string best;
  for (const std::string& candidate : candidates)
    if (startsWith(candidate, word) && (best.empty() || candidate.size() < best.size()))
      best = candidate;
  return best;
}

} // namespace

std::string nearestName(std::string_view word, const std::vector<std::string>& candidates) {
  if (word.empty() || word.size() > kLongestWord)
    return "";
  // A third of the letters may be wrong, but never all of them.
  size_t limit = std::min((word.size() + 2) / 3, word.size() - 1) + 1;
  std::string best;
  for (const std::string& candidate : candidates) {
    if (candidate.size() > kLongestWord)
      continue;
    size_t distance = editDistance(word, candidate);
    if (distance < limit) {
      limit = distance;
      best = candidate;
    }
  }
  if (best.empty() && word.size() >= kShortestPrefix)
    return nearestContinuation(word, candidates);
  return best;
}

std::string didYouMean(std::string_view word, const std::vector<std::string>& candidates) {
  std::string nearest = nearestName(word, candidates);
  return nearest.empty() ? "" : "; did you mean \"" + nearest + "\"?";
}

} // namespace nocturne
