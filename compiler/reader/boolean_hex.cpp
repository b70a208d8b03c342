#include <cctype>

#include "compiler/reader/scan.h"

namespace nocturne::compiler {

namespace {

int hexDigit(char c) {
  if (c >= '0' && c <= '9')
    return c - '0';
  if (c >= 'a' && c <= 'f')
    return c - 'a' + 10;
  if (c >= 'A' && c <= 'F')
    return c - 'A' + 10;
  return -1;
}

// A cursor that reads small pieces of syntax and skips blanks before each.
struct Cursor {
  std::string_view text;
  size_t at;

  void skipBlanks() {
    while (at < text.size() && std::isspace(static_cast<unsigned char>(text[at])))
      ++at;
  }
  bool eat(std::string_view piece) {
    skipBlanks();
    if (text.substr(at, piece.size()) != piece)
      return false;
    at += piece.size();
    return true;
  }
};

// The number of elements in `> : tensor<2x3xi1>`, which follows the string; 0 if anything else
// does.
size_t booleanElementCount(std::string_view text, size_t at) {
  Cursor cursor{text, at};
  if (!cursor.eat(">") || !cursor.eat(":") || (!cursor.eat("tensor") && !cursor.eat("vector")) ||
      !cursor.eat("<"))
    return 0;
  size_t count = 1;
  while (!cursor.eat("i1")) {
    size_t extent = 0, digits = 0;
    for (; cursor.at < text.size() && std::isdigit(static_cast<unsigned char>(text[cursor.at]));
         ++cursor.at, ++digits)
      extent = extent * 10 + static_cast<size_t>(text[cursor.at] - '0');
    if (digits == 0 || digits > 15 || !cursor.eat("x"))
      return 0;
    if (__builtin_mul_overflow(count, extent, &count))
      return 0;
  }
  cursor.skipBlanks();
  char end = cursor.at < text.size() ? text[cursor.at] : '\0';
  return end == '>' || end == ',' ? count : 0;
}

bool isDenseValue(std::string_view text, size_t open) {
  while (open > 0 && std::isspace(static_cast<unsigned char>(text[open - 1])))
    --open;
  return text.substr(0, open).ends_with("dense<");
}

} // namespace

void packBooleanHex(std::string& text, size_t open, size_t close) {
  size_t first = open + 3, digits = close - first;
  if (digits % 2 != 0 || !isDenseValue(text, open))
    return;
  size_t bytes = digits / 2, count = booleanElementCount(text, close + 1);
  // A single element takes one byte in both conventions, and MLIR reads it as a splat: it wants all
  // bits of the byte set.
  if (count != bytes)
    return;
  for (size_t i = first; i < close; ++i)
    if (hexDigit(text[i]) < 0)
      return;
  constexpr char kDigits[] = "0123456789ABCDEF";
  size_t packedBytes = (count + 7) / 8;
  for (size_t i = 0; i < packedBytes; ++i) {
    unsigned packed = 0;
    for (size_t bit = 0; bit < 8 && 8 * i + bit < count; ++bit) {
      size_t at = first + 2 * (8 * i + bit);
      packed |= unsigned(hexDigit(text[at]) != 0 || hexDigit(text[at + 1]) != 0) << bit;
    }
    if (count == 1)
      packed *= 0xff;
    // Writing never overtakes reading: byte i comes from bytes 8 * i and later.
    text[first + 2 * i] = kDigits[packed >> 4];
    text[first + 2 * i + 1] = kDigits[packed & 15];
  }
  text[first + 2 * packedBytes] = '"';
  for (size_t i = first + 2 * packedBytes + 1; i <= close; ++i)
    text[i] = ' ';
}

} // namespace nocturne::compiler
