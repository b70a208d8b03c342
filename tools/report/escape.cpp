#include "tools/report/escape.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "engine/number_text.h"
#include "engine/options.h"

namespace nocturne::tools {

namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD"; // U+FFFD

// Length of the well-formed UTF-8 sequence at the front of `text`; 0 when there is none.
size_t sequenceLength(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const auto continues = [&](size_t count) {
    if (text.size() <= count)
      return false;
    for (size_t i = 1; i <= count; ++i)
      if ((byte(i) & 0xC0) != 0x80)
        return false;
    return true;
  };
  const unsigned char first = byte(0);
  if (first < 0x80)
    return 1;
  if (first >= 0xC2 && first <= 0xDF)
    return continues(1) ? 2 : 0;
  if ((first & 0xF0) == 0xE0 && continues(2)) {
    // Neither overlong nor a surrogate.
    const bool valid = !(first == 0xE0 && byte(1) < 0xA0) && !(first == 0xED && byte(1) > 0x9F);
    return valid ? 3 : 0;
  }
  if (first >= 0xF0 && first <= 0xF4 && continues(3)) {
    const bool valid = !(first == 0xF0 && byte(1) < 0x90) && !(first == 0xF4 && byte(1) > 0x8F);
    return valid ? 4 : 0;
  }
  return 0;
}

void appendControl(std::string& out, char c) {
  constexpr std::string_view hex = "0123456789abcdef";
  switch (c) {
  case '\n':
    out += "\\n";
    return;
  case '\r':
    out += "\\r";
    return;
  case '\t':
    out += "\\t";
    return;
  default:
    out += "\\u00";
    out += hex[static_cast<unsigned char>(c) >> 4];
    out += hex[static_cast<unsigned char>(c) & 15];
  }
}

// Takes from the front of `text` what can be copied as it stands in either format.
void appendPlain(std::string& out, std::string_view& text) {
  const auto isPlain = [](char c) { return c >= 0x20 && c < 0x7f && c != '"' && c != '\\'; };
  const auto end = std::find_if_not(text.begin(), text.end(), isPlain);
  const auto length = static_cast<size_t>(end - text.begin());
  out += text.substr(0, length);
  text.remove_prefix(length);
}

// Appends the character at the front of `text` and removes it.
void appendCharacter(std::string& out, std::string_view& text) {
  const size_t length = sequenceLength(text);
  out += length > 0 ? text.substr(0, length) : kReplacement;
  text.remove_prefix(std::max<size_t>(length, 1));
}

} // namespace

void appendCsv(std::string& out, std::string_view field) {
  const bool quoted = field.find_first_of(",\"\r\n") != std::string_view::npos;
  if (quoted)
    out += '"';
  for (appendPlain(out, field); !field.empty(); appendPlain(out, field)) {
    if (field.front() == '"')
      out += '"';
    appendCharacter(out, field);
  }
  if (quoted)
    out += '"';
}

void appendJsonText(std::string& out, std::string_view text) {
  out += '"';
  for (appendPlain(out, text); !text.empty(); appendPlain(out, text)) {
    const char c = text.front();
    if (static_cast<unsigned char>(c) < 0x20) {
      appendControl(out, c);
      text.remove_prefix(1);
      continue;
    }
    if (c == '"' || c == '\\')
      out += '\\';
    appendCharacter(out, text);
  }
  out += '"';
}

void appendJsonNumber(std::string& out, double value) {
  if (value - value == 0)
    appendShortest(out, value);
  else
    out += "null";
}

void appendJsonNumber(std::string& out, const std::optional<double>& value) {
  if (value)
    appendJsonNumber(out, *value);
  else
    out += "null";
}

std::string plainText(const nlohmann::json& value) {
  if (value.is_string())
    return value.get<std::string>();
  return canonicalJson(value);
}

} // namespace nocturne::tools
