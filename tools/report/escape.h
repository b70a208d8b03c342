// Text and numbers as CSV fields and JSON values, appended to a buffer. Written by hand because a
// sweep makes millions of rows: a JSON library would cost more than the estimates.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace nocturne::tools {

// Bytes that are no UTF-8 (file names may have any) become U+FFFD in both.

// RFC 4180: quoted only where needed.
void appendCsv(std::string& out, std::string_view field);
// With its quotes.
void appendJsonText(std::string& out, std::string_view text);
// The shortest round-trip number; null for what JSON cannot say.
void appendJsonNumber(std::string& out, double value);
void appendJsonNumber(std::string& out, const std::optional<double>& value);
// An axis value as people write it: text without quotes, anything else as compact JSON.
std::string plainText(const nlohmann::json& value);

} // namespace nocturne::tools
