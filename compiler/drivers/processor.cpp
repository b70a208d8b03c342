#include "compiler/drivers/processor.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <fstream>
#include <optional>
#include <sstream>
#include <string_view>
#include <utility>

#ifdef __x86_64__
#include <cpuid.h>
#endif

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

#ifdef __x86_64__

enum class Register : uint8_t { A, B, C, D };

// Where the processor says that it has something.
struct ProcessorBit {
  std::string_view name;
  uint32_t leaf, subleaf;
  Register place;
  unsigned bit;
  // What has to be there as well, because the system has to save its registers.
  std::string_view needs;
};

// A compiler that asks the processor finds these, and kernels say nothing of them: some do not make
// use of them, others are told by nobody.
constexpr std::array kUnlisted = {
    ProcessorBit{"sgx", 7, 0, Register::B, 2, ""},
    ProcessorBit{"invpcid", 7, 0, Register::B, 10, ""},
    ProcessorBit{"rtm", 7, 0, Register::B, 11, ""},
    ProcessorBit{"pku", 7, 0, Register::C, 4, ""},
    ProcessorBit{"waitpkg", 7, 0, Register::C, 5, ""},
    ProcessorBit{"shstk", 7, 0, Register::C, 7, ""},
    ProcessorBit{"rdpid", 7, 0, Register::C, 22, ""},
    ProcessorBit{"kl", 7, 0, Register::C, 23, ""},
    ProcessorBit{"cldemote", 7, 0, Register::C, 25, ""},
    ProcessorBit{"movdiri", 7, 0, Register::C, 27, ""},
    ProcessorBit{"movdir64b", 7, 0, Register::C, 28, ""},
    ProcessorBit{"enqcmd", 7, 0, Register::C, 29, ""},
    ProcessorBit{"uintr", 7, 0, Register::D, 5, ""},
    ProcessorBit{"serialize", 7, 0, Register::D, 14, ""},
    ProcessorBit{"tsxldtrk", 7, 0, Register::D, 16, ""},
    ProcessorBit{"pconfig", 7, 0, Register::D, 18, ""},
    ProcessorBit{"sha512", 7, 1, Register::A, 0, "avx"},
    ProcessorBit{"sm3", 7, 1, Register::A, 1, "avx"},
    ProcessorBit{"sm4", 7, 1, Register::A, 2, "avx"},
    ProcessorBit{"raoint", 7, 1, Register::A, 3, ""},
    ProcessorBit{"cmpccxadd", 7, 1, Register::A, 7, ""},
    ProcessorBit{"amx-fp16", 7, 1, Register::A, 21, "amx-tile"},
    ProcessorBit{"hreset", 7, 1, Register::A, 22, ""},
    ProcessorBit{"avxifma", 7, 1, Register::A, 23, "avx"},
    ProcessorBit{"movrs", 7, 1, Register::A, 31, ""},
    ProcessorBit{"avxvnniint8", 7, 1, Register::D, 4, "avx"},
    ProcessorBit{"avxneconvert", 7, 1, Register::D, 5, "avx"},
    ProcessorBit{"amx-complex", 7, 1, Register::D, 8, "amx-tile"},
    ProcessorBit{"avxvnniint16", 7, 1, Register::D, 10, "avx"},
    ProcessorBit{"usermsr", 7, 1, Register::D, 15, ""},
    ProcessorBit{"avx10.1", 7, 1, Register::D, 19, "avx512f"},
    ProcessorBit{"xsaves", 0xD, 1, Register::A, 3, ""},
    ProcessorBit{"ptwrite", 0x14, 0, Register::B, 4, ""},
    ProcessorBit{"widekl", 0x19, 0, Register::B, 2, ""},
    ProcessorBit{"rdpru", 0x80000008, 0, Register::B, 4, ""},
    ProcessorBit{"wbnoinvd", 0x80000008, 0, Register::B, 9, ""},
};

bool isSet(const ProcessorBit& wanted) {
  std::array<unsigned, 4> registers{};
  auto& [a, b, c, d] = registers;
  return __get_cpuid_count(wanted.leaf, wanted.subleaf, &a, &b, &c, &d) != 0 &&
         (registers.at(static_cast<size_t>(wanted.place)) >> wanted.bit & 1) != 0;
}

bool processorTells(const std::string& feature) {
  const auto* found =
      std::find_if(kUnlisted.begin(), kUnlisted.end(),
                   [&](const ProcessorBit& known) { return known.name == feature; });
  return found != kUnlisted.end() && isSet(*found) &&
         (found->needs.empty() || processorHas(std::string(found->needs)));
}

#else

bool processorTells(const std::string&) {
  return false;
}

#endif

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
      Pair{"pclmul", "pclmulqdq"}, Pair{"evex512", "avx512f"},
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
  return processorTells(feature) || kernelLists(feature);
}

std::vector<std::string> missingFeatures(const std::vector<std::string>& features) {
  std::vector<std::string> missing;
  std::copy_if(features.begin(), features.end(), std::back_inserter(missing),
               [](const std::string& feature) { return !processorHas(feature); });
  return missing;
}

} // namespace nocturne::compiler
