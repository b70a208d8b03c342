#include <doctest/doctest.h>

#include "read_text.h"

using namespace nocturne;
using namespace nocturne::compiler;
using namespace nocturne::compiler::testing;

// Tensors of 100 f32 have 400 bytes, those of 50 have 200.

TEST_CASE("a value lives from its definition to its last use") {
  ModulePtr module = read(R"(
func.func @main(%a: tensor<100xf32>) -> tensor<100xf32> {
  %0 = stablehlo.tanh %a : tensor<100xf32>
  %1 = stablehlo.tanh %0 : tensor<100xf32>
  %2 = stablehlo.tanh %1 : tensor<100xf32>
  return %2 : tensor<100xf32>
})");
  // The argument, and two neighbours of the chain.
  CHECK(module->peakBytes == 400 + 2 * 400);
}

TEST_CASE("a value that is used late lives as long") {
  ModulePtr module = read(R"(
func.func @main(%a: tensor<100xf32>) -> tensor<100xf32> {
  %0 = stablehlo.tanh %a : tensor<100xf32>
  %1 = stablehlo.tanh %0 : tensor<100xf32>
  %2 = stablehlo.tanh %1 : tensor<100xf32>
  %3 = stablehlo.add %0, %2 : tensor<100xf32>
  return %3 : tensor<100xf32>
})");
  CHECK(module->peakBytes == 400 + 3 * 400);
}

TEST_CASE("arguments and constants are held throughout, a constant of a callee once") {
  ModulePtr module = read(R"(
func.func private @f() {
  %0 = stablehlo.constant dense<1.0> : tensor<100xf32>
  return
}
func.func @main(%a: tensor<50xf32>) {
  call @f() : () -> ()
  call @f() : () -> ()
  return
})");
  CHECK(module->peakBytes == 200 + 400);
}

TEST_CASE("operations that move nothing share the memory of their operands") {
  ModulePtr module = read(R"(
func.func @main(%a: tensor<100xf32>) -> tensor<100xf32> {
  %0 = stablehlo.tanh %a : tensor<100xf32>
  %1 = stablehlo.reshape %0 : (tensor<100xf32>) -> tensor<10x10xf32>
  %2 = stablehlo.bitcast_convert %1 : (tensor<10x10xf32>) -> tensor<10x10xi32>
  %3 = stablehlo.tuple %2, %0 : tuple<tensor<10x10xi32>, tensor<100xf32>>
  %4 = stablehlo.get_tuple_element %3[1] : (tuple<tensor<10x10xi32>, tensor<100xf32>>) -> tensor<100xf32>
  return %4 : tensor<100xf32>
})");
  CHECK(module->peakBytes == 400 + 400);
}

TEST_CASE("a view keeps what it views alive") {
  ModulePtr module = read(R"(
func.func @main(%a: tensor<100xf32>) -> tensor<10x10xf32> {
  %0 = stablehlo.tanh %a : tensor<100xf32>
  %1 = stablehlo.reshape %0 : (tensor<100xf32>) -> tensor<10x10xf32>
  %2 = stablehlo.slice %a [0:50] : (tensor<100xf32>) -> tensor<50xf32>
  %3 = stablehlo.tanh %2 : tensor<50xf32>
  return %1 : tensor<10x10xf32>
})");
  CHECK(module->peakBytes == 400 + 400 + 200 + 200);
}

TEST_CASE("what a loop uses from outside lives to its end, what it carries in one place") {
  ModulePtr module = read(R"(
func.func @main(%n: tensor<i32>, %x: tensor<50xf32>) {
  %outside = stablehlo.tanh %x : tensor<50xf32>
  %start = stablehlo.negate %x : tensor<50xf32>
  %r:2 = stablehlo.while(%i = %n, %v = %start) : tensor<i32>, tensor<50xf32> cond {
    %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %a = stablehlo.add %v, %outside : tensor<50xf32>
    %b = stablehlo.tanh %a : tensor<50xf32>
    stablehlo.return %i, %b : tensor<i32>, tensor<50xf32>
  }
  return
})");
  // Arguments 4 + 200; carried: a copy of the counter (4), as arguments may not be overwritten, and
  // %start (200); %outside (200); in the body %a and %b (200 each).
  CHECK(module->peakBytes == 204 + 4 + 200 + 200 + 400);
}

TEST_CASE("values of a callee are those of each call") {
  ModulePtr module = read(R"(
func.func private @f(%a: tensor<50xf32>) -> tensor<50xf32> {
  %0 = stablehlo.tanh %a : tensor<50xf32>
  %1 = stablehlo.tanh %0 : tensor<50xf32>
  return %1 : tensor<50xf32>
}
func.func @main(%a: tensor<50xf32>) -> tensor<50xf32> {
  %0 = call @f(%a) : (tensor<50xf32>) -> tensor<50xf32>
  %1 = call @f(%0) : (tensor<50xf32>) -> tensor<50xf32>
  %2 = stablehlo.add %0, %1 : tensor<50xf32>
  return %2 : tensor<50xf32>
})");
  // The argument; the first call's result; the second call's two values.
  CHECK(module->peakBytes == 200 + 200 + 400);
}
