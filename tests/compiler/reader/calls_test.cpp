#include <chrono>

#include <doctest/doctest.h>

#include "read_text.h"

using namespace nocturne;
using namespace nocturne::compiler;
using namespace nocturne::compiler::testing;

namespace {

// f0 has one operation, and each further function calls the one before `calls` times.
std::string tower(int levels, int calls) {
  std::string text = "func.func private @f0() {\n"
                     "  %0 = stablehlo.constant dense<1> : tensor<i32>\n  return\n}\n";
  for (int i = 1; i <= levels; ++i) {
    text += "func.func private @f" + std::to_string(i) + "() {\n";
    for (int j = 0; j < calls; ++j)
      text += "  call @f" + std::to_string(i - 1) + "() : () -> ()\n";
    text += "  return\n}\n";
  }
  return text + "func.func @main() {\n  call @f" + std::to_string(levels) +
         "() : () -> ()\n  return\n}\n";
}

} // namespace

TEST_CASE("a call becomes the rows of the callee, without its return") {
  ModulePtr module = read(R"(
func.func private @g(%a: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.tanh %a : tensor<f32>
  return %0 : tensor<f32>
}
func.func private @f(%a: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.negate %a : tensor<f32>
  %1 = call @g(%0) : (tensor<f32>) -> tensor<f32>
  %2 = call @g(%1) : (tensor<f32>) -> tensor<f32>
  return %2 : tensor<f32>
}
func.func @main(%a: tensor<f32>) -> tensor<f32> {
  %0 = call @f(%a) : (tensor<f32>) -> tensor<f32>
  %1 = call @f(%0) : (tensor<f32>) -> tensor<f32>
  return %1 : tensor<f32>
})");
  CHECK(namesOf(*module) == "negate tanh tanh negate tanh tanh func.return");
  CHECK(module->rows[0].callDepth == 1);
  CHECK(module->rows[1].callDepth == 2);
  CHECK(module->rows[6].callDepth == 0);
  // Data flows through: each row reads what the one before wrote.
  for (size_t i = 1; i < module->rows.size(); ++i) {
    const OpRow& before = module->rows[i - 1];
    CHECK(module->valueIds[module->rows[i].firstOperand] ==
          module->valueIds[before.firstOperand + before.operandCount]);
  }
  CHECK(module->valueIds[module->rows[0].firstOperand] == 0);
}

TEST_CASE("a call in a loop is multiplied with the loop") {
  ModulePtr module = read(R"(
func.func private @f() {
  %0 = stablehlo.constant dense<1.0> : tensor<f32>
  %1 = stablehlo.tanh %0 : tensor<f32>
  return
}
func.func @main() {
  %s = stablehlo.constant dense<0> : tensor<i32>
  %b = stablehlo.constant dense<3> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %r = stablehlo.while(%i = %s) : tensor<i32> cond {
    %p = stablehlo.compare LT, %i, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    func.call @f() : () -> ()
    func.call @f() : () -> ()
    %n = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %n : tensor<i32>
  }
  func.call @f() : () -> ()
  return
})");
  CHECK(runsOf(*module, "stablehlo.tanh") == 3 + 3 + 1);
  CHECK(module->rows[5].loopDepth == 1);
  CHECK(module->rows[5].callDepth == 1);
}

TEST_CASE("recursion is an error that shows the circle and where it closes") {
  std::optional<Failure> failure = failureOf("func.func private @g() {\n"
                                             "  call @f() : () -> ()\n"
                                             "  return\n}\n"
                                             "func.func private @f() {\n"
                                             "  call @g() : () -> ()\n"
                                             "  return\n}\n"
                                             "func.func @main() {\n"
                                             "  call @f() : () -> ()\n"
                                             "  return\n}\n");
  REQUIRE(failure);
  CHECK((failure->kind == FailureKind::Unreadable));
  CHECK(failure->message == "functions call each other in a circle: f -> g -> f");
  CHECK(failure->line == 2);
  CHECK(failure->column == 3);
  CHECK(failureOf("func.func @main() {\n  call @main() : () -> ()\n  return\n}")->message ==
        "functions call each other in a circle: main -> main");
}

TEST_CASE("a tree of calls that stands for 2^40 rows is refused at once") {
  auto start = std::chrono::steady_clock::now();
  std::optional<Failure> failure = failureOf(tower(40, 2));
  REQUIRE(failure);
  CHECK(failure->message.find("10000000") != std::string::npos);
  CHECK(failure->line > 0);
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(2));
}

TEST_CASE("a tree of calls within the limit is expanded") {
  CHECK(read(tower(16, 2))->rows.size() == 65536 + 1);
  CHECK(read(tower(16, 2))->opRuns[0] == 65536);
}

TEST_CASE("a long chain of calls is read, a hostile one refused") {
  CHECK(read(tower(500, 1))->rows.size() == 2);
  CHECK(read(tower(500, 1))->rows[0].callDepth == 501);
  CHECK(failureOf(tower(5000, 1))->message.find("nested deeper") != std::string::npos);
}

TEST_CASE("a composite becomes the rows of its decomposition") {
  ModulePtr module = read(R"(
func.func private @gelu(%a: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.tanh %a : tensor<f32>
  return %0 : tensor<f32>
}
func.func @main(%a: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.composite "acme.gelu" %a {decomposition = @gelu} : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
})");
  CHECK(namesOf(*module) == "tanh func.return");
  CHECK(module->rows[0].callDepth == 1);
}

TEST_CASE("a call of a function without a body is a row") {
  CHECK(namesOf(*read("func.func private @f()\n"
                      "func.func @main() { call @f() : () -> () return }")) ==
        "func.call func.return");
}

TEST_CASE("calls resolve within their own module") {
  ModulePtr module = read(R"(
module @outer {
  module @inner {
    func.func private @f() {
      %0 = stablehlo.constant dense<1> : tensor<i32>
      return
    }
    func.func @main() {
      call @f() : () -> ()
      return
    }
  }
  func.func private @f() {
    return
  }
})");
  CHECK(namesOf(*module) == "constant func.return");
}

TEST_CASE("the body of a manual computation is inlined") {
  ModulePtr module = read(R"(
sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%b: tensor<2xf32>) {
    %1 = stablehlo.tanh %b : tensor<2xf32>
    sdy.return %1 : tensor<2xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
})");
  CHECK(namesOf(*module) == "tanh func.return");
  CHECK(module->rows[0].callDepth == 0);
  CHECK(module->ops[0].operands[0].text() == "2xf32");
}
