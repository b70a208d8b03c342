#include <doctest/doctest.h>

#include "read_text.h"

using namespace nocturne;
using namespace nocturne::compiler;
using namespace nocturne::compiler::testing;

TEST_CASE("every operation of the entry is a row, its return included") {
  ModulePtr module = read(R"(
func.func @main(%a: tensor<4x2xf32>) -> tensor<4x2xf32> {
  %0 = stablehlo.add %a, %a : tensor<4x2xf32>
  %1 = stablehlo.tanh %0 : tensor<4x2xf32>
  return %1 : tensor<4x2xf32>
})");
  CHECK(namesOf(*module) == "add tanh func.return");
  REQUIRE(module->arguments.size() == 1);
  CHECK(module->arguments[0].text() == "4x2xf32");
  CHECK(module->results.size() == 1);
  CHECK(module->path == "test.mlir");
  CHECK(module->name == "test");
  CHECK(module->rows[2].operandCount == 1);
  CHECK(module->rows[2].resultCount == 0);
}

TEST_CASE("the symbol of the module is its name") {
  CHECK(read("module @net { func.func @main() { return } }")->name == "net");
}

TEST_CASE("a row has the numbers of its values") {
  ModulePtr module = read(R"(
func.func @main(%a: tensor<f32>, %b: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.subtract %b, %a : tensor<f32>
  return %0 : tensor<f32>
})");
  const OpRow& row = module->rows[0];
  REQUIRE(row.operandCount == 2);
  CHECK(module->valueIds[row.firstOperand] == 1);
  CHECK(module->valueIds[row.firstOperand + 1] == 0);
  CHECK(module->valueIds[row.firstOperand + 2] == 2);
  CHECK(module->valueIds[module->rows[1].firstOperand] == 2);
}

TEST_CASE("a row has the line and column of its operation") {
  ModulePtr module = read("func.func @main() {\n"
                          "  %0 = stablehlo.constant dense<1> : tensor<i32>\n"
                          "  return\n}\n");
  CHECK(module->place(module->rows[0]) == "test.mlir:2:8");
  CHECK(module->place(module->rows[1]) == "test.mlir:3:3");
}

TEST_CASE("a row has the place in the source that the file names, through any wrapping") {
  ModulePtr module = readBody(R"(
  %0 = stablehlo.constant dense<1> : tensor<i32> loc("model.py":12:3)
  %1 = stablehlo.constant dense<1> : tensor<i32> loc("jit(f)/add"("model.py":13:4))
  %2 = stablehlo.constant dense<1> : tensor<i32> loc(callsite("a"("model.py":14:5) at "b.py":1:1))
  %3 = stablehlo.constant dense<1> : tensor<i32> loc(fused["x", "other.py":15:6])
  %4 = stablehlo.constant dense<1> : tensor<i32> loc(unknown))");
  CHECK(module->place(module->rows[0]) == "model.py:12:3");
  CHECK(module->place(module->rows[1]) == "model.py:13:4");
  CHECK(module->place(module->rows[2]) == "model.py:14:5");
  CHECK(module->place(module->rows[3]) == "other.py:15:6");
  CHECK(module->rows[4].line == 0);
  CHECK(module->rows[4].file == 0);
}

TEST_CASE("equal operations are one distinct operation, whatever their constants and annotations") {
  ModulePtr module = read(R"(
func.func @main(%a: tensor<2xf32>, %b: tensor<3xf32>) {
  %0 = stablehlo.constant dense<1.0> : tensor<2xf32>
  %1 = stablehlo.constant dense<2.0> : tensor<2xf32>
  %2 = stablehlo.add %a, %0 {mhlo.sharding = "{replicated}"} : tensor<2xf32>
  %3 = stablehlo.add %2, %1 {jax.note = 1 : i64} : tensor<2xf32>
  %4 = stablehlo.add %b, %b : tensor<3xf32>
  return
})");
  REQUIRE(module->rows.size() == 6);
  CHECK(module->rows[0].op == module->rows[1].op);
  CHECK(module->rows[2].op == module->rows[3].op);
  CHECK(module->rows[4].op != module->rows[3].op);
  CHECK(module->ops.size() == 4);
  CHECK(module->opRows[module->rows[2].op] == 2);
}

TEST_CASE("distinct operations are numbered as their rows appear") {
  ModulePtr module = read(R"(
func.func private @f(%a: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.tanh %a : tensor<f32>
  return %0 : tensor<f32>
}
func.func @main(%a: tensor<f32>) {
  %0 = stablehlo.add %a, %a : tensor<f32>
  %1 = call @f(%0) : (tensor<f32>) -> tensor<f32>
  return
})");
  CHECK(module->ops[0].name == "stablehlo.add");
  CHECK(module->ops[1].name == "stablehlo.tanh");
}

TEST_CASE("operations that differ in an attribute that matters stay apart") {
  ModulePtr module = read(R"(
func.func @main(%a: tensor<4x4xf32>) {
  %0 = stablehlo.transpose %a, dims = [1, 0] : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = stablehlo.transpose %a, dims = [0, 1] : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return
})");
  CHECK(module->rows[0].op != module->rows[1].op);
}

TEST_CASE("what an operation applies itself is nested in it, its terminator included") {
  ModulePtr module = read(R"(
func.func @main(%a: tensor<8x4xf32>, %i: tensor<f32>) {
  %0 = stablehlo.reduce(%a init: %i) applies stablehlo.add across dimensions = [1]
      : (tensor<8x4xf32>, tensor<f32>) -> tensor<8xf32>
  %1 = stablehlo.reduce(%a init: %i) applies stablehlo.maximum across dimensions = [1]
      : (tensor<8x4xf32>, tensor<f32>) -> tensor<8xf32>
  %2 = stablehlo.reduce(%a init: %i) across dimensions = [1]
      : (tensor<8x4xf32>, tensor<f32>) -> tensor<8xf32>
      reducer(%x: tensor<f32>, %y: tensor<f32>) {
        %s = stablehlo.add %x, %y : tensor<f32>
        stablehlo.return %s : tensor<f32>
      }
  return
})");
  CHECK(namesOf(*module) == "reduce reduce reduce func.return");
  const OpInfo& reduce = module->ops[module->rows[0].op];
  REQUIRE(reduce.nested.size() == 2);
  CHECK(reduce.nested[0].name == "stablehlo.add");
  CHECK(reduce.nested[0].operands[0].text() == "f32");
  CHECK(reduce.nested[1].name == "stablehlo.return");
  CHECK_FALSE(reduce.inCallee);
  CHECK(module->rows[1].op != module->rows[0].op);
  CHECK(module->rows[2].op == module->rows[0].op);
}

TEST_CASE("only an operation with nested ones tells that it was reached through a call") {
  ModulePtr module = read(R"(
func.func private @f(%a: tensor<8x4xf32>, %i: tensor<f32>) {
  %0 = stablehlo.reduce(%a init: %i) applies stablehlo.add across dimensions = [1]
      : (tensor<8x4xf32>, tensor<f32>) -> tensor<8xf32>
  %1 = stablehlo.tanh %i : tensor<f32>
  return
}
func.func @main(%a: tensor<8x4xf32>, %i: tensor<f32>) {
  %0 = stablehlo.reduce(%a init: %i) applies stablehlo.add across dimensions = [1]
      : (tensor<8x4xf32>, tensor<f32>) -> tensor<8xf32>
  %1 = stablehlo.tanh %i : tensor<f32>
  call @f(%a, %i) : (tensor<8x4xf32>, tensor<f32>) -> ()
  return
})");
  REQUIRE(namesOf(*module) == "reduce tanh reduce tanh func.return");
  CHECK_FALSE(module->ops[module->rows[0].op].inCallee);
  CHECK(module->ops[module->rows[2].op].inCallee);
  CHECK(module->rows[1].op == module->rows[3].op);
}

TEST_CASE("an unknown operation of an unknown dialect is a row in generic form") {
  ModulePtr module = read(R"(
func.func @main(%a: tensor<2xf32>) {
  %0 = "acme.frob"(%a) {level = 3 : i64} : (tensor<2xf32>) -> tensor<2xf32>
  return
})");
  CHECK(module->ops[0].name == "acme.frob");
  CHECK(module->ops[0].results[0].text() == "2xf32");
}

TEST_CASE(
    "operations that mhlo shares with stablehlo have the stablehlo name, others keep theirs") {
  ModulePtr module = read(R"(
func.func @main(%a: tensor<2xf32>) {
  %0 = "mhlo.add"(%a, %a) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %1 = stablehlo.add %a, %a : tensor<2xf32>
  %2 = "mhlo.copy"(%a) : (tensor<2xf32>) -> tensor<2xf32>
  return
})");
  CHECK(namesOf(*module) == "add add mhlo.copy func.return");
  CHECK(module->rows[0].op == module->rows[1].op);
}

TEST_CASE("rows know the operation of the entry that they are inside of") {
  ModulePtr module = read(R"(
func.func private @f(%a: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.tanh %a : tensor<f32>
  %1 = stablehlo.tanh %0 : tensor<f32>
  return %1 : tensor<f32>
}
func.func @main(%a: tensor<f32>) {
  %0 = stablehlo.add %a, %a : tensor<f32>
  %1 = call @f(%0) : (tensor<f32>) -> tensor<f32>
  return
})");
  REQUIRE(module->rows.size() == 4);
  CHECK(module->rows[0].topLevel == 0);
  CHECK(module->rows[1].topLevel == 1);
  CHECK(module->rows[2].topLevel == 1);
  CHECK(module->rows[3].topLevel == 2);
}
