#include "compiler/reader/scan.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "compiler/reader/alias_sizes.h"

namespace nocturne::compiler {

namespace {

enum class Class : uint8_t {
  Plain,
  Quote,
  Slash,
  Open,
  Close,
  OpenAngle,
  CloseAngle,
  Mark,
  Control
};

constexpr std::array<Class, 256> makeClasses() {
  std::array<Class, 256> table{};
  for (unsigned c = 0; c < 32; ++c)
    table[c] = Class::Control;
  for (char c : {'\t', '\n', '\v', '\f', '\r'})
    table[static_cast<unsigned char>(c)] = Class::Plain;
  table[127] = Class::Control;
  table['"'] = Class::Quote;
  table['/'] = Class::Slash;
  for (char c : {'(', '[', '{'})
    table[static_cast<unsigned char>(c)] = Class::Open;
  for (char c : {')', ']', '}'})
    table[static_cast<unsigned char>(c)] = Class::Close;
  table['<'] = Class::OpenAngle;
  table['>'] = Class::CloseAngle;
  table['!'] = table['#'] = Class::Mark;
  return table;
}
constexpr std::array<Class, 256> kClasses = makeClasses();

// The parser of affine expressions recurses once per operator, without any bracket.
constexpr unsigned kMaxAffineOperators = 1000;

// Verifiers compare dimensions with each other: their time grows with the square of the rank.
constexpr unsigned kMaxRank = 1024;

// The parser keeps a list as long as the largest number of a result, %0#3, that it meets.
constexpr size_t kMaxResultDigits = 6;

char closerOf(char open) {
  return open == '(' ? ')' : open == '[' ? ']' : '}';
}

std::string printableByte(unsigned char byte) {
  constexpr char digits[] = "0123456789abcdef";
  return std::string("0x") + digits[byte >> 4] + digits[byte & 15];
}

class Scanner {
public:
  Scanner(std::string& text, const std::string& path) : text_(text), path_(path) {}

  std::optional<Failure> run();

private:
  Failure fail(size_t offset, std::string message) const {
    TextPosition position = positionAt(text_, offset);
    return {FailureKind::Unreadable, std::move(message), path_, position.line, position.column};
  }
  std::optional<Failure> open(size_t offset, char closer);
  void close(char closer);
  std::optional<Failure> skipString(size_t& offset);
  std::optional<Failure> visit(size_t& offset);
  std::optional<Failure> checkAffine(size_t offset) const;
  std::optional<Failure> checkRank(size_t offset) const;
  std::optional<Failure> checkArray(size_t offset) const;
  std::optional<Failure> visitMark(size_t offset);

  std::string& text_;
  const std::string& path_;
  std::array<char, kMaxBracketDepth> stack_; // the closers that are waited for
  unsigned depth_ = 0;
  AliasSizes aliases_;
};

std::optional<Failure> Scanner::open(size_t offset, char closer) {
  if (depth_ == kMaxBracketDepth)
    return fail(offset, "brackets are nested deeper than " + std::to_string(kMaxBracketDepth));
  stack_[depth_++] = closer;
  return std::nullopt;
}

// A `<` may stand alone where it is an operator, so that any other closer closes it as well.
// Brackets that do not match otherwise are left to the parser, which explains them better.
void Scanner::close(char closer) {
  unsigned depth = depth_;
  while (depth > 0 && stack_[depth - 1] == '>' && closer != '>')
    --depth;
  if (depth > 0 && stack_[depth - 1] == closer)
    depth_ = depth - 1;
}

std::optional<Failure> Scanner::skipString(size_t& offset) {
  size_t start = offset;
  for (size_t from = start + 1;; from = offset + 1) {
    offset = text_.find('"', from);
    size_t stop = std::min(offset, text_.size());
    if (std::memchr(text_.data() + from, '\n', stop - from) || offset == std::string::npos)
      return fail(start, "this string has no closing quote on its line");
    size_t slashes = 0;
    while (text_[offset - 1 - slashes] == '\\')
      ++slashes;
    if (slashes % 2 == 0)
      break;
  }
  if (offset - start > 3 && text_[start + 1] == '0' && text_[start + 2] == 'x')
    packBooleanHex(text_, start, offset);
  return std::nullopt;
}

std::optional<Failure> Scanner::checkAffine(size_t offset) const {
  std::string_view before = std::string_view(text_).substr(0, offset);
  if (!before.ends_with("affine_map") && !before.ends_with("affine_set"))
    return std::nullopt;
  unsigned operators = 0;
  for (size_t at = offset; at < text_.size() && operators <= kMaxAffineOperators; ++at) {
    char c = text_[at];
    if (c == '>' && text_[at - 1] != '-' && (at + 1 == text_.size() || text_[at + 1] != '='))
      return std::nullopt;
    operators += c == '+' || c == '-' || c == '*' || c == 'd' || c == 'm';
  }
  if (operators <= kMaxAffineOperators)
    return std::nullopt;
  return fail(offset, "this affine expression is too long");
}

std::optional<Failure> Scanner::checkRank(size_t offset) const {
  if (!std::string_view(text_).substr(0, offset).ends_with("tensor"))
    return std::nullopt;
  constexpr std::string_view kDimensions = "0123456789?x \t\r\n";
  const size_t end = text_.find_first_not_of(kDimensions, offset + 1);
  const auto first = text_.begin() + static_cast<ptrdiff_t>(offset);
  const auto last =
      end == std::string::npos ? text_.end() : text_.begin() + static_cast<ptrdiff_t>(end);
  if (std::count(first, last, 'x') <= kMaxRank)
    return std::nullopt;
  return fail(offset, "this tensor has more than " + std::to_string(kMaxRank) + " dimensions");
}

// Arrays are of integers and floats; the parser takes the width of any other type without a look at
// what it is.
std::optional<Failure> Scanner::checkArray(size_t offset) const {
  const std::string_view text = text_;
  if (!text.substr(0, offset).ends_with("array"))
    return std::nullopt;
  const size_t start = text.find_first_not_of(" \t\r\n", offset + 1);
  const std::string_view type = start == std::string_view::npos ? "" : text.substr(start);
  if (type.starts_with("index") || type.starts_with('!'))
    return fail(start, "an array has elements of an integer or float type");
  return std::nullopt;
}

std::optional<Failure> Scanner::visitMark(size_t offset) {
  const std::string_view text = text_;
  if (offset == 0 || text[offset - 1] == '\n') {
    const std::string_view line = text.substr(offset, text.find('\n', offset) - offset);
    if (aliases_.define(line) > AliasSizes::kMost)
      return fail(offset, "this alias has more than a million parts");
    return std::nullopt;
  }
  const size_t digits = text.find_first_not_of("0123456789", offset + 1);
  if (text[offset] == '#' && std::min(digits, text.size()) - offset - 1 > kMaxResultDigits)
    return fail(offset, "the number of this result is too large");
  return std::nullopt;
}

std::optional<Failure> Scanner::visit(size_t& offset) {
  unsigned char c = static_cast<unsigned char>(text_[offset]);
  char next = offset + 1 < text_.size() ? text_[offset + 1] : '\0';
  switch (kClasses[c]) {
  case Class::Plain:
    return std::nullopt;
  case Class::Quote:
    return skipString(offset);
  case Class::Slash:
    if (next == '/')
      offset = std::min(text_.find('\n', offset), text_.size());
    return std::nullopt;
  case Class::Open:
    return open(offset, closerOf(text_[offset]));
  case Class::OpenAngle:
    if (next == '=')
      return std::nullopt;
    if (std::optional<Failure> failure = checkAffine(offset))
      return failure;
    if (std::optional<Failure> failure = checkRank(offset))
      return failure;
    if (std::optional<Failure> failure = checkArray(offset))
      return failure;
    return open(offset, '>');
  case Class::CloseAngle:
    if (next != '=' && (offset == 0 || text_[offset - 1] != '-'))
      close('>');
    return std::nullopt;
  case Class::Close:
    close(text_[offset]);
    return std::nullopt;
  case Class::Mark:
    return visitMark(offset);
  case Class::Control:
    return fail(offset, "not MLIR text: byte " + printableByte(c));
  }
  return std::nullopt;
}

std::optional<Failure> Scanner::run() {
  for (size_t offset = 0; offset < text_.size(); ++offset) {
    if (kClasses[static_cast<unsigned char>(text_[offset])] == Class::Plain)
      continue;
    if (std::optional<Failure> failure = visit(offset))
      return failure;
  }
  return std::nullopt;
}

// The magic number of MLIR bytecode, then its producer.
std::optional<std::string> bytecodeProblem(std::string_view text) {
  if (!text.starts_with("ML\xefR"))
    return std::nullopt;
  std::string_view head = text.substr(0, 256);
  size_t producer = head.find("StableHLO_v");
  if (producer == std::string_view::npos)
    return "this is MLIR bytecode, which is not read yet: convert it to text";
  std::string name(head.substr(producer));
  name.resize(std::min(name.size(), std::strlen(name.c_str())));
  return "this is a portable artifact (" + name +
         "), which is not read yet: convert it to StableHLO text";
}

} // namespace

TextPosition positionAt(std::string_view text, size_t offset) {
  std::string_view before = text.substr(0, offset);
  TextPosition position;
  position.line = 1 + static_cast<uint32_t>(std::count(before.begin(), before.end(), '\n'));
  size_t lineStart = before.rfind('\n');
  position.column =
      static_cast<uint32_t>(lineStart == std::string_view::npos ? offset + 1 : offset - lineStart);
  return position;
}

std::optional<Failure> scanText(std::string& text, const std::string& path) {
  if (text.empty())
    return Failure{FailureKind::Unreadable, "the file is empty", path};
  if (std::optional<std::string> problem = bytecodeProblem(text))
    return Failure{FailureKind::Unreadable, *problem, path};
  // Also inside strings and comments, where it would end the parser's input early.
  if (const void* zero = std::memchr(text.data(), 0, text.size())) {
    TextPosition position = positionAt(text, static_cast<const char*>(zero) - text.data());
    return Failure{FailureKind::Unreadable, "not MLIR text: a zero byte", path, position.line,
                   position.column};
  }
  return Scanner(text, path).run();
}

} // namespace nocturne::compiler
