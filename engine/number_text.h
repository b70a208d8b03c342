// Numbers as text, the same on every machine and in every locale.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace nocturne {

// The shortest decimal text that reads back as the same number. Whole numbers below 2^63 in
// magnitude are written as integers, so that 1 and 1.0 have one spelling (and -0 is "0"). What is
// no number is "inf", "-inf" or "nan".
std::string shortest(double value);
void appendShortest(std::string& out, double value);

// "1 input", "2 inputs".
std::string counted(uint64_t count, std::string_view noun);

// The number that the whole text spells; nothing for anything else, for "inf" and "nan", and for
// numbers outside the range of a double.
std::optional<double> parseNumber(std::string_view text);

} // namespace nocturne
