// How large aliases of types and attributes are when they are spelled out.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>

namespace nocturne::compiler {

// A few lines of aliases that name each other twice spell out types without end. MLIR shares their
// parts, but prints them whole into messages.
class AliasSizes {
public:
  static constexpr double kMost = 1e6; // parts

  // `definition` is a line that begins with an alias: "!t1 = tuple<!t0, !t0>". Returns its parts:
  // one, and those of each alias that it names. Locations, which are never printed whole, count as
  // one.
  double define(std::string_view definition);

private:
  std::unordered_map<std::string, double> sizes_;
};

} // namespace nocturne::compiler
