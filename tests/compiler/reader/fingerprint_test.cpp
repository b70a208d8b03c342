#include <doctest/doctest.h>

#include "read_text.h"

using namespace nocturne;
using namespace nocturne::compiler;
using namespace nocturne::compiler::testing;

namespace {

const char* const kPlain = R"(
func.func private @f(%a: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = stablehlo.tanh %a : tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
func.func @main(%a: tensor<4x8xf32>, %i: tensor<f32>) -> tensor<4xf32> {
  %c = stablehlo.constant dense<1.0> : tensor<4x8xf32>
  %0 = call @f(%a) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = stablehlo.add %0, %c : tensor<4x8xf32>
  %2 = stablehlo.reduce(%1 init: %i) applies stablehlo.add across dimensions = [1]
      : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
})";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  REQUIRE(text.find(from) != std::string::npos);
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

Digest print(const std::string& text, const ReaderOptions& options = {}) {
  return read(text, options)->fingerprint;
}

} // namespace

TEST_CASE("the fingerprint does not see names, comments, places and constants") {
  Digest plain = print(kPlain);
  CHECK(print(replaced(kPlain, "%0", "%renamed")) == plain);
  CHECK(print(replaced(kPlain, "@f", "@another_private_name")) == plain);
  CHECK(print("// A comment.\n\n" + std::string(kPlain)) == plain);
  CHECK(print("module @named {" + std::string(kPlain) + "}") == plain);
  CHECK(print(replaced(kPlain, "dense<1.0>", "dense<2.0>")) == plain);
  CHECK(print(replaced(kPlain, "%c : tensor<4x8xf32>", "%c : tensor<4x8xf32> loc(\"x.py\":1:1)")) ==
        plain);
}

TEST_CASE("the fingerprint does not see annotations without influence on cost") {
  CHECK(print(replaced(kPlain, "add %0, %c", "add %0, %c {mhlo.sharding = \"{replicated}\"}")) ==
        print(kPlain));
  CHECK(print("module attributes {mhlo.num_partitions = 4 : i32} {" + std::string(kPlain) + "}") ==
        print(kPlain));
}

TEST_CASE("the fingerprint of the generic form is that of the pretty one") {
  const char* const generic = R"("builtin.module"() ({
  "func.func"() <{function_type = (tensor<4x8xf32>) -> tensor<4x8xf32>, sym_name = "f", sym_visibility = "private"}> ({
  ^bb0(%a: tensor<4x8xf32>):
    %0 = "stablehlo.tanh"(%a) : (tensor<4x8xf32>) -> tensor<4x8xf32>
    "func.return"(%0) : (tensor<4x8xf32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>, sym_name = "main"}> ({
  ^bb0(%a: tensor<4x8xf32>, %i: tensor<f32>):
    %c = "stablehlo.constant"() <{value = dense<1.0> : tensor<4x8xf32>}> : () -> tensor<4x8xf32>
    %0 = "func.call"(%a) <{callee = @f}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %1 = "stablehlo.add"(%0, %c) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    %2 = "stablehlo.reduce"(%1, %i) <{dimensions = array<i64: 1>}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %s = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%s) : (tensor<f32>) -> ()
    }) : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
    "func.return"(%2) : (tensor<4xf32>) -> ()
  }) : () -> ()
}) : () -> ())";
  CHECK(print(generic) == print(kPlain));
}

TEST_CASE("functions that are never called do not matter") {
  CHECK(print(std::string(kPlain) + "func.func private @unused() { return }") == print(kPlain));
}

TEST_CASE("the fingerprint sees types, operations, attributes, nested operations and data flow") {
  Digest plain = print(kPlain);
  CHECK(print(replaced(kPlain, "f32", "bf16")) != plain);
  CHECK(print(replaced(kPlain, "tanh", "negate")) != plain);
  CHECK(print(replaced(kPlain, "applies stablehlo.add", "applies stablehlo.maximum")) != plain);
  CHECK(print(replaced(kPlain, "add %0, %c", "add %c, %0")) != plain);
  CHECK(print(replaced(kPlain, "add %0, %c", "add %0, %0")) != plain);
  std::string square = replaced(kPlain, "4x8xf32", "8x8xf32");
  square = replaced(square, "tensor<4xf32>", "tensor<8xf32>");
  CHECK(print(square) != print(replaced(square, "dimensions = [1]", "dimensions = [0]")));
}

TEST_CASE("contractions that differ only in precision are distinct") {
  const std::string convolution =
      "stablehlo.convolution(%a, %b) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {}"
      " {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = "
      "[#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}"
      " : (tensor<1x8x4xf32>, tensor<3x4x16xf32>) -> tensor<1x6x16xf32>\n";
  const std::string einsum =
      "stablehlo.einsum %a, %c, config = \"bik,kj->bij\" {precision_config = "
      "[#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}"
      " : (tensor<1x8x4xf32>, tensor<4x5xf32>) -> tensor<1x8x5xf32>\n";
  for (const std::string& plain : {convolution, einsum}) {
    CAPTURE(plain);
    auto moduleOf = [](const std::string& first, const std::string& second) {
      return read("func.func @main(%a: tensor<1x8x4xf32>, %b: tensor<3x4x16xf32>,"
                  " %c: tensor<4x5xf32>) {\n%0 = " +
                  first + "%1 = " + second + "return\n}\n");
    };
    std::string precise = replaced(plain, "DEFAULT", "HIGHEST");
    // The operation and the return; or two operations and the return.
    CHECK(moduleOf(plain, plain)->ops.size() == 2);
    CHECK(moduleOf(plain, precise)->ops.size() == 3);
    CHECK(moduleOf(plain, plain)->fingerprint != moduleOf(precise, precise)->fingerprint);
  }
}

TEST_CASE("the fingerprint sees how often a loop runs") {
  auto loop = [](int bound) {
    return "func.func @main() {\n"
           "%s = stablehlo.constant dense<0> : tensor<i32>\n"
           "%one = stablehlo.constant dense<1> : tensor<i32>\n"
           "%b = stablehlo.constant dense<" +
           std::to_string(bound) +
           "> : tensor<i32>\n"
           "%r = stablehlo.while(%i = %s) : tensor<i32> cond {\n"
           "%p = stablehlo.compare LT, %i, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
           "stablehlo.return %p : tensor<i1>\n} do {\n"
           "%n = stablehlo.add %i, %one : tensor<i32>\n"
           "stablehlo.return %n : tensor<i32>\n}\nreturn\n}\n";
  };
  CHECK(print(loop(5)) == print(loop(5)));
  CHECK(print(loop(5)) != print(loop(6)));
}

TEST_CASE("the content hash sees every byte") {
  CHECK(read(kPlain)->contentHash != read(std::string(kPlain) + "\n")->contentHash);
  CHECK(read(kPlain)->contentHash == hashBytes(kPlain));
}
