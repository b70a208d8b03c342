// Cycle counts worked out by hand from 2R + C + T - 2 cycles a fold; docs/systolic.md derives it.
#include <algorithm>

#include <doctest/doctest.h>

#include "estimators/systolic_estimator.h"
#include "tests/estimators/ops.h"

using namespace nocturne;
using namespace nocturne::test;

namespace {

constexpr double kPlenty = 1e12;

SystolicArray array(Dataflow dataflow, double rows = 4, double columns = 8) {
  return {rows, columns, dataflow, kPlenty, kPlenty, kPlenty, 1000};
}

// f32 throughout.
MatrixProduct product(double m, double k, double n, double products = 1) {
  return {m, k, n, products, 4 * m * k * products, 4 * k * n * products, 4 * m * n * products, 4};
}

double cycles(Dataflow dataflow, double m, double k, double n, double products = 1) {
  return costOf(array(dataflow), product(m, k, n, products)).cycles;
}

DotAttributes matmul() {
  DotAttributes dot;
  dot.lhsContracting = {1};
  dot.rhsContracting = {0};
  return dot;
}

// One operation a picosecond, one byte a picosecond.
Json options(const Json& more = Json::object()) {
  Json all = {{"rows", 4}, {"columns", 8}, {"frequency_hz", 1e9}};
  all.update(more);
  return all;
}

} // namespace

TEST_CASE("weight stationary: folds over K and N, steps along M") {
  const Dataflow ws = Dataflow::WeightStationary;
  CHECK(cycles(ws, 16, 4, 8) == 30);      // one fold of 8 + 8 + 16 - 2
  CHECK(cycles(ws, 1, 1, 1) == 15);       // one fold, however little is in it
  CHECK(cycles(ws, 100, 10, 20) == 1026); // 3 x 3 folds of 114
  CHECK(cycles(ws, 7, 8, 16) == 84);      // 2 x 2 folds of 21
  CHECK(cycles(ws, 16, 4, 8, 3) == 90);   // three products
}

TEST_CASE("output stationary: folds over M and N, steps along K") {
  const Dataflow os = Dataflow::OutputStationary;
  CHECK(cycles(os, 16, 4, 8) == 72);     // 4 x 1 folds of 8 + 8 + 4 - 2
  CHECK(cycles(os, 5, 1000, 9) == 4056); // 2 x 2 folds of 1014
  CHECK(cycles(os, 4, 64, 8) == 78);     // one fold
}

TEST_CASE("input stationary: folds over K and M, steps along N") {
  const Dataflow is = Dataflow::InputStationary;
  CHECK(cycles(is, 16, 4, 8) == 44);   // 1 x 2 folds of 8 + 8 + 8 - 2
  CHECK(cycles(is, 9, 5, 100) == 456); // 2 x 2 folds of 114
}

TEST_CASE("a large product fills a large array") {
  const SystolicCost cost =
      costOf(array(Dataflow::WeightStationary, 128, 128), product(4096, 4096, 4096));
  CHECK(cost.cycles == 1024 * 4478.0); // 32 x 32 folds of 256 + 128 + 4096 - 2
  CHECK(cost.utilisation == doctest::Approx(4096.0 / 4478));
}

TEST_CASE("what fits its half of a buffer moves once") {
  const SystolicCost cost = costOf(array(Dataflow::WeightStationary), product(100, 10, 20));
  CHECK(cost.bytes == 4000 + 800 + 8000);
  CHECK(cost.firstBytes == doctest::Approx(800.0 / 9 + 4000.0 / 3));
  CHECK(cost.lastBytes == doctest::Approx(8000.0 / 3));
}

TEST_CASE("what does not fit is read again for each fold that needs it") {
  SystolicArray small = array(Dataflow::WeightStationary);
  small.inputBuffer = 2000; // room for 1000: neither 4000 nor a third of it
  CHECK(costOf(small, product(100, 10, 20)).bytes == 3 * 4000 + 800 + 8000);
  small.inputBuffer = 2800; // a third of the inputs fits
  CHECK(costOf(small, product(100, 10, 20)).bytes == 4000 + 800 + 8000);
  SystolicArray outputs = array(Dataflow::OutputStationary);
  outputs.weightBuffer = 100; // 100 x 10 x 20: 25 x 3 folds, a band of weights is 267 bytes
  CHECK(costOf(outputs, product(100, 10, 20)).bytes == 4000 + 25 * 800 + 8000);
}

TEST_CASE("partial sums that do not fit are written and read back") {
  SystolicArray small = array(Dataflow::WeightStationary);
  small.outputBuffer = 2;    // not even one sum: 2 x 8000 bytes between three folds of K, twice
  small.bytesPerCycle = 1e6; // so that no block is worth its fill
  CHECK(costOf(small, product(100, 10, 20)).bytes == 4000 + 800 + 8000 + 2 * 8000 * 2);
}

TEST_CASE("blocks of the steps save traffic when the memory is the slower part") {
  SystolicArray slow = array(Dataflow::WeightStationary);
  slow.outputBuffer = 2 * 2700; // the sums of one tile of N, 2666.7 bytes, fit
  slow.inputBuffer = 2 * 700;   // a third of a half of the inputs, 666.7 bytes, fits
  slow.bytesPerCycle = 1;
  // One block: inputs three times (12000), as sums of all of N (8000 bytes) do not wait.
  // Two blocks keep 667 bytes of inputs, but 4000 bytes of sums still do not: 12000 again.
  // Four: sums of 2000 bytes wait, so that inputs are read once.
  const SystolicCost cost = costOf(slow, product(100, 10, 20));
  CHECK(cost.bytes == 4000 + 800 + 8000);
  CHECK(cost.cycles == 9 * (4 * 14 + 100.0));
}

TEST_CASE("no time is below the array's rate and the memory's") {
  for (const Dataflow dataflow :
       {Dataflow::WeightStationary, Dataflow::OutputStationary, Dataflow::InputStationary})
    for (const double buffer : {64.0, 4096.0, 1e9})
      for (const double m : {1.0, 5.0, 333.0})
        for (const double k : {1.0, 64.0, 1000.0})
          for (const double n : {1.0, 9.0, 512.0}) {
            const SystolicArray one{4, 8, dataflow, buffer, buffer, buffer, 2};
            const MatrixProduct shape = product(m, k, n, 2);
            const SystolicCost cost = costOf(one, shape);
            CHECK(cost.cycles >= 2 * m * k * n / 32);
            CHECK(cost.bytes >= shape.inputBytes + shape.weightBytes + shape.outputBytes);
            CHECK(cost.utilisation <= 1);
          }
}

TEST_CASE("a dot_general takes its cycles, and its data's way in and out") {
  const OpInfo dot = op("stablehlo.dot_general", "100x10xf32 10x20xf32", "100x20xf32", matmul());
  const EstimatorResult result = cost(dot, options(), "systolic");
  CHECK(result.flops == 2 * 100 * 10 * 20);
  CHECK(result.bytes == 12800);
  // 1026 ns, and 4088.9 bytes at 1 TB/s.
  CHECK(*result.runtime == doctest::Approx(1026e-9 + 4088.8889e-12).epsilon(1e-9));
}

TEST_CASE("without a frequency the machine's peak sets it") {
  // 1 TFLOP/s over 2 x 4 x 8 elements is 15.625 GHz.
  const OpInfo dot = op("stablehlo.dot_general", "100x10xf32 10x20xf32", "100x20xf32", matmul());
  const EstimatorResult result = cost(dot, options({{"frequency_hz", 0}}), "systolic");
  CHECK(*result.runtime == doctest::Approx(1026 / 15.625e9 + 4088.8889e-12).epsilon(1e-9));
  CHECK(result.metadata.at("systolic").at("frequency_hz") == 15.625e9);
  CHECK(result.metadata.at("systolic").at("frequency_derived") == true);
}

TEST_CASE("batching dimensions are products of their own") {
  DotAttributes dot;
  dot.lhsBatching = dot.rhsBatching = {0};
  dot.lhsContracting = {2};
  dot.rhsContracting = {1};
  const std::optional<MatrixProduct> shape =
      matrixProductOf(op("stablehlo.dot_general", "3x16x4xf32 3x4x8xf32", "3x16x8xf32", dot));
  REQUIRE(shape);
  CHECK(shape->products == 3);
  CHECK(shape->m == 16);
  CHECK(shape->k == 4);
  CHECK(shape->n == 8);
}

TEST_CASE("a convolution is the product of its unrolled windows") {
  ConvolutionAttributes conv; // NHWC x HWIO, two feature groups
  conv.lhsBatch = conv.outBatch = 0;
  conv.lhsFeature = conv.outFeature = 3;
  conv.lhsSpatial = conv.outSpatial = {1, 2};
  conv.rhsSpatial = {0, 1};
  conv.rhsInputFeature = 2;
  conv.rhsOutputFeature = 3;
  conv.window.sizes = {3, 3};
  conv.featureGroups = 2;
  const std::optional<MatrixProduct> shape = matrixProductOf(
      op("stablehlo.convolution", "2x10x10x8xf32 3x3x4x16xf32", "2x8x8x16xf32", conv));
  REQUIRE(shape);
  CHECK(shape->products == 2);
  CHECK(shape->m == 2 * 8 * 8);
  CHECK(shape->k == 3 * 3 * 4);
  CHECK(shape->n == 8);
}

TEST_CASE("what is no product is the roofline's") {
  const OpInfo add = op("stablehlo.add", "1000xf32 1000xf32", "1000xf32");
  CHECK(*cost(add, options(), "systolic").runtime == *cost(add).runtime);
  const OpInfo complexDot = op("stablehlo.dot_general", "8x8xcomplex<f32> 8x8xcomplex<f32>",
                               "8x8xcomplex<f32>", matmul());
  CHECK(*cost(complexDot, options(), "systolic").runtime == *cost(complexDot).runtime);
}

TEST_CASE("an array without extents is refused by name") {
  CHECK_THROWS_WITH_AS(make("systolic", unitMachine()), doctest::Contains("columns"), UsageError);
}
