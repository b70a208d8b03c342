#include "engine/number_text.h"

#include <charconv>
#include <cstdint>

namespace nocturne {

namespace {

constexpr double kTwoTo63 = 9223372036854775808.0;

bool isWhole(double value) {
  return value > -kTwoTo63 && value < kTwoTo63 &&
         static_cast<double>(static_cast<int64_t>(value)) == value;
}

// Whether subtracting the number from itself leaves zero, which infinities and NaN do not.
bool isFinite(double value) {
  return value - value == 0;
}

} // namespace

void appendShortest(std::string& out, double value) {
  if (value != value) { // to_chars would write the sign of a NaN
    out += "nan";
    return;
  }
  char buffer[32];
  std::to_chars_result end =
      isWhole(value) ? std::to_chars(buffer, buffer + sizeof(buffer), static_cast<int64_t>(value))
                     : std::to_chars(buffer, buffer + sizeof(buffer), value);
  out.append(buffer, end.ptr);
}

std::string shortest(double value) {
  std::string out;
  appendShortest(out, value);
  return out;
}

std::string counted(uint64_t count, std::string_view noun) {
  return (std::to_string(count) + ' ').append(noun).append(count == 1 ? "" : "s");
}

std::optional<double> parseNumber(std::string_view text) {
  double value = 0;
  const char* last = text.data() + text.size();
  std::from_chars_result result = std::from_chars(text.data(), last, value);
  if (result.ec != std::errc() || result.ptr != last || !isFinite(value))
    return std::nullopt;
  return value;
}

} // namespace nocturne
