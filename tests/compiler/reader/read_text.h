// Short ways to read a text in a test.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "compiler/reader/reader.h"
#include "engine/error.h"

namespace nocturne::compiler::testing {

inline ModulePtr read(std::string_view text, const ReaderOptions& options = {}) {
  return readModuleText(text, "test.mlir", options);
}

// A module whose function `main` takes no argument and has this body.
inline ModulePtr readBody(const std::string& body, const ReaderOptions& options = {}) {
  return read("func.func @main() {\n" + body + "\n  return\n}\n", options);
}

inline std::optional<Failure> failureOf(std::string_view text, const ReaderOptions& options = {}) {
  try {
    read(text, options);
    return std::nullopt;
  } catch (const ItemError& error) {
    return error.failure();
  }
}

// The names of the rows in order, without "stablehlo.", separated by blanks.
inline std::string namesOf(const Module& module) {
  std::string names;
  for (const OpRow& row : module.rows) {
    std::string name = module.ops[row.op].name;
    if (name.starts_with("stablehlo."))
      name = name.substr(10);
    names += (names.empty() ? "" : " ") + name;
  }
  return names;
}

// The sum of the multiplicities of the rows of one operation.
inline double runsOf(const Module& module, std::string_view name) {
  double runs = 0;
  for (const OpRow& row : module.rows)
    if (module.ops[row.op].name == name)
      runs += row.multiplicity;
  return runs;
}

// The first distinct operation of a name; null if there is none.
inline const OpInfo* opOf(const Module& module, std::string_view name) {
  for (const OpInfo& op : module.ops)
    if (op.name == name)
      return &op;
  return nullptr;
}

} // namespace nocturne::compiler::testing
