// Compiling and running one function of StableHLO.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "compiler/execution/program.h"

namespace nocturne::compiler::testing {

// A tensor to run on: its type and the text of its values ("tensor<2xi32>", "[1, 2]").
struct Given {
  std::string type, values;
};

// Runs `body`, which names the given tensors %a, %b, ... and ends in a return of values of the
// types `results`.
inline ProgramReport reportOf(const std::vector<Given>& given, const std::string& body,
                              const std::string& results) {
  std::string text = "func.func public @main() -> (" + results + ") {\n", sources;
  for (size_t i = 0; i < given.size(); ++i) {
    const std::string letter(1, char('a' + i));
    const std::string& type = given[i].type;
    // The executor passes what functions without arguments return in from outside, so that no
    // compiler can work the results out beforehand.
    text += "  %" + letter + " = call @given_" + letter + "() : () -> " + type + "\n";
    sources += "func.func private @given_" + letter + "() -> " + type + " {\n" +
               "  %v = stablehlo.constant dense<" + given[i].values + "> : " + type + "\n" +
               "  return %v : " + type + "\n}\n";
  }
  text += body + "\n}\n" + sources;
  ProgramOptions options;
  options.compile.level = 1;
  return runProgramText(text, "test.mlir", options);
}

// The text of every result, or what went wrong.
inline std::vector<std::string> runFunction(const std::vector<Given>& given,
                                            const std::string& body, const std::string& results) {
  const ProgramReport report = reportOf(given, body, results);
  if (report.outcome != Outcome::Ran)
    return {std::string(toString(report.outcome)) + ": " + report.message};
  std::vector<std::string> texts;
  for (const TensorData& result : report.results)
    texts.push_back(result.text());
  return texts;
}

} // namespace nocturne::compiler::testing
