#include <doctest/doctest.h>

#include "read_text.h"

using namespace nocturne;
using namespace nocturne::compiler;
using namespace nocturne::compiler::testing;

namespace {

// The second branch multiplies matrices (2 * 8 * 8 * 8 operations), the first has more elements.
const char* const kIf = R"(
func.func @main(%p: tensor<i1>, %a: tensor<8x8xf32>, %b: tensor<900xf32>) {
  %r = "stablehlo.if"(%p) ({
    %0 = stablehlo.tanh %b : tensor<900xf32>
    stablehlo.return %a : tensor<8x8xf32>
  }, {
    %0 = stablehlo.dot_general %a, %a, contracting_dims = [1] x [0]
        : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    stablehlo.return %0 : tensor<8x8xf32>
  }) : (tensor<i1>) -> tensor<8x8xf32>
  return
})";

ReaderOptions policy(ReaderOptions::Branch branch) {
  ReaderOptions options;
  options.branch = branch;
  return options;
}

std::string caseOf(const std::vector<std::string>& bodies) {
  std::string text = "func.func @main(%i: tensor<i32>, %a: tensor<64xf32>, %b: tensor<32xf32>) {\n"
                     "\"stablehlo.case\"(%i) (";
  for (size_t i = 0; i < bodies.size(); ++i)
    text +=
        std::string(i ? ", " : "") + "{\n" + bodies[i] + "\n\"stablehlo.return\"() : () -> ()\n}";
  return text + ") : (tensor<i32>) -> ()\nreturn\n}";
}

} // namespace

TEST_CASE("the largest branch runs: most operations of arithmetic, not most elements") {
  ModulePtr module = read(kIf);
  CHECK(namesOf(*module) == "if dot_general func.return");
  CHECK(module->rows[1].multiplicity == 1);
  CHECK(module->rows[1].loopDepth == 1);
  REQUIRE(module->assumptions.size() == 1);
  CHECK(module->assumptions[0] == Assumption{"branch", "largest", "test.mlir:3:8"});
}

TEST_CASE("the first branch runs if asked for") {
  ModulePtr module = read(kIf, policy(ReaderOptions::Branch::First));
  CHECK(namesOf(*module) == "if tanh func.return");
  CHECK(module->assumptions[0].value == "first");
}

TEST_CASE("the mean of the branches is each of them with its share") {
  ModulePtr module = read(kIf, policy(ReaderOptions::Branch::Mean));
  CHECK(namesOf(*module) == "if tanh dot_general func.return");
  CHECK(module->rows[0].multiplicity == 1);
  CHECK(module->rows[1].multiplicity == 0.5);
  CHECK(module->rows[2].multiplicity == 0.5);
}

TEST_CASE("equal arithmetic is decided by bytes, equal bytes by order") {
  std::string tanhA = "%0 = stablehlo.tanh %a : tensor<64xf32>";
  std::string addA = "%0 = stablehlo.add %a, %a : tensor<64xf32>";
  std::string negateA = "%0 = stablehlo.negate %a : tensor<64xf32>";
  CHECK(namesOf(*read(caseOf({tanhA, addA}))) == "case add func.return");
  CHECK(namesOf(*read(caseOf({tanhA, negateA}))) == "case tanh func.return");
}

TEST_CASE("a case divides its mean by the number of branches") {
  std::string tanh = "%0 = stablehlo.tanh %b : tensor<32xf32>";
  ModulePtr module = read(caseOf({tanh, tanh, tanh, tanh}), policy(ReaderOptions::Branch::Mean));
  CHECK(module->rows.size() == 6);
  CHECK(runsOf(*module, "stablehlo.tanh") == 1);
  CHECK(module->rows[1].multiplicity == 0.25);
}

TEST_CASE("a case with one branch supposes nothing") {
  CHECK(read(caseOf({"%0 = stablehlo.tanh %b : tensor<32xf32>"}))->assumptions.empty());
}

TEST_CASE("what a branch calls or repeats counts for its size") {
  ModulePtr module = read(R"(
func.func private @big(%a: tensor<64x64xf32>) {
  %0 = stablehlo.dot_general %a, %a, contracting_dims = [1] x [0]
      : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return
}
func.func @main(%p: tensor<i1>, %a: tensor<64x64xf32>) {
  "stablehlo.if"(%p) ({
    %0 = stablehlo.tanh %a : tensor<64x64xf32>
    "stablehlo.return"() : () -> ()
  }, {
    func.call @big(%a) : (tensor<64x64xf32>) -> ()
    "stablehlo.return"() : () -> ()
  }) : (tensor<i1>) -> ()
  return
})");
  CHECK(namesOf(*module) == "if dot_general func.return");
}

TEST_CASE("functions with jumps run each block once, which is noted") {
  ModulePtr module = read(R"(
func.func @main(%p: i1, %a: tensor<4xf32>) -> tensor<4xf32> {
  cf.cond_br %p, ^a, ^b
^a:
  %0 = stablehlo.tanh %a : tensor<4xf32>
  cf.br ^c(%0 : tensor<4xf32>)
^b:
  %1 = stablehlo.negate %a : tensor<4xf32>
  cf.br ^c(%1 : tensor<4xf32>)
^c(%r: tensor<4xf32>):
  return %r : tensor<4xf32>
})");
  CHECK(namesOf(*module) == "cf.cond_br tanh cf.br negate cf.br func.return");
  REQUIRE(module->assumptions.size() == 1);
  CHECK(module->assumptions[0].kind == "control_flow");
}
