// Numbers and tables for people; files and --json have the exact ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace nocturne::tools {

std::string humanTime(double seconds);     // "1.234 ms"
std::string humanBytes(double bytes);      // "80.0 GB": decimal, as data sheets have it
std::string humanCount(double number);     // "1.50 T"; whole numbers below a thousand as they are
std::string humanPercent(double fraction); // "98.4 %"
std::string humanDuration(double seconds); // "1 h 02 min", "3 min 20 s", "12 s"
std::string withCommas(uint64_t number);   // "1,234,567"

// Columns of text, as wide as their widest cell.
class TextTable {
public:
  enum class Align : uint8_t { Left, Right };
  struct Column {
    std::string title;
    Align align = Align::Left;
  };

  explicit TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}
  void row(std::vector<std::string> cells); // as many as there are columns
  size_t rowCount() const { return rows_.size(); }
  // Two blanks between the columns, none at the end of a line; one line per row and one for the
  // titles.
  std::string text() const;

private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

std::string joined(const std::vector<std::string>& words); // "a, b, c"
// The text, or its beginning and end around "..." when it is longer than `width`.
std::string shortened(const std::string& text, size_t width);

} // namespace nocturne::tools
