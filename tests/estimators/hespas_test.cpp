// The numbers that the Python tool gives: 62 operations on an A100 without a table of types, and
// the ones that depend on such a table.
#include "estimators/roofline_hespas_estimator.h"
#include "ops.h"

using namespace nocturne;
using namespace nocturne::test;

namespace {

// Keeps what the handler returned.
class Probe : public RooflineHespasEstimator {
public:
  static void describe(EstimatorClass<Probe>& c) {
    c.name("probe").extends<RooflineHespasEstimator>();
    c.postOpHook(&Probe::keep);
  }
  OpResult last;

private:
  void keep(const OpRun&, const OpResult& result) { last = result; }
};

OpResult probe(const OpInfo& info, const Json& machine) {
  EstimatorRegistry registry;
  registry.add<Probe>();
  Json options = resolveOptions(registry.find("probe")->options, Json::object(), machine, "");
  auto estimator = registry.create("probe", options);
  estimator->getEstimate(moduleOf({info}));
  return dynamic_cast<Probe&>(*estimator).last;
}

Json a100Flat() {
  return {{"peak_flops", 312e12}, {"memory_bandwidth", 1935e9}};
}

// configs/nodes/A100_SXM_40GB of hespas.
Json a100Table() {
  return {{"peak_flops", 9.7e12},
          {"memory_bandwidth", 1555e9},
          {"per_datatype_flops",
           {{"f64", 19.5e12},
            {"f32", 19.5e12},
            {"i32", 19.5e12},
            {"si32", 19.5e12},
            {"ui32", 19.5e12},
            {"tf32", 156e12},
            {"bf16", 312e12},
            {"f16", 312e12},
            {"i8", 624e12},
            {"si8", 624e12},
            {"ui8", 624e12},
            {"i1", 624e12}}}};
}

OpAttributes dot(Dims batch, Dims left, Dims right) {
  return DotAttributes{batch, batch, std::move(left), std::move(right), {}, ElementKind::None};
}
OpAttributes dims(Dims list) {
  return DimensionsAttributes{std::move(list)};
}
OpAttributes window(Dims sizes) {
  WindowReductionAttributes out;
  out.window.sizes = std::move(sizes);
  return out;
}
OpAttributes target(const std::string& text) {
  return CustomCallAttributes{text, false, ""};
}

std::vector<OpInfo> fusionBody() {
  return {op("stablehlo.convert", "4096x4096xbf16", "4096x4096xf32"),
          op("stablehlo.multiply", "4096x4096xf32 4096x4096xf32", "4096x4096xf32"),
          op("stablehlo.reduce", "4096x4096xf32 f32", "4096xf32", dims({1}), addBody())};
}

struct Row {
  int number;
  const char *name, *operands, *results;
  OpAttributes attributes;
  double flops, bytes;
  const char *runtime, *datatype;
  std::vector<OpInfo> nested = {};
};

void check(const Row& row, const Json& machine) {
  CAPTURE(row.number);
  OpResult result =
      probe(op(row.name, row.operands, row.results, row.attributes, row.nested), machine);
  CHECK(result.flops == row.flops);
  CHECK(result.bytes == row.bytes);
  CHECK(sixDigits(*result.runtime) == row.runtime);
  CHECK(std::string(name(result.datatype)) == row.datatype);
}

} // namespace

TEST_CASE("hespas: the worked examples on a machine without a table of types") {
  const std::vector<Row> rows = {
      {1, "stablehlo.dot_general", "64x512xbf16 512x64xbf16", "64x64xbf16", dot({}, {1}, {0}),
       4194304, 139264, "7.19711e-08", "bf16"},
      {2, "stablehlo.dot_general", "128x256xf32 256x512xf32", "128x512xf32", dot({}, {1}, {0}),
       33554432, 917504, "4.74162e-07", "f32"},
      {3, "stablehlo.dot_general", "4096x4096xbf16 4096x4096xbf16", "4096x4096xbf16",
       dot({}, {1}, {0}), 137438953472, 100663296, "0.000440509", "bf16"},
      {4, "stablehlo.dot_general", "8192x8192xf16 8192x8192xf16", "8192x8192xf16",
       dot({}, {1}, {0}), 1099511627776, 402653184, "0.00352408", "f16"},
      {5, "stablehlo.dot_general", "16x16xi8 16x16xi8", "16x16xi8", dot({}, {1}, {0}), 8192, 768,
       "3.96899e-10", "i8"},
      {6, "stablehlo.dot_general", "1024x1024xbf16 1024x1024xbf16", "1024x1024xf32",
       dot({}, {1}, {0}), 2147483648, 8388608, "6.88296e-06", "f32"},
      {7, "stablehlo.dot_general", "2x1024x2048xbf16 2048x6144xbf16", "2x1024x6144xbf16",
       dot({}, {2}, {0}), 51539607552, 58720256, "0.000165191", "bf16"},
      {8, "stablehlo.dot_general", "2x16x1024x128xbf16 2x16x128x1024xbf16", "2x16x1024x1024xbf16",
       dot({0, 1}, {3}, {2}), 8589934592, 83886080, "4.3352e-05", "bf16"},
      {9, "stablehlo.dot_general", "2x16x1024x1024xbf16 2x16x1024x128xbf16", "2x16x1024x128xbf16",
       dot({0, 1}, {3}, {2}), 8589934592, 83886080, "4.3352e-05", "bf16"},
      {10, "stablehlo.dot_general", "2x2x2xi64 2x2x2xi64", "2x2x2xi64", dot({0}, {2}, {1}), 32, 192,
       "9.92248e-11", "i64"},
      {11, "stablehlo.dot_general", "128x128x128xbf16 128x8x64xbf16", "128x128x8x64xbf16",
       dot({}, {2}, {0}), 2147483648, 21102592, "1.09057e-05", "bf16"},
      {12, "stablehlo.dot_general", "64x32xf32 64x32xf32", "f32", dot({}, {0, 1}, {0, 1}), 4096,
       16388, "8.46925e-09", "f32"},
      {13, "stablehlo.dot", "128x256xf32 256x512xf32", "128x512xf32", dot({}, {1}, {0}), 33554432,
       917504, "4.74162e-07", "f32"},
      {14,
       "stablehlo.convolution",
       "256x224x224x3xf16 7x7x3x64xf16",
       "256x112x112x64xf16",
       {},
       60423143424,
       488130944,
       "0.000252264",
       "f16"},
      {15,
       "stablehlo.convolution",
       "256x56x56x64xf16 1x1x64x64xf16",
       "256x56x56x64xf16",
       {},
       6576668672,
       205529088,
       "0.000106217",
       "f16"},
      {16,
       "stablehlo.convolution",
       "1x4x4x1xi64 3x3x1x1xi64",
       "1x2x2x1xi64",
       {},
       72,
       232,
       "1.19897e-10",
       "i64"},
      {17,
       "stablehlo.convolution",
       "256x7x7x2048xf16 1x1x512x2048xf16",
       "256x7x7x512xf16",
       {},
       6576668672,
       66322432,
       "3.42752e-05",
       "f16"},
      {18,
       "stablehlo.add",
       "128x512xf32 128x512xf32",
       "128x512xf32",
       {},
       65536,
       786432,
       "4.06425e-07",
       "f32"},
      {19,
       "stablehlo.multiply",
       "1024x1024xbf16 1024x1024xbf16",
       "1024x1024xbf16",
       {},
       1048576,
       6291456,
       "3.2514e-06",
       "bf16"},
      {20, "stablehlo.divide", "f32 f32", "f32", {}, 1, 12, "6.20155e-12", "f32"},
      {21,
       "stablehlo.compare",
       "128x10xf32 128x10xf32",
       "128x10xi1",
       {},
       1280,
       10400,
       "5.37468e-09",
       "f32"},
      {22, "stablehlo.and", "100xi1 100xi1", "100xi1", {}, 100, 39, "2.0155e-11", "i1"},
      {23,
       "stablehlo.maximum",
       "256x112x112x64xf16 256x112x112x64xf16",
       "256x112x112x64xf16",
       {},
       205520896,
       1233125376,
       "0.000637274",
       "f16"},
      {24, "stablehlo.clamp", "f32 1000xf32 f32", "1000xf32", {}, 1000, 8008, "4.1385e-09", "f32"},
      {25,
       "stablehlo.select",
       "128xi1 128xf32 128xf32",
       "128xf32",
       {},
       128,
       1552,
       "8.02067e-10",
       "f32"},
      {26, "stablehlo.tanh", "128x512xf32", "128x512xf32", {}, 65536, 524288, "2.7095e-07", "f32"},
      {27,
       "stablehlo.exponential",
       "4096x4096xbf16",
       "4096x4096xbf16",
       {},
       16777216,
       67108864,
       "3.46816e-05",
       "bf16"},
      {28, "stablehlo.convert", "128x10xi1", "128x10xf32", {}, 1280, 5280, "2.72868e-09", "f32"},
      {29,
       "stablehlo.convert",
       "256x1000xf16",
       "256x1000xf32",
       {},
       256000,
       1536000,
       "7.93798e-07",
       "f32"},
      {30,
       "stablehlo.power",
       "1000xf32 1000xf32",
       "1000xf32",
       {},
       1000,
       8000,
       "4.13437e-09",
       "f32"},
      {31, "stablehlo.rsqrt", "64xf32", "64xf32", {}, 64, 512, "2.64599e-10", "f32"},
      {32, "stablehlo.not", "3xi4", "3xi4", {}, 3, 4, "2.06718e-12", "i4"},
      {33, "stablehlo.constant", "", "1024x1024xf32", {}, 0, 0, "0", "f32"},
      {34, "stablehlo.iota", "", "1000xi32", {}, 0, 0, "0", "i32"},
      {35, "func.return", "128x512xf32", "", {}, 0, 0, "0", "f32"},
      {36,
       "stablehlo.get_tuple_element",
       "2048x2xbf16 2048x2xi32",
       "2048x2xbf16",
       {},
       0,
       0,
       "0",
       "i32"},
      {37,
       "stablehlo.transpose",
       "1024x784xf32",
       "784x1024xf32",
       {},
       0,
       6422528,
       "3.31914e-06",
       "f32"},
      {38,
       "stablehlo.reshape",
       "1x784x1024xf32",
       "784x1024xf32",
       {},
       0,
       6422528,
       "3.31914e-06",
       "f32"},
      {39, "stablehlo.broadcast_in_dim", "f32", "128x512xf32", {}, 0, 262148, "1.35477e-07", "f32"},
      {40, "stablehlo.pad", "1x2048xf32 f32", "2x2048xf32", {}, 0, 24576, "1.27008e-08", "f32"},
      {41,
       "stablehlo.reverse",
       "3x3x512x512xf16",
       "3x3x512x512xf16",
       {},
       0,
       9437184,
       "4.8771e-06",
       "f16"},
      {42, "mhlo.bitcast", "4096x576xbf16", "4096x9x64xbf16", {}, 0, 9437184, "4.8771e-06", "bf16"},
      {43, "mhlo.copy", "4096x4096xf32", "4096x4096xf32", {}, 0, 134217728, "6.93632e-05", "f32"},
      {44,
       "stablehlo.concatenate",
       "1x64xf32 1x64xf32",
       "2x64xf32",
       {},
       0,
       1024,
       "5.29199e-10",
       "f32"},
      {45, "stablehlo.slice", "2x64xf32", "1x64xf32", {}, 0, 512, "2.64599e-10", "f32"},
      {46,
       "stablehlo.dynamic_slice",
       "4096x4096xbf16 i32 i32",
       "1x4096xbf16",
       {},
       0,
       16384,
       "8.46718e-09",
       "i32"},
      {47,
       "stablehlo.dynamic_update_slice",
       "4096x128xbf16 1x128xbf16 i32 i32",
       "4096x128xbf16",
       {},
       0,
       2097408,
       "1.08393e-06",
       "i32"},
      {48,
       "stablehlo.gather",
       "32000x4096xbf16 8x2048x1xi32",
       "8x2048x4096xbf16",
       {},
       0,
       396427264,
       "0.000204872",
       "i32"},
      {49,
       "stablehlo.scatter",
       "32000x4096xbf16 1000x1xi32 1000x4096xbf16",
       "32000x4096xbf16",
       {},
       0,
       524288000,
       "0.00027095",
       "i32"},
      {50, "stablehlo.reduce", "128x10xf32 f32", "128xf32", dims({1}), 1152, 5632, "2.91059e-09",
       "f32"},
      {51, "stablehlo.reduce", "256x112x112x64xf32 f32", "64xf32", dims({0, 1, 2}), 205520832,
       822083840, "0.00042485", "f32"},
      {52, "stablehlo.reduce", "2x3x4xf32 f32", "2x3xf32", dims({2}), 18, 120, "6.20155e-11",
       "f32"},
      {53, "stablehlo.reduce", "256x1000xf16 256x1000xi32 f16 i32", "256xf16 256xi32", dims({1}),
       255744, 512512, "2.64864e-07", "i32"},
      {54, "stablehlo.reduce_window", "256x112x112x64xf16 f16", "256x56x56x64xf16",
       window({1, 3, 3, 1}), 411041792, 513802242, "0.000265531", "f16"},
      {55, "stablehlo.select_and_scatter", "256x112x112x64xf16 256x56x56x64xf16 f16",
       "256x112x112x64xf16", window({1, 3, 3, 1}), 411041792, 924844032, "0.000477956", "f16"},
      {56, "stablehlo.sort", "1000000xf32", "1000000xf32", {}, 0, 32000000, "1.65375e-05", "f32"},
      {57,
       "stablehlo.sort",
       "1000000xbf16 1000000xi32",
       "1000000xbf16 1000000xi32",
       {},
       0,
       16000000,
       "8.26873e-06",
       "i32"},
      {58,
       "mhlo.ragged_dot",
       "2048x512xbf16 8x512x1024xbf16 8xi32",
       "2048x1024xbf16",
       {},
       17179869184,
       14680096,
       "5.50637e-05",
       "i32"},
      {59,
       "mhlo.ragged_dot",
       "2048x512xbf16 512x1024xbf16 8xi32",
       "8x2048x1024xbf16",
       {},
       2147483648,
       36700192,
       "1.89665e-05",
       "i32"},
      {60, "stablehlo.custom_call", "2048x8xbf16", "2048x2xbf16 2048x2xi32", target("TopK"), 0,
       57344, "2.96351e-08", "i32"},
      {61, "stablehlo.custom_call", "4096x4096xbf16 4096x4096xbf16", "4096x4096xbf16",
       target("__cublas$gemm"), 0, 0, "0", "bf16"},
      {62,
       "mhlo.fusion",
       "4096x4096xbf16",
       "4096xf32",
       {},
       50327552,
       33570816,
       "1.73493e-05",
       "f32",
       fusionBody()},
  };
  for (const Row& row : rows)
    check(row, a100Flat());
}

TEST_CASE("hespas: the examples that depend on the table of types") {
  const char* square = "4096x4096x";
  auto matrices = [&](const char* left, const char* right) {
    return std::string(square) + left + ' ' + square + right;
  };
  auto dotRow = [&](int number, const char* name, const char* in, const char* out, double bytes,
                    const char* runtime, const char* datatype) {
    std::string operands = matrices(in, in), results = std::string(square) + out;
    check({number, name, operands.c_str(), results.c_str(), dot({}, {1}, {0}), 137438953472, bytes,
           runtime, datatype},
          a100Table());
  };
  dotRow(1, "stablehlo.dot_general", "bf16", "bf16", 100663296, "0.000440509", "bf16");
  dotRow(2, "stablehlo.dot_general", "bf16", "f32", 134217728, "0.000881019", "f32");
  dotRow(3, "stablehlo.dot_general", "f32", "f32", 201326592, "0.000881019", "f32");
  dotRow(4, "stablehlo.dot", "f32", "f32", 201326592, "0.00704815", "f32");
  dotRow(5, "stablehlo.dot_general", "i8", "i32", 100663296, "0.00704815", "i32");
  dotRow(6, "stablehlo.dot_general", "i64", "i64", 402653184, "0.014169", "i64");
  check({7,
         "stablehlo.convolution",
         "256x56x56x64xf32 3x3x64x64xf32",
         "256x56x56x64xf32",
         {},
         59190018048,
         411189248,
         "0.000379423",
         "f32"},
        a100Table());
  check({8, "stablehlo.custom_call", "256x56x56x64xf32 3x3x64x64xf32", "256x56x56x64xf32",
         target("__cudnn$convForward"), 59190018048, 411189248, "0.00303539", "f32"},
        a100Table());
  std::vector<OpInfo> body = {op("stablehlo.dot_general", "4096x4096xbf16 4096x4096xbf16",
                                 "4096x4096xf32", dot({}, {1}, {0})),
                              op("stablehlo.convert", "4096x4096xf32", "4096x4096xbf16")};
  check({9,
         "mhlo.fusion",
         "4096x4096xbf16 4096x4096xbf16",
         "4096x4096xbf16",
         {},
         137455730688,
         100663296,
         "0.000440563",
         "bf16",
         body},
        a100Table());
  check({10,
         "mhlo.fusion",
         "4096x4096xbf16 4096x4096xbf16 4096xf32",
         "4096x4096xbf16",
         {},
         137455730688,
         100679680,
         "0.00704901",
         "f32",
         body},
        a100Table());
}

TEST_CASE("hespas: reducer bodies count as operations of their own in callees only") {
  OpInfo reduce = op("stablehlo.reduce", "8x4xf32 f32", "8xf32", dims({1}), addBody());
  CHECK(probe(reduce, a100Flat()).bytes == 160);
  reduce.inCallee = true;
  CHECK(probe(reduce, a100Flat()).bytes == 172);
  CHECK(probe(reduce, a100Flat()).flops == 25);
}

TEST_CASE("hespas: bits are packed, and nothing takes less than a byte") {
  CHECK(probe(op("stablehlo.not", "100xi1", "100xi1"), a100Flat()).bytes == 26);
  CHECK(probe(op("stablehlo.not", "0x4xf32", "0x4xf32"), a100Flat()).bytes == 2);
  CHECK(probe(op("stablehlo.not", "i1", "i1"), a100Flat()).bytes == 2);
}

TEST_CASE("hespas: what it does not handle is unsupported") {
  auto estimator = make("roofline_hespas", a100Flat());
  for (const char* name : {"stablehlo.while", "stablehlo.floor", "chlo.erf", "stablehlo.fft"}) {
    CAPTURE(name);
    CHECK_THROWS_AS(estimator->getEstimate(moduleOf({op(name, "4xf32", "4xf32")})), ItemError);
  }
  CHECK_THROWS_AS(estimator->getEstimate(moduleOf({op("stablehlo.after_all", "token", "token")})),
                  ItemError);
  CHECK_THROWS_AS(estimator->getEstimate(moduleOf({op("func.return", "", "")})), ItemError);
  CHECK_THROWS_AS(
      estimator->getEstimate(moduleOf({op("stablehlo.convolution", "4x4xf32 2x2xf32", "4x4xf32")})),
      ItemError);
}

TEST_CASE("hespas: an operation without a rule can be charged its bytes") {
  auto charged = [](const OpInfo& info) {
    return cost(info, {{"unknown_op", "bandwidth"}}, "roofline_hespas");
  };
  // 16 bytes in and 16 out at 1 TB/s.
  OpInfo foreign = op("foreign.thing", "4xf32", "4xf32", {}, addBody());
  CHECK(charged(foreign).bytes == 32);
  CHECK(*charged(foreign).runtime == doctest::Approx(32e-12));
  CHECK(charged(foreign).coverage() == 0);
  foreign.inCallee = true; // the addition of three scalars inside counts besides
  CHECK(charged(foreign).bytes == 44);
  CHECK(charged(op("foreign.thing", "", "")).runtime == 0);
}

TEST_CASE("hespas: custom calls without a rule are free, which no option changes") {
  EstimatorResult result =
      cost(customCall("foo", "4xf32", "4xf32"), Json::object(), "roofline_hespas");
  CHECK(result.runtime == 0);
  CHECK(result.uncovered == std::vector<Uncovered>{{"custom_call:foo", 1}});
  CHECK_THROWS_AS(make("roofline_hespas", a100Flat(), {{"unknown_custom_call", "error"}}),
                  UsageError);
}

TEST_CASE("hespas: collectives separate blocks at the top level and are unknown elsewhere") {
  Module module = moduleOf(
      {op("stablehlo.add", "4xf32 4xf32", "4xf32"), op("stablehlo.all_reduce", "4xf32", "4xf32"),
       op("stablehlo.add", "4xf32 4xf32", "4xf32"), op("func.return", "4xf32", "")});
  EstimatorResult result = make("roofline_hespas", a100Flat())->getEstimate(module);
  CHECK(result.bytes == 96);
  // Two blocks: an addition and a return of hespas' own, then an addition and the module's return.
  CHECK(result.statistics["operators_processed"] == 4);
  module.rows[1].loopDepth = 1;
  CHECK_THROWS_AS(make("roofline_hespas", a100Flat())->getEstimate(module), ItemError);
}

TEST_CASE("hespas: blocks end after 1024 top-level operations, a call counting as one") {
  std::vector<OpInfo> ops(2500, op("stablehlo.negate", "4xf32", "4xf32"));
  Module module = moduleOf(ops);
  auto operators = [&] {
    auto result = make("roofline_hespas", a100Flat())->getEstimate(module);
    return result.statistics["operators_processed"].get<double>();
  };
  CHECK(operators() == 2502);
  for (OpRow& row : module.rows) // one call that runs them all
    row.topLevel = 0;
  CHECK(operators() == 2500);
}
