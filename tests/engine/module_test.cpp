#include "engine/module.h"

#include <doctest/doctest.h>

#include "engine/error.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

using namespace nocturne;

namespace {

TensorType f32(std::vector<int64_t> dims) {
  return {{ElementKind::F32}, std::move(dims)};
}

OpInfo add(int64_t extent) {
  return {"stablehlo.add", {f32({extent}), f32({extent})}, {f32({extent})}};
}

OpInfo allReduce(int64_t extent) {
  OpInfo op{"stablehlo.all_reduce", {f32({extent})}, {f32({extent})}};
  op.attributes = CollectiveAttributes{{{0, 1}, {2, 3}}, -1, 1, true};
  op.nested = {{"stablehlo.add", {f32({}), f32({})}, {f32({})}}};
  op.inCallee = true;
  return op;
}

WindowAttributes window() {
  return {{3, 3}, {2, 1}, {1, 1}, {1, 2}, {{0, 1}, {-1, 2}}, {false, true}};
}

// One operation for each kind of attributes.
std::vector<OpAttributes> allAttributes() {
  ConvolutionAttributes convolution{0,      3,      2,        3, 0, 3,       {1, 2},
                                    {0, 1}, {1, 2}, window(), 4, 1, {"HIGH"}};
  return {std::monostate(),
          DotAttributes{{0}, {0}, {2}, {1}, {"DEFAULT", "HIGHEST"}, ElementKind::F32},
          convolution,
          WindowReductionAttributes{window()},
          DimensionsAttributes{{1, 0}},
          SliceAttributes{{0}, {8}, {2}, {4}},
          PadAttributes{{-1}, {1}, {0}},
          GatherAttributes{{1}, {0}, {}, {}, {0}, {1, 8}, 1},
          ScatterAttributes{{1}, {0}, {}, {}, {0}, 1},
          CollectiveAttributes{{{0, 1}}, 0, 5, true},
          CustomCallAttributes{"Sharding", true, "{\"a\": 1}"},
          CompareAttributes{"LT", "FLOAT"}};
}

Module largeModule() {
  ModuleBuilder builder("large");
  for (const OpAttributes& attributes : allAttributes()) {
    OpInfo op{"test.op", {f32({kDynamic, 4})}, {{{ElementKind::I8, ElementKind::F32}, {0}}}};
    op.attributes = attributes;
    builder.add(op, 2.5);
  }
  builder.add(allReduce(16), 3).argument(f32({16})).result({{ElementKind::Token}, {}});
  Module module = builder.build();
  module.files = {"large.mlir", "other.mlir"};
  module.rows[1].file = 1;
  module.rows[1].callDepth = 2;
  module.rows[1].loopDepth = 1;
  module.rows[2].line = 4000000000;
  module.rows[2].column = 17;
  module.rows[3].firstOperand = 0;
  module.rows[4].topLevel = 3;
  module.rows[5].topLevel = 9;
  module.peakBytes = 1e9;
  module.assumptions = {{"trip_count", "1", "large.mlir:3:5"}, {"branch", "largest", ""}};
  return module;
}

void checkEqual(const Module& a, const Module& b) {
  CHECK(a.name == b.name);
  CHECK(a.contentHash == b.contentHash);
  CHECK(a.fingerprint == b.fingerprint);
  CHECK(a.ops == b.ops);
  CHECK(a.opRuns == b.opRuns);
  CHECK(a.opRows == b.opRows);
  CHECK(a.rows == b.rows);
  CHECK(a.valueIds == b.valueIds);
  CHECK(a.arguments == b.arguments);
  CHECK(a.results == b.results);
  CHECK(a.collectives == b.collectives);
  CHECK(a.collectiveBytes == b.collectiveBytes);
  CHECK(a.peakBytes == b.peakBytes);
  CHECK(a.assumptions == b.assumptions);
}

// A small generator with a fixed sequence (splitmix64).
struct Random {
  uint64_t state = 1;
  uint64_t next() {
    uint64_t z = state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
  }
  size_t below(size_t limit) { return static_cast<size_t>(next() % limit); }
};

void mutate(std::string& bytes, Random& random) {
  if (bytes.empty())
    return;
  size_t at = random.below(bytes.size());
  char byte = static_cast<char>(random.next());
  switch (random.below(6)) {
  case 0:
    bytes[at] = byte;
    break;
  case 1:
    bytes[at] = static_cast<char>(bytes[at] ^ 1 << random.below(8));
    break;
  case 2:
    bytes.insert(at, 1, byte);
    break;
  case 3:
    bytes.erase(at, 1);
    break;
  case 4:
    bytes.insert(at, "\xff\xff\xff\xff\xff\xff\xff\xff\x7f");
    break;
  default:
    bytes.resize(at + 1);
    break;
  }
}

} // namespace

TEST_CASE("equal operations share one entry") {
  Module module = ModuleBuilder("m").add(add(8)).add(add(4)).add(add(8), 3).build();
  REQUIRE(module.ops.size() == 2);
  REQUIRE(module.rows.size() == 3);
  CHECK(module.rows[0].op == 0);
  CHECK(module.rows[1].op == 1);
  CHECK(module.rows[2].op == 0);
  CHECK(module.opRows == std::vector<uint64_t>{2, 1});
  CHECK(module.opRuns == std::vector<double>{4, 1});
}

TEST_CASE("a difference anywhere in an operation keeps it apart") {
  OpInfo callee = allReduce(8), entry = callee;
  entry.inCallee = false;
  Module module = ModuleBuilder("m").add(callee).add(entry).add(callee).build();
  CHECK(module.ops.size() == 2);
}

TEST_CASE("every value of a built module is a value of its own") {
  Module module = ModuleBuilder("m").add(add(8)).add(add(8)).build();
  CHECK(module.valueIds == std::vector<uint32_t>{0, 1, 2, 3, 4, 5});
  CHECK(module.rows[1].firstOperand == 3);
  CHECK(module.rows[1].operandCount == 2);
  CHECK(module.rows[1].resultCount == 1);
  CHECK(module.rows[1].topLevel == 1);
}

TEST_CASE("collectives count with their multiplicity and by their operands") {
  OpInfo gather{"stablehlo.all_gather", {f32({4})}, {f32({16})}};
  Module module = ModuleBuilder("m").add(gather, 3).add(add(8), 100).add(allReduce(2)).build();
  CHECK(module.collectives == 4);
  CHECK(module.collectiveBytes == 3 * 16 + 8);
}

TEST_CASE("digests of a built module follow its name and its content") {
  Module module = ModuleBuilder("m").add(add(8)).build();
  CHECK(module.fingerprint == ModuleBuilder("m").add(add(8)).build().fingerprint);
  CHECK(module.contentHash == ModuleBuilder("m").add(add(8)).build().contentHash);
  CHECK(module.fingerprint != ModuleBuilder("n").add(add(8)).build().fingerprint);
  CHECK(module.fingerprint != ModuleBuilder("m").add(add(9)).build().fingerprint);
  CHECK(module.fingerprint != ModuleBuilder("m").add(add(8), 2).build().fingerprint);
  CHECK(module.fingerprint != ModuleBuilder("m").add(add(8)).result(f32({8})).build().fingerprint);
  CHECK_FALSE(module.fingerprint.isZero());
}

TEST_CASE("a row's place is file, line and column, as far as they are known") {
  Module module;
  module.path = "a.mlir";
  OpRow row;
  CHECK(module.place(row) == "a.mlir");
  module.files = {"a.mlir", "b.py"};
  row.line = 3;
  row.column = 9;
  CHECK(module.place(row) == "a.mlir:3:9");
  row.file = 1;
  row.column = 0;
  CHECK(module.place(row) == "b.py:3");
}

TEST_CASE("a row that names no operation is an error") {
  Module module;
  module.rows.resize(1);
  CHECK_THROWS_AS(finishModule(module), Error);
}

TEST_CASE("runs of an operation do not depend on the order of its rows") {
  Module up = ModuleBuilder("m").add(add(1), 1e16).add(add(1), 1).add(add(1), 1).build();
  Module down = ModuleBuilder("m").add(add(1), 1).add(add(1), 1).add(add(1), 1e16).build();
  CHECK(up.opRuns == down.opRuns);
  CHECK(up.opRuns[0] == 1e16 + 2);
}

TEST_CASE("a module table round-trips but for its path") {
  Module module = largeModule();
  Module back = deserialiseModule(serialise(module));
  checkEqual(module, back);
  CHECK(back.path.empty());
  CHECK(back.files == std::vector<std::string>{"", "other.mlir"});
}

TEST_CASE("an empty module round-trips") {
  Module back = deserialiseModule(serialise(ModuleBuilder("empty").build()));
  CHECK(back.name == "empty");
  CHECK(back.rows.empty());
}

TEST_CASE("a row of a long table takes about a dozen bytes") {
  ModuleBuilder builder("long");
  for (int i = 0; i < 10000; ++i)
    builder.add(add(1 + i % 700), 1 + i / 5000);
  Module module = builder.build();
  for (size_t i = 0; i < module.rows.size(); ++i) {
    module.rows[i].line = static_cast<uint32_t>(i + 10);
    module.rows[i].column = 12;
  }
  std::string bytes = serialise(module);
  CHECK(bytes.size() < 16 * 10000);
  checkEqual(module, deserialiseModule(bytes));
}

TEST_CASE("every truncated table is refused") {
  std::string bytes = serialise(largeModule());
  for (size_t size = 0; size < bytes.size(); ++size)
    CHECK_THROWS_AS(deserialiseModule(std::string_view(bytes).substr(0, size)), Error);
  CHECK_THROWS_AS(deserialiseModule(bytes + "x"), Error);
}

TEST_CASE("bytes that are no table, or a table of another version, are refused") {
  CHECK_THROWS_WITH_AS(deserialiseModule("hello world"), "the bytes are no module table", Error);
  std::string bytes = serialise(ModuleBuilder("m").build());
  bytes[4] = 99;
  CHECK_THROWS_WITH_AS(deserialiseModule(bytes), doctest::Contains("has version 99, not "), Error);
}

TEST_CASE("operations nested without end are refused before the stack is") {
  OpInfo op{"test.leaf", {}, {}};
  for (int i = 0; i < 300; ++i) {
    OpInfo outer{"test.outer", {}, {}};
    outer.nested.push_back(std::move(op));
    op = std::move(outer);
  }
  Module module;
  module.ops.push_back(std::move(op));
  CHECK_THROWS_AS(deserialiseModule(serialise(module)), Error);
}

TEST_CASE("a mutated table is an error or a table, never a crash") {
  std::string valid = serialise(largeModule());
  Random random;
  for (int i = 0; i < 20000; ++i) {
    std::string bytes = valid;
    for (size_t mutations = 1 + random.below(4); mutations > 0; --mutations)
      mutate(bytes, random);
    LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  }
  CHECK(deserialiseModule(valid).rows.size() == 13);
}
