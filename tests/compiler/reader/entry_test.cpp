#include <doctest/doctest.h>

#include "read_text.h"

using namespace nocturne;
using namespace nocturne::compiler;
using namespace nocturne::compiler::testing;

namespace {

std::string function(const std::string& head, const std::string& op) {
  std::string text = "func.func ";
  text.append(head).append("(%a: tensor<4xf32>) {\n  %0 = stablehlo.").append(op);
  return text.append(" %a : tensor<4xf32>\n  return\n}\n");
}

std::string moduleOf(const std::string& name, const std::string& body) {
  std::string text = "module ";
  return text.append(name).append(" {\n").append(body).append("}\n");
}

} // namespace

TEST_CASE("main is the entry wherever it stands") {
  std::string text = function("@f", "negate") + function("@main", "tanh") + function("@g", "abs");
  ModulePtr module = read(text);
  CHECK(namesOf(*module) == "tanh func.return");
  CHECK(module->assumptions.empty());
  CHECK(namesOf(*read(function("@f", "negate") + function("private @main", "tanh"))) ==
        "tanh func.return");
}

TEST_CASE("without main the only public function is the entry") {
  ModulePtr module = read(function("private @f", "negate") + function("@g", "tanh"));
  CHECK(namesOf(*module) == "tanh func.return");
  CHECK(module->assumptions.empty());
}

TEST_CASE("several public functions run once each in order, which is noted") {
  ModulePtr module =
      read(function("@f", "negate") + function("private @h", "abs") + function("@g", "tanh"));
  CHECK(namesOf(*module) == "negate func.return tanh func.return");
  REQUIRE(module->assumptions.size() == 2);
  CHECK(module->assumptions[0] == Assumption{"entry", "f", "test.mlir:1:1"});
  CHECK(module->assumptions[1].value == "g");
  CHECK(module->arguments.size() == 2);
  // The second function's values are not the first's.
  CHECK(module->valueIds[module->rows[0].firstOperand] !=
        module->valueIds[module->rows[2].firstOperand]);
  CHECK(module->rows[2].topLevel == 2);
}

TEST_CASE("the options name another entry, private or not") {
  std::string text = function("@main", "negate") + function("private @other", "tanh");
  ReaderOptions options;
  options.entry = "other";
  CHECK(namesOf(*read(text, options)) == "tanh func.return");
  options.entry = "othr";
  CHECK(failureOf(text, options)->message ==
        "the module has no function 'othr' with a body; did you mean 'other'?");
}

TEST_CASE("a module without a function that does something is an error") {
  CHECK(failureOf("module {}")->message == "the module has no function with a body");
  CHECK(failureOf("func.func private @f()")->message == "the module has no function with a body");
  CHECK(failureOf(function("private @f", "abs"))->message.find("'f'") != std::string::npos);
}

TEST_CASE("functions of nested modules count, outer ones first") {
  std::string inner = moduleOf("@in", function("@main", "tanh"));
  CHECK(namesOf(*read(moduleOf("@out", inner))) == "tanh func.return");
  CHECK(namesOf(*read(moduleOf("@out", inner + function("@main", "negate")))) ==
        "negate func.return");
}

TEST_CASE("a trip count is spelled as numbers are elsewhere") {
  ReaderOptions options;
  options.tripCount = 1e15;
  CHECK(options.text().find(" trip_count 1000000000000000 ") != std::string::npos);
  options.tripCount = 0.5;
  CHECK(options.text().find(" trip_count 0.5 ") != std::string::npos);
}

TEST_CASE("the text of the options tells them apart") {
  ReaderOptions a, b;
  CHECK(a.text() == b.text());
  b.tripCount = 2;
  CHECK(a.text() != b.text());
  b = a;
  b.branch = ReaderOptions::Branch::Mean;
  CHECK(a.text() != b.text());
  b = a;
  b.entry.assign(1, '-');
  CHECK(a.text() != b.text());
}
