#include "compiler/codegen/entry_points.h"

#include <doctest/doctest.h>

#include "compiler/reader/parse.h"

namespace nocturne::compiler {

namespace {

struct Read {
  ParsedModule parsed;
  std::vector<LibraryEntry> entries;
  Failure failure;
  bool worked = false;
};

Read readEntries(const std::string& text) {
  Read read;
  REQUIRE(mlir::succeeded(parseModule(text, "test.mlir", read.parsed, read.failure)));
  read.worked = mlir::succeeded(
      readEntryPoints(*read.parsed.module, "nocturne_", read.entries, read.failure));
  return read;
}

} // namespace

TEST_CASE("symbols are names of C") {
  CHECK(cSymbol("nocturne_", "main") == "nocturne_main");
  CHECK(cSymbol("", "a.b-1") == "a_2eb_2d1");
}

TEST_CASE("public functions are entry points, with StableHLO's types") {
  Read read = readEntries(R"(
func.func @main(%a: tensor<2x3xui8>, %b: tensor<complex<f32>>) -> tensor<4xf8E4M3FN> {
  %0 = stablehlo.constant dense<1.0> : tensor<4xf8E4M3FN>
  return %0 : tensor<4xf8E4M3FN>
}
func.func private @helper() {
  return
})");
  REQUIRE(read.worked);
  REQUIRE(read.entries.size() == 1);
  CHECK(read.entries[0].name == "main");
  CHECK(read.entries[0].symbol == "nocturne_main");
  using Direction = LibraryArgument::Direction;
  std::vector<LibraryArgument> arguments = {{Direction::In, "ui8", {2, 3}, 1},
                                            {Direction::In, "complex<f32>", {}, 8},
                                            {Direction::Out, "f8E4M3FN", {4}, 1}};
  CHECK(read.entries[0].arguments == arguments);
}

TEST_CASE("dynamic extents and modules without functions are failures with a place") {
  Read dynamic = readEntries("func.func @main(%a: tensor<?xf32>) {\n  return\n}");
  CHECK_FALSE(dynamic.worked);
  CHECK((dynamic.failure.kind == FailureKind::UnsupportedOp));
  CHECK(dynamic.failure.line == 1);
  Read empty = readEntries("func.func private @helper() {\n  return\n}");
  CHECK_FALSE(empty.worked);
  CHECK((empty.failure.kind == FailureKind::Unreadable));
}

} // namespace nocturne::compiler
