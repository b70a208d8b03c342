#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "engine/hardware.h"
#include "engine/json_text.h"

namespace nocturne {

namespace {

// Deep enough for anything meant, far from where the copy of a Json overflows the stack.
constexpr int kMaximumDepth = 64;
constexpr size_t kExcerptLength = 60;

// Follows the parser: the pointer of where it is, the keys seen in each open object.
class KeyRecorder {
public:
  explicit KeyRecorder(std::map<std::string, std::vector<std::string>>& order) : order_(order) {}

  void operator()(int depth, Json::parse_event_t event, const Json& parsed) {
    switch (event) {
    case Json::parse_event_t::object_start:
    case Json::parse_event_t::array_start:
      open(depth);
      break;
    case Json::parse_event_t::object_end:
    case Json::parse_event_t::array_end:
      levels_.pop_back();
      closeValue();
      break;
    case Json::parse_event_t::key:
      addKey(parsed.get<std::string>());
      break;
    case Json::parse_event_t::value:
      closeValue();
      break;
    }
  }

private:
  struct Level {
    std::string pointer;
    std::set<std::string> keys;
    std::string child; // key of the value that comes next; unused in an array
    size_t index = 0;  // the same for an array
  };

  std::string here() const {
    if (levels_.empty())
      return {};
    const Level& level = levels_.back();
    return level.keys.empty() ? childPointer(level.pointer, level.index)
                              : childPointer(level.pointer, level.child);
  }

  void open(int depth) {
    if (depth >= kMaximumDepth)
      throw UsageError("nested more than " + std::to_string(kMaximumDepth) + " levels deep");
    levels_.push_back({here(), {}, {}, 0});
  }

  void closeValue() {
    if (!levels_.empty())
      ++levels_.back().index;
  }

  void addKey(std::string key) {
    Level& level = levels_.back();
    if (!level.keys.insert(key).second)
      throw UsageError("the key appears twice in this object", childPointer(level.pointer, key));
    order_[level.pointer].push_back(key);
    level.child = std::move(key);
  }

  std::map<std::string, std::vector<std::string>>& order_;
  std::vector<Level> levels_;
};

// "name:line:column", both from 1; the column counts bytes.
std::string place(std::string_view text, size_t offset, const std::string& name) {
  offset = std::min(offset, text.size());
  size_t line = 1, lineStart = 0;
  for (size_t i = 0; i < offset; ++i) {
    if (text[i] != '\n')
      continue;
    ++line;
    lineStart = i + 1;
  }
  return name + ':' + std::to_string(line) + ':' + std::to_string(offset - lineStart + 1);
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

bool isEscaped(std::string_view text, size_t quote) {
  size_t slashes = 0;
  while (quote > slashes && text[quote - slashes - 1] == '\\')
    ++slashes;
  return slashes % 2 == 1;
}

// The parser tells where the offending token ends; people look for where it begins.
size_t tokenStart(std::string_view text, size_t end) {
  if (end == 0 || end > text.size())
    return end;
  size_t start = end - 1;
  if (text[start] == '"') {
    while (start > 0 && (text[start - 1] != '"' || isEscaped(text, start - 1)))
      --start;
    return start == 0 ? end - 1 : start - 1;
  }
  auto isWordByte = [&](size_t i) {
    return (text[i] >= '0' && text[i] <= '9') || (text[i] >= 'a' && text[i] <= 'z') ||
           (text[i] >= 'A' && text[i] <= 'Z') || text[i] == '-' || text[i] == '+' || text[i] == '.';
  };
  while (start > 0 && isWordByte(start) && isWordByte(start - 1))
    --start;
  return start;
}

std::string hint(std::string_view message, std::string_view text, size_t start) {
  bool closes = start < text.size() && (text[start] == '}' || text[start] == ']');
  size_t before = text.find_last_not_of(" \t\r\n", start == 0 ? 0 : start - 1);
  bool afterComma = before != std::string_view::npos && before < start && text[before] == ',';
  if (closes && afterComma)
    return "; remove the comma before it";
  if (contains(message, "unexpected end of input"))
    return "; a closing bracket or quote is missing";
  if (contains(message, "expected '}'") || contains(message, "expected ']'"))
    return "; is a comma missing before it?";
  if (contains(message, "expected ':'"))
    return "; a key is followed by a colon and a value";
  return "";
}

// Without "[json.exception.parse_error.101] parse error at line 3, column 5: ".
std::string withoutPrefix(const std::string& message) {
  size_t start = message.find("syntax error");
  if (start == std::string::npos)
    start = message.find("] ") == std::string::npos ? 0 : message.find("] ") + 2;
  return message.substr(start);
}

[[noreturn]] void throwSyntaxError(const Json::parse_error& error, std::string_view text,
                                   const std::string& name) {
  std::string message = withoutPrefix(error.what());
  // Inside a token that cannot be read the parser stops at the very byte.
  bool insideToken = contains(message, "invalid") || error.byte == 0;
  bool atEnd = contains(message, "unexpected end of input");
  size_t start = atEnd         ? text.size()
                 : insideToken ? (error.byte == 0 ? 0 : error.byte - 1)
                               : tokenStart(text, error.byte);
  throw UsageError(place(text, start, name) + ": " + message + hint(message, text, start));
}

// A number that no double holds; the parser names it without its place.
[[noreturn]] void throwNumberError(const Json::out_of_range& error, std::string_view text,
                                   const std::string& name) {
  std::string message = error.what();
  size_t open = message.find('\''), close = message.rfind('\'');
  std::string number = open < close ? message.substr(open + 1, close - open - 1) : "";
  throw UsageError(place(text, text.find(number), name) + ": the number " +
                   number.substr(0, kExcerptLength) + " is out of range");
}

} // namespace

ParsedJson parseJsonText(std::string_view text, const std::string& name) {
  ParsedJson result;
  KeyRecorder recorder(result.keyOrder);
  auto callback = [&](int depth, Json::parse_event_t event, Json& parsed) {
    recorder(depth, event, parsed);
    return true;
  };
  try {
    result.value = Json::parse(text, callback, true, true);
  } catch (const Json::parse_error& error) {
    throwSyntaxError(error, text, name);
  } catch (const Json::out_of_range& error) {
    throwNumberError(error, text, name);
  } catch (const UsageError& error) {
    throw UsageError(name + ": " + error.what());
  }
  return result;
}

std::string readTextFile(const std::string& path) {
  // A pipe would be waited for, and a device never ends.
  std::error_code unknown;
  std::filesystem::file_status status = std::filesystem::status(path, unknown);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status))
    throw UsageError("cannot read '" + path + "': it is not a regular file");
  std::ifstream stream(path, std::ios::binary);
  if (!stream)
    throw UsageError("cannot read '" + path + "': " + std::strerror(errno));
  std::ostringstream text;
  errno = 0;
  // A directory opens, but nothing can be read from it. (An empty file fails as well, without
  // errno.)
  text << stream.rdbuf();
  if (text.fail() && errno != 0)
    throw UsageError("cannot read '" + path + "': " + std::strerror(errno));
  return std::move(text).str();
}

Json readJsonFile(const std::string& path) {
  return parseJsonText(readTextFile(path), path).value;
}

std::string childPointer(const std::string& pointer, std::string_view key) {
  std::string out = pointer + '/';
  for (char c : key) {
    if (c == '~')
      out += "~0";
    else if (c == '/')
      out += "~1";
    else
      out += c;
  }
  return out;
}

std::string childPointer(const std::string& pointer, size_t index) {
  return pointer + '/' + std::to_string(index);
}

std::string excerpt(const Json& value) {
  std::string text = canonicalJson(value);
  if (text.size() <= kExcerptLength)
    return text;
  size_t end = kExcerptLength;
  // Not in the middle of a UTF-8 sequence.
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80)
    --end;
  return text.substr(0, end) + "...";
}

} // namespace nocturne
