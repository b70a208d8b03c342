#include "compiler/codegen/flags.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "engine/error.h"

namespace nocturne::compiler {

namespace {

// A schedule is long; what people see of it is its first line.
std::string firstLine(const std::string& text) {
  constexpr size_t kLongest = 80;
  return text.substr(0, std::min(text.find('\n'), kLongest));
}

// Tiles beyond these would not fit any registers, blocks beyond them no cache.
constexpr unsigned kMostRows = 32, kMostVectors = 16, kMostKib = 65'536;

unsigned number(std::string_view text, unsigned most) {
  unsigned value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value > most)
    throw UsageError(std::string(kProductsFlag) + ": \"" + std::string(text) +
                     "\" is no number up to " + std::to_string(most));
  return value;
}

ProductSizes readProducts(std::string_view text) {
  const std::array<unsigned, 4> most = {kMostRows, kMostVectors, kMostKib, kMostKib};
  std::array<unsigned, 4> values{};
  for (size_t i = 0; i < values.size(); ++i) {
    const size_t comma = text.find(',');
    if ((comma == std::string_view::npos) != (i + 1 == values.size()))
      throw UsageError(std::string(kProductsFlag) + " takes four numbers");
    values[i] = number(text.substr(0, comma), most[i]);
    text.remove_prefix(
        std::min(text.size(), comma == std::string_view::npos ? text.size() : comma + 1));
  }
  return {values[0], values[1], values[2], values[3]};
}

[[noreturn]] void failUnknown(const std::string& flag) {
  throw UsageError("the code generator has no option \"" + firstLine(flag) +
                   "\" (it has --opt-level=0 to --opt-level=3, --generate-weights, --plain, "
                   "--products=ROWS,VECTORS,PANEL,BLOCK and --schedule=TEXT)");
}

} // namespace

void readFlags(const std::vector<std::string>& flags, CompileOptions& options) {
  for (const std::string& flag : flags) {
    if (flag == kPlainFlag) {
      options.plain = true;
    } else if (flag == kWeightsFlag) {
      options.generateWeights = true;
    } else if (flag.starts_with(kScheduleFlag)) {
      options.schedule = flag.substr(kScheduleFlag.size());
    } else if (flag.starts_with(kProductsFlag)) {
      options.products = readProducts(std::string_view(flag).substr(kProductsFlag.size()));
    } else if (flag.starts_with(kLevelFlag) && flag.size() == kLevelFlag.size() + 1 &&
               flag.back() >= '0' && flag.back() <= '3') {
      options.level = unsigned(flag.back() - '0');
    } else {
      failUnknown(flag);
    }
  }
  if (options.plain && !options.schedule.empty())
    throw UsageError("--plain and --schedule exclude each other");
}

} // namespace nocturne::compiler
