// Programs in tests: operations on constants and what they must give.
#pragma once

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "compiler/execution/program.h"

namespace nocturne::compiler::testing {

// A value, as the text of a constant has it.
struct Operand {
  std::string type, dense;
};

// The body of a program's entry function, put together line by line.
class Claims {
public:
  // A tensor with the elements of `dense` ("[1, 2]", "0.5").
  std::string value(const std::string& type, const std::string& dense) {
    std::string name = next();
    body_ += name + " = stablehlo.constant dense<" + dense + "> : " + type + "\n";
    return name;
  }

  // The name of the result of `operation`, all that follows the equals sign.
  std::string result(const std::string& operation) {
    std::string name = next();
    body_ += name + " = " + operation + "\n";
    return name;
  }

  // The names of several results of one operation.
  std::vector<std::string> results(unsigned count, const std::string& operation) {
    std::string name = next();
    body_ += name + ":" + std::to_string(count) + " = " + operation + "\n";
    std::vector<std::string> names;
    for (unsigned i = 0; i < count; ++i)
      names.push_back(name + "#" + std::to_string(i));
    return names;
  }

  void equal(const std::string& got, const std::string& type, const std::string& dense) {
    std::string expected = value(type, dense);
    body_ +=
        "\"check.expect_eq\"(" + got + ", " + expected + ") : (" + type + ", " + type + ") -> ()\n";
  }

  // All claims of the program hold.
  void hold() const {
    std::string text = "func.func @main() {\n" + body_ + "return\n}\n";
    ProgramReport report = runProgramText(text, "claims.mlir", {});
    INFO(text);
    INFO(report.message);
    CHECK(std::string(toString(report.outcome)) == "pass");
  }

private:
  std::string next() { return "%v" + std::to_string(count_++); }

  std::string body_;
  unsigned count_ = 0;
};

} // namespace nocturne::compiler::testing
