#include "compiler/drivers/processor.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <optional>
#include <sstream>
#include <string_view>
#include <utility>

namespace nocturne::compiler {

namespace {

struct Answer {
  std::string_view name;
  bool has;
};

// The compiler's question takes a literal only, so that the names are written out.
std::optional<bool> compilerKnows(std::string_view feature) {
#ifdef __x86_64__
#define NOCTURNE_FEATURE(NAME) Answer{NAME, __builtin_cpu_supports(NAME) != 0}
  const std::array answers = {
      Answer{"x86-64", true},        NOCTURNE_FEATURE("x86-64-v2"),
      NOCTURNE_FEATURE("x86-64-v3"), NOCTURNE_FEATURE("x86-64-v4"),
      NOCTURNE_FEATURE("sse4.1"),    NOCTURNE_FEATURE("sse4.2"),
      NOCTURNE_FEATURE("avx"),       NOCTURNE_FEATURE("avx2"),
      NOCTURNE_FEATURE("fma"),       NOCTURNE_FEATURE("bmi"),
      NOCTURNE_FEATURE("bmi2"),      NOCTURNE_FEATURE("popcnt"),
      NOCTURNE_FEATURE("avx512f"),   NOCTURNE_FEATURE("avx512bw"),
      NOCTURNE_FEATURE("avx512cd"),  NOCTURNE_FEATURE("avx512dq"),
      NOCTURNE_FEATURE("avx512vl"),  NOCTURNE_FEATURE("lzcnt"),
      NOCTURNE_FEATURE("sse4a"),     NOCTURNE_FEATURE("fsgsbase"),
      Answer{"prefetchi", true}, // a hint: nothing happens where there is none
  };
#undef NOCTURNE_FEATURE
  const auto* found = std::find_if(answers.begin(), answers.end(),
                                   [&](const Answer& answer) { return answer.name == feature; });
  if (found != answers.end())
    return found->has;
#else
  static_cast<void>(feature);
#endif
  return std::nullopt;
}

// "avx512bf16" and "sse4.2" of a compiler are "avx512_bf16" and "sse4_2" there.
std::string letters(std::string_view name) {
  std::string found;
  for (const char c : name)
    if (c != '.' && c != '-' && c != '_')
      found.push_back(c);
  return found;
}

// Where the kernel has another word altogether.
std::string kernelName(const std::string& feature) {
  using Pair = std::pair<std::string_view, std::string_view>;
  static constexpr std::array kOthers = {
      Pair{"64bit", "lm"},         Pair{"x87", "fpu"},         Pair{"sse3", "pni"},
      Pair{"sahf", "lahf_lm"},     Pair{"lzcnt", "abm"},       Pair{"prfchw", "3dnowprefetch"},
      Pair{"crc32", "sse4_2"},     Pair{"sha", "sha_ni"},      Pair{"rdrnd", "rdrand"},
      Pair{"pclmul", "pclmulqdq"}, Pair{"evex512", "avx512f"}, Pair{"shstk", "user_shstk"},
  };
  for (const auto& [compilers, kernels] : kOthers)
    if (feature == compilers)
      return letters(kernels);
  return letters(feature);
}

bool kernelLists(const std::string& feature) {
  std::ifstream file("/proc/cpuinfo");
  const std::string wanted = kernelName(feature);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("flags") && !line.starts_with("Features"))
      continue;
    std::istringstream words(line.substr(std::min(line.find(':'), line.size() - 1) + 1));
    for (std::string word; words >> word;)
      if (letters(word) == wanted)
        return true;
    return false; // the processors of one machine have the same
  }
  return false;
}

} // namespace

bool processorHas(const std::string& feature) {
  if (const std::optional<bool> known = compilerKnows(feature))
    return *known;
  return kernelLists(feature);
}

std::vector<std::string> missingFeatures(const std::vector<std::string>& features) {
  std::vector<std::string> missing;
  std::copy_if(features.begin(), features.end(), std::back_inserter(missing),
               [](const std::string& feature) { return !processorHas(feature); });
  return missing;
}

} // namespace nocturne::compiler
