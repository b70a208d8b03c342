#include "ops.h"

using namespace nocturne;
using namespace nocturne::test;

TEST_CASE("what only renames bytes is free") {
  for (const OpInfo& info :
       {op("stablehlo.reshape", "4x4xf32", "16xf32"), op("mhlo.bitcast", "4x4xf32", "16xf32"),
        op("stablehlo.bitcast_convert", "4xf32", "4xi32"), op("stablehlo.constant", "", "1024xf32"),
        op("stablehlo.get_tuple_element", "4xf32 4xf32", "4xf32"), op("func.return", "4xf32", ""),
        op("func.return", "", ""), op("stablehlo.after_all", "token", "token"),
        op("stablehlo.while", "4xf32", "4xf32"), op("sdy.sharding_constraint", "4xf32", "4xf32"),
        op("stablehlo.all_reduce", "4xf32", "4xf32"), op("sdy.all_gather", "4xf32", "8xf32"),
        customCall("Sharding", "4xf32", "4xf32"), customCall("check.expect_eq", "4xf32 4xf32", ""),
        customCall("LayoutConstraint", "4xf32", "4xf32")}) {
    CAPTURE(info.name);
    EstimatorResult result = cost(info, {{"op_overhead_s", 1.0}});
    CHECK(result.runtime == 0);
    CHECK(result.coverage() == 1);
  }
}

TEST_CASE("moves read and write") {
  CHECK(bytesOf(op("stablehlo.transpose", "1024x784xf32", "784x1024xf32")) == 6422528);
  CHECK(bytesOf(op("stablehlo.broadcast_in_dim", "f32", "128x512xf32")) == 262148);
  CHECK(bytesOf(op("stablehlo.pad", "1x2048xf32 f32", "2x2048xf32")) == 24580);
  CHECK(bytesOf(op("stablehlo.concatenate", "1x64xf32 1x64xf32", "2x64xf32")) == 1024);
  CHECK(bytesOf(op("stablehlo.iota", "", "1000xi32")) == 4000);
  CHECK(bytesOf(op("stablehlo.bitcast_convert", "4xf32", "4x4xi8")) == 0);
  CHECK(bytesOf(op("stablehlo.bitcast_convert", "8xi1", "i8")) == 9);
  CHECK(bytesOf(op("stablehlo.dynamic_broadcast_in_dim", "4xf32 2xi32", "4x4xf32")) == 80);
}

TEST_CASE("slices touch only their part") {
  CHECK(bytesOf(op("stablehlo.slice", "2x64xf32", "1x64xf32")) == 512);
  CHECK(bytesOf(op("stablehlo.dynamic_slice", "4096x4096xbf16 i32 i32", "1x4096xbf16")) == 16392);
  CHECK(bytesOf(op("stablehlo.dynamic_update_slice", "4096x128xbf16 1x128xbf16 i32 i32",
                   "4096x128xbf16")) == 2 * 256 + 8);
}

TEST_CASE("early MHLO spelled names with hyphens") {
  CHECK(bytesOf(op("mhlo.dynamic-slice", "4096x4096xbf16 i32 i32", "1x4096xbf16")) == 16392);
  CHECK(bytesOf(op("mhlo.dynamic-update-slice", "4096x128xbf16 1x128xbf16 i32 i32",
                   "4096x128xbf16")) == 2 * 256 + 8);
}

TEST_CASE("gather and scatter touch what the indices name") {
  OpInfo gather = op("stablehlo.gather", "32000x4096xbf16 8x2048x1xi32", "8x2048x4096xbf16");
  CHECK(bytesOf(gather) == 65536.0 + 2 * 134217728);
  OpInfo scatter = op("stablehlo.scatter", "32000x4096xbf16 1000x1xi32 1000x4096xbf16",
                      "32000x4096xbf16", {}, addBody("bf16"));
  CHECK(flopsOf(scatter) == 4096000);
  CHECK(bytesOf(scatter) == 4000 + 3.0 * 8192000);
  scatter.nested = {op("stablehlo.return", "bf16", "")}; // overwrites
  CHECK(flopsOf(scatter) == 0);
  CHECK(bytesOf(scatter) == 4000 + 2.0 * 8192000);
}
