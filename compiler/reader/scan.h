// A lexical look at the bytes of a module before MLIR sees them.
//
// MLIR's parser recurses once per bracket and dies of a stack overflow on hostile nesting, and it
// mistakes binary files for text. The scan finds both, with line and column, and repairs the one
// spelling of boolean constants that MLIR 22 refuses.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "engine/error.h"

namespace nocturne::compiler {

// Deepest nesting of brackets that is read.
inline constexpr unsigned kMaxBracketDepth = 256;

// Line and column, both from 1, of a byte of a text.
struct TextPosition {
  uint32_t line = 1, column = 1;
};
TextPosition positionAt(std::string_view text, size_t offset);

// Returns what is wrong with `text`, if anything, with `path` as the file. May change `text`: never
// its size, nor the position of anything but the digits of a boolean constant.
std::optional<Failure> scanText(std::string& text, const std::string& path);

// Boolean constants in hexadecimal exist in two conventions, one bit or one byte per element.
// `open` and `close` are the offsets of the quotes of a hexadecimal string; if it is the value of a
// dense constant in the second convention, it is rewritten in the first, padded with blanks after
// the quote.
void packBooleanHex(std::string& text, size_t open, size_t close);

} // namespace nocturne::compiler
