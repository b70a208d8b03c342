#include "ops.h"

using namespace nocturne;
using namespace nocturne::test;

namespace {
OpAttributes window(Dims sizes, Dims strides, std::vector<std::pair<int64_t, int64_t>> padding) {
  WindowReductionAttributes out;
  Dims ones(sizes.size(), 1);
  out.window = {std::move(sizes),
                std::move(strides),
                ones,
                ones,
                std::move(padding),
                std::vector<bool>(ones.size())};
  return out;
}
} // namespace

TEST_CASE("n values become one with n - 1 applications of the reducer") {
  OpInfo reduce =
      op("stablehlo.reduce", "128x10xf32 f32", "128xf32", DimensionsAttributes{{1}}, addBody());
  CHECK(flopsOf(reduce) == 1152);
  CHECK(bytesOf(reduce) == 5120 + 4 + 512);
  reduce.nested.clear(); // unknown: one operation
  CHECK(flopsOf(reduce) == 1152);
}

TEST_CASE("a variadic reduction reads all operands and does all of its body") {
  std::vector<OpInfo> body = {
      op("stablehlo.compare", "f16 f16", "i1"), op("stablehlo.select", "i1 f16 f16", "f16"),
      op("stablehlo.select", "i1 i32 i32", "i32"), op("stablehlo.return", "f16 i32", "")};
  OpInfo argmax = op("stablehlo.reduce", "256x1000xf16 256x1000xi32 f16 i32", "256xf16 256xi32",
                     DimensionsAttributes{{1}}, body);
  CHECK(flopsOf(argmax) == 255744.0 * 3);
  CHECK(bytesOf(argmax) == 256000.0 * 6 + 6 + 256 * 6);
}

TEST_CASE("windows count the positions that meet the operand") {
  // 2 x 2 windows that do not overlap: 4 - 1 per result.
  CHECK(flopsOf(op("stablehlo.reduce_window", "4x4xf32 f32", "2x2xf32",
                   window({2, 2}, {2, 2}, {{0, 0}, {0, 0}}), addBody())) == 12);
  // A running sum of 5: result i adds i values to the first.
  CHECK(flopsOf(op("stablehlo.reduce_window", "5xf32 f32", "5xf32", window({5}, {1}, {{4, 0}}),
                   addBody())) == 10);
  // 4 comparisons-or-scatters for each of the four sources.
  OpInfo scatter = op("stablehlo.select_and_scatter", "4x4xf32 2x2xf32 f32", "4x4xf32",
                      window({2, 2}, {2, 2}, {{0, 0}, {0, 0}}), addBody());
  CHECK(flopsOf(scatter) == 16);
  CHECK(bytesOf(scatter) == 64 + 16 + 4 + 64);
}

TEST_CASE("sorting moves keys and payloads, and compares n log n times") {
  std::vector<OpInfo> body = {op("stablehlo.compare", "f32 f32", "i1"),
                              op("stablehlo.return", "i1", "")};
  OpInfo shortRows = op("stablehlo.sort", "10x1000xf32 10x1000xi32", "10x1000xf32 10x1000xi32",
                        DimensionsAttributes{{1}}, body);
  CHECK(bytesOf(shortRows) == 2 * 80000);
  CHECK(flopsOf(shortRows) == 10000 * 10);
  OpInfo longRow = op("stablehlo.sort", "1000000xbf16 1000000xi32", "1000000xbf16 1000000xi32",
                      DimensionsAttributes{{0}}, body);
  CHECK(bytesOf(longRow) == 2.0 * 2 * 6000000);
  CHECK(flopsOf(longRow) == 1000000.0 * 20);
}

TEST_CASE("finding the best k takes one operation per element") {
  OpInfo top = op("chlo.top_k", "2048x8xbf16", "2048x2xbf16 2048x2xi32");
  CHECK(flopsOf(top) == 16384);
  CHECK(bytesOf(top) == 32768 + 8192 + 16384);
  for (const char* target : {"TopK", "mhlo.topk", "ApproxTopK", "PartialReduce",
                             "stablehlo.dynamic_top_k", "stablehlo.dynamic_approx_top_k"})
    CHECK(flopsOf(customCall(target, "2048x8xbf16", "2048x2xbf16 2048x2xi32")) == 16384);
}
