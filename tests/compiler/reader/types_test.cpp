#include <doctest/doctest.h>

#include "read_text.h"

using namespace nocturne;
using namespace nocturne::compiler;
using namespace nocturne::compiler::testing;

namespace {

// What the reader makes of the type of an argument.
std::vector<TensorType> argumentsOf(const std::string& type) {
  return read("func.func @main(%a: " + type + ") { return }")->arguments;
}
TensorType argumentOf(const std::string& type) {
  std::vector<TensorType> all = argumentsOf(type);
  REQUIRE(all.size() == 1);
  return all[0];
}

} // namespace

TEST_CASE("every element type keeps its name") {
  for (const char* name : {"i1",          "i2",         "i4",
                           "i8",          "i16",        "i32",
                           "i64",         "ui2",        "ui4",
                           "ui8",         "ui16",       "ui32",
                           "ui64",        "f4E2M1FN",   "f6E2M3FN",
                           "f6E3M2FN",    "f8E3M4",     "f8E4M3",
                           "f8E4M3FN",    "f8E4M3FNUZ", "f8E4M3B11FNUZ",
                           "f8E5M2",      "f8E5M2FNUZ", "f8E8M0FNU",
                           "f16",         "bf16",       "tf32",
                           "f32",         "f64",        "complex<f32>",
                           "complex<f64>"}) {
    TensorType type = argumentOf(std::string("tensor<2x3x") + name + ">");
    CHECK(type.element.kind == elementKindFromName(name));
    CHECK(type.dims == std::vector<int64_t>{2, 3});
  }
}

TEST_CASE("a quantized element stores one kind and expresses another") {
  TensorType type = argumentOf("tensor<4x!quant.uniform<i8:f32, 1.0:0>>");
  CHECK(type.element.kind == ElementKind::I8);
  CHECK(type.element.expressed == ElementKind::F32);
  CHECK(argumentOf("tensor<4x!quant.uniform<u8:f32, 1.0:0>>").element.kind == ElementKind::UI8);
}

TEST_CASE("tuples are flattened and tokens kept") {
  std::vector<TensorType> types =
      argumentsOf("tuple<tensor<2xf32>, tuple<tensor<i32>, !stablehlo.token>>");
  REQUIRE(types.size() == 3);
  CHECK(types[0].text() == "2xf32");
  CHECK(types[1].element.kind == ElementKind::I32);
  CHECK(types[2].element.kind == ElementKind::Token);
  CHECK(types[2].bytes() == 0);
}

TEST_CASE("an operation on tuples has their parts as operands and results") {
  ModulePtr module = read(R"(
func.func @main(%a: tensor<2xf32>, %b: tensor<i32>) {
  %0 = stablehlo.tuple %a, %b : tuple<tensor<2xf32>, tensor<i32>>
  %1 = stablehlo.get_tuple_element %0[1] : (tuple<tensor<2xf32>, tensor<i32>>) -> tensor<i32>
  return
})");
  const OpInfo* tuple = opOf(*module, "stablehlo.tuple");
  REQUIRE(tuple);
  CHECK(tuple->results.size() == 2);
  CHECK(opOf(*module, "stablehlo.get_tuple_element")->operands.size() == 2);
  CHECK(module->rows[0].resultCount == 1);
}

TEST_CASE("an unknown extent stays unknown and is noted") {
  ModulePtr module = read(R"(
func.func @main(%a: tensor<?x4xf32>) {
  %0 = stablehlo.tanh %a : tensor<?x4xf32>
  return
})");
  CHECK(module->arguments[0].dims[0] == kDynamic);
  REQUIRE(module->assumptions.size() == 1);
  CHECK(module->assumptions[0] == Assumption{"dynamic_dimension", "1", "test.mlir:3:8"});
}

TEST_CASE("a bounded extent is its bound, which is noted") {
  ModulePtr module = read(R"(
func.func @main(%a: tensor<?x4xf32, #stablehlo.bounds<16, ?>>) {
  %0 = stablehlo.tanh %a : tensor<?x4xf32, #stablehlo.bounds<16, ?>>
  return
})");
  CHECK(module->arguments[0].text() == "16x4xf32");
  REQUIRE(module->assumptions.size() == 1);
  CHECK(module->assumptions[0].value == "bound");
}

TEST_CASE("unranked tensors, scalars and opaque types have what is known of them") {
  CHECK_FALSE(argumentOf("tensor<*xf32>").ranked);
  CHECK(argumentOf("i32").element.kind == ElementKind::I32);
  CHECK(argumentOf("i32").dims.empty());
  CHECK(argumentOf("index").element.kind == ElementKind::Index);
  CHECK(argumentOf("memref<4xf32>").dims == std::vector<int64_t>{4});
  CHECK(argumentOf("!acme.thing<4>").element.kind == ElementKind::None);
  CHECK(argumentOf("i7").element.kind == ElementKind::None);
}

TEST_CASE("a type that only wraps tensors stands for them") {
  CHECK(argumentOf("!acme.mesh_tensor<\"m<1\", tensor<4x8xf32>>").text() == "4x8xf32");
  std::vector<TensorType> types =
      argumentsOf("!mhlo.async_bundle<tuple<tensor<2xf32>, tensor<i8>>, tensor<f32>>");
  CHECK(types.size() == 3);
}

TEST_CASE("a type whose tree is too large is refused") {
  std::string text = "!t0 = tuple<tensor<f32>, tensor<f32>>\n";
  for (int i = 1; i < 60; ++i)
    text += "!t" + std::to_string(i) + " = tuple<!t" + std::to_string(i - 1) + ", !t" +
            std::to_string(i - 1) + ">\n";
  CHECK(failureOf(text + "func.func @main(%a: !t59) { return }"));
  CHECK(
      failureOf("!t = i32\n" + text + "func.func @main() { %0 = \"a.b\"() : () -> !t59 return }"));
}
