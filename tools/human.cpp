#include "tools/human.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace nocturne::tools {

namespace {

struct Scale {
  double factor;
  const char* unit;
};

std::string fixed(double value, int decimals) {
  std::array<char, 64> buffer{};
  const int length = std::snprintf(buffer.data(), buffer.size(), "%.*f", decimals, value);
  return {buffer.data(), static_cast<size_t>(length)};
}

// Four significant digits.
std::string significant(double value) {
  const double size = std::fabs(value);
  return fixed(value, size < 9.9995 ? 3 : size < 99.995 ? 2 : size < 999.95 ? 1 : 0);
}

// With the largest scale that leaves at least 1.
template <size_t N>
std::string scaled(double value, const std::array<Scale, N>& scales) {
  for (const Scale& scale : scales)
    if (std::fabs(value) >= scale.factor)
      return significant(value / scale.factor) + ' ' + scale.unit;
  return significant(value / scales.back().factor) + ' ' + scales.back().unit;
}

size_t displayWidth(const std::string& text) {
  // Code points, which is near enough for aligning file names.
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

} // namespace

std::string humanTime(double seconds) {
  static constexpr std::array<Scale, 4> kScales = {
      {{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {1e-9, "ns"}}};
  return seconds == 0 ? "0 s" : scaled(seconds, kScales);
}

std::string humanBytes(double bytes) {
  static constexpr std::array<Scale, 5> kScales = {
      {{1e15, "PB"}, {1e12, "TB"}, {1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}}};
  return bytes < 1000 ? fixed(bytes, 0) + " B" : scaled(bytes, kScales);
}

std::string humanCount(double number) {
  static constexpr std::array<Scale, 6> kScales = {
      {{1e18, "E"}, {1e15, "P"}, {1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}}};
  if (std::fabs(number) >= 1000)
    return scaled(number, kScales);
  return fixed(number, number == std::floor(number) ? 0 : 3);
}

std::string humanPercent(double fraction) {
  return fixed(fraction * 100, 1) + " %";
}

std::string humanDuration(double seconds) {
  const auto whole = static_cast<uint64_t>(std::max(0.0, std::round(seconds)));
  const auto twoDigits = [](uint64_t n) {
    return std::string(n < 10 ? 1 : 0, '0') + std::to_string(n);
  };
  if (whole >= 3600)
    return std::to_string(whole / 3600) + " h " + twoDigits(whole / 60 % 60) + " min";
  if (whole >= 60)
    return std::to_string(whole / 60) + " min " + twoDigits(whole % 60) + " s";
  return std::to_string(whole) + " s";
}

std::string withCommas(uint64_t number) {
  std::string text = std::to_string(number);
  for (auto place = static_cast<ptrdiff_t>(text.size()) - 3; place > 0; place -= 3)
    text.insert(static_cast<size_t>(place), 1, ',');
  return text;
}

void TextTable::row(std::vector<std::string> cells) {
  cells.resize(columns_.size());
  rows_.push_back(std::move(cells));
}

std::string TextTable::text() const {
  std::vector<std::string> titles;
  std::vector<size_t> widths;
  for (const Column& column : columns_) {
    titles.push_back(column.title);
    widths.push_back(displayWidth(column.title));
  }
  for (const auto& cells : rows_)
    for (size_t i = 0; i < cells.size(); ++i)
      widths[i] = std::max(widths[i], displayWidth(cells[i]));
  std::string text;
  const auto addLine = [&](const std::vector<std::string>& cells) {
    std::string line;
    for (size_t i = 0; i < cells.size(); ++i) {
      const std::string padding(widths[i] - displayWidth(cells[i]), ' ');
      line += i == 0 ? "" : "  ";
      line += columns_[i].align == Align::Right ? padding + cells[i] : cells[i] + padding;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  };
  addLine(titles);
  for (const auto& cells : rows_)
    addLine(cells);
  return text;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words)
    text += (text.empty() ? "" : ", ") + word;
  return text;
}

std::string shortened(const std::string& text, size_t width) {
  if (text.size() <= width || width < 5)
    return text;
  const size_t head = (width - 3) / 3;
  return text.substr(0, head) + "..." + text.substr(text.size() - (width - 3 - head));
}

} // namespace nocturne::tools
