#include "compiler/codegen/check_calls.h"

#include <doctest/doctest.h>

#include "compiler/codegen/module_code.h"

namespace nocturne::compiler {

namespace {

// Why a module cannot be compiled; no message when it can.
Failure problemOf(const std::string& text) {
  ModuleCode code;
  Failure failure;
  static_cast<void>(compileText(text, "test.mlir", {}, code, failure));
  return failure;
}

std::string function(const std::string& head, const std::string& calls) {
  return "func.func " + head + "(%x: tensor<f32>) -> tensor<f32> {\n" + calls +
         "  return %0 : tensor<f32>\n}\n";
}

std::string call(const std::string& result, const std::string& callee, const std::string& operand) {
  return "  " + result + " = call @" + callee + '(' + operand +
         ") : (tensor<f32>) -> tensor<f32>\n";
}

} // namespace

TEST_CASE("functions that call each other in a circle are refused, with the circle") {
  const Failure failure = problemOf(function("@main", call("%0", "other", "%x")) +
                                    function("private @other", call("%0", "main", "%x")));
  CHECK((failure.kind == FailureKind::Unreadable));
  CHECK(failure.text() ==
        "test.mlir:6:8: functions call each other in a circle: main -> other -> main");
}

TEST_CASE("a function that is called and has no body is refused where it is called") {
  const Failure failure = problemOf(function("@main", call("%0", "abort", "%x")) +
                                    "func.func private @abort(tensor<f32>) -> tensor<f32>\n"
                                    "func.func private @unused(tensor<f32>) -> tensor<f32>\n");
  CHECK((failure.kind == FailureKind::UnsupportedOp));
  CHECK(failure.text() ==
        "test.mlir:2:8: function @abort is called, and has no body in this module");
}

TEST_CASE("calls of calls that stand for too many operations are refused at once") {
  std::string text = function("@main", call("%0", "f0", "%x"));
  for (int i = 0; i < 30; ++i) {
    const std::string next = "f" + std::to_string(i + 1);
    text +=
        function("private @f" + std::to_string(i), call("%1", next, "%x") + call("%0", next, "%1"));
  }
  text += function("private @f30", "  %0 = stablehlo.tanh %x : tensor<f32>\n");
  const Failure failure = problemOf(text);
  CHECK((failure.kind == FailureKind::UnsupportedOp));
  CHECK(failure.message.find("more than a million operations") != std::string::npos);
}

TEST_CASE("a module in a module is refused with its place") {
  const Failure failure = problemOf(function("@main", "  %0 = stablehlo.tanh %x : tensor<f32>\n") +
                                    "module @inner {}\n");
  CHECK((failure.kind == FailureKind::UnsupportedOp));
  CHECK(failure.text() == "test.mlir:5:1: a module in a module has no lowering");
}

} // namespace nocturne::compiler
