// Small programs made of values, operations and what they should give, compiled and run.
#pragma once

#include <string>
#include <vector>

#include "compiler/execution/program.h"

namespace nocturne::compiler {

struct TestValue {
  std::string type;  // "tensor<2xi32>"
  std::string value; // "[1, 2]", what is between dense< and >
};

// Runs `body`, which names the inputs %in0, %in1, ... and its result %out, and compares the result
// exactly. The inputs come from functions, so that nothing is folded. "pass", or what went wrong.
inline std::string runOperation(const std::vector<TestValue>& inputs, const std::string& body,
                                const TestValue& expected, const std::string& functions = {}) {
  std::string main = "func.func @main() {\n", others;
  auto addSource = [&](const std::string& value, const std::string& function,
                       const TestValue& constant) {
    main += value + " = call @" + function + "() : () -> " + constant.type + "\n";
    others += "func.func private @" + function + "() -> " + constant.type +
              " {\n%c = stablehlo.constant dense<" + constant.value + "> : " + constant.type +
              "\nreturn %c : " + constant.type + "\n}\n";
  };
  for (size_t i = 0; i < inputs.size(); ++i)
    addSource("%in" + std::to_string(i), "input" + std::to_string(i), inputs[i]);
  addSource("%expected", "expected", expected);
  main += body +
          "\nstablehlo.custom_call @check.expect_eq(%out, %expected) {has_side_effect = "
          "true} : (" +
          expected.type + ", " + expected.type + ") -> ()\nreturn\n}\n";
  ProgramReport report = runProgramText(main + others + functions, "test.mlir", {});
  return report.outcome == Outcome::Pass
             ? "pass"
             : std::string(toString(report.outcome)) + ": " + report.message;
}

} // namespace nocturne::compiler
