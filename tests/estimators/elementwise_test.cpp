#include "ops.h"

using namespace nocturne;
using namespace nocturne::test;

TEST_CASE("an element-wise operation does one operation per element") {
  OpInfo add = op("stablehlo.add", "128x512xf32 128x512xf32", "128x512xf32");
  CHECK(flopsOf(add) == 65536);
  CHECK(bytesOf(add) == 3 * 65536 * 4);
  for (const char* name :
       {"stablehlo.tanh", "stablehlo.exponential", "chlo.erf", "chlo.lgamma", "mhlo.erf"})
    CHECK(flopsOf(op(name, "1000xf32", "1000xf32")) == 1000);
  CHECK(flopsOf(op("stablehlo.power", "1000xf32 1000xf32", "1000xf32")) == 1000);
  CHECK(bytesOf(op("stablehlo.power", "1000xf32 1000xf32", "1000xf32")) == 12000);
}

TEST_CASE("booleans take a byte each, empty tensors nothing, small integers are packed") {
  CHECK(bytesOf(op("stablehlo.compare", "128x10xf32 128x10xf32", "128x10xi1")) == 2 * 5120 + 1280);
  CHECK(bytesOf(op("stablehlo.add", "0x4xf32 0x4xf32", "0x4xf32")) == 0);
  CHECK(bytesOf(op("stablehlo.not", "3xi4", "3xi4")) == 4);
}

TEST_CASE("complex arithmetic counts the real operations it is made of") {
  auto flops = [](const std::string& name, const std::string& operands, const char* result) {
    return flopsOf(op(name, operands, result));
  };
  std::string one = "10xcomplex<f32>", two = one + ' ' + one;
  CHECK(flops("stablehlo.add", two, "10xcomplex<f32>") == 20);
  CHECK(flops("stablehlo.multiply", two, "10xcomplex<f32>") == 60);
  CHECK(flops("stablehlo.divide", two, "10xcomplex<f32>") == 110);
  CHECK(flops("stablehlo.abs", one, "10xf32") == 40);
  CHECK(flops("stablehlo.exponential", one, "10xcomplex<f32>") == 20);
  CHECK(flops("stablehlo.compare", two, "10xi1") == 20);
}

TEST_CASE("a map does what its body says") {
  std::vector<OpInfo> body = {op("stablehlo.multiply", "f32 f32", "f32"),
                              op("stablehlo.add", "f32 f32", "f32"),
                              op("stablehlo.return", "f32", "")};
  CHECK(flopsOf(op("stablehlo.map", "100xf32 100xf32", "100xf32", {}, body)) == 200);
}

TEST_CASE("batch normalisation reads twice what it takes statistics of") {
  // 8 per element; the operand is read twice: 2 * 400 + two of 16, and results of 400 + 2 * 16.
  OpInfo training =
      op("stablehlo.batch_norm_training", "25x4xf32 4xf32 4xf32", "25x4xf32 4xf32 4xf32");
  CHECK(flopsOf(training) == 800);
  CHECK(bytesOf(training) == 800 + 32 + 432);
  OpInfo inference =
      op("stablehlo.batch_norm_inference", "25x4xf32 4xf32 4xf32 4xf32 4xf32", "25x4xf32");
  CHECK(flopsOf(inference) == 400);
  CHECK(bytesOf(inference) == 400 + 64 + 400);
  // Operand and output gradient twice: 4 * 400, three of 16, results of 400 + 2 * 16.
  OpInfo grad = op("stablehlo.batch_norm_grad", "25x4xf32 4xf32 4xf32 4xf32 25x4xf32",
                   "25x4xf32 4xf32 4xf32");
  CHECK(flopsOf(grad) == 1000);
  CHECK(bytesOf(grad) == 1600 + 48 + 432);
}
