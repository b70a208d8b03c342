#include <cstdio>
#include <filesystem>
#include <fstream>

#include <doctest/doctest.h>

#include "compiler/reader/module_reader.h"
#include "read_text.h"

using namespace nocturne;
using namespace nocturne::compiler;
using namespace nocturne::compiler::testing;

namespace {

Failure fileFailure(const std::string& path) {
  try {
    readModule(path);
  } catch (const ItemError& error) {
    return error.failure();
  }
  FAIL("was read");
  return {};
}

// A file that is gone at the end of the test.
struct TemporaryFile {
  std::string path;
  explicit TemporaryFile(const std::string& content) {
    path = (std::filesystem::temp_directory_path() /
            ("nocturne_reader_" + std::to_string(reinterpret_cast<uintptr_t>(this)) + ".mlir"))
               .string();
    std::ofstream(path, std::ios::binary) << content;
  }
  ~TemporaryFile() { std::remove(path.c_str()); }
};

} // namespace

TEST_CASE("a file is read like its text, and the service reads it the same way") {
  TemporaryFile file("func.func @main() {\n  return\n}\n");
  ModulePtr module = readModule(file.path);
  CHECK(module->path == file.path);
  CHECK(module->fingerprint == read("func.func @main() {\n  return\n}\n")->fingerprint);
  FileModuleReader reader;
  CHECK(reader.read(file.path)->fingerprint == module->fingerprint);
  CHECK(reader.keyText() == ReaderOptions().text());
}

TEST_CASE("files that are none say why") {
  CHECK(fileFailure("/nonexistent/a.mlir").message ==
        "cannot be opened: No such file or directory");
  CHECK((fileFailure("/nonexistent/a.mlir").kind == FailureKind::Unreadable));
  CHECK(fileFailure("/").message == "is a directory");
  CHECK(fileFailure("/dev/null").message == "is not a regular file");
  TemporaryFile empty("");
  CHECK(fileFailure(empty.path).message == "the file is empty");
}

TEST_CASE("a mistake in the syntax has its place and reason") {
  std::optional<Failure> failure = failureOf("func.func @main() {\n  %0 = stablehlo.add\n}\n");
  REQUIRE(failure);
  CHECK((failure->kind == FailureKind::Unreadable));
  CHECK(failure->file == "test.mlir");
  CHECK(failure->line >= 2);
  CHECK(failure->column > 0);
  CHECK_FALSE(failure->message.empty());
}

TEST_CASE("a value that is never defined has one clear message") {
  std::optional<Failure> failure = failureOf("func.func @main() {\n"
                                             "  %0 = stablehlo.tanh %never : tensor<4xf32>\n"
                                             "  return\n}\n");
  REQUIRE(failure);
  CHECK(failure->line == 2);
  CHECK(failure->column == 23);
  CHECK(failure->message.find("undeclared SSA value") != std::string::npos);
}

TEST_CASE("what the verifier refuses is an error at the operation") {
  std::optional<Failure> failure = failureOf(
      "func.func @main(%a: tensor<4xf32>, %b: tensor<5xf32>) {\n"
      "  %0 = \"stablehlo.add\"(%a, %b) : (tensor<4xf32>, tensor<5xf32>) -> tensor<4xf32>\n"
      "  return\n}\n");
  REQUIRE(failure);
  CHECK(failure->line == 2);
}

TEST_CASE("an unknown dialect in short form is named") {
  std::optional<Failure> failure =
      failureOf("func.func @main() {\n  acme.launch {}\n  return\n}\n");
  REQUIRE(failure);
  CHECK(failure->message.find("'acme'") != std::string::npos);
  CHECK(failure->message.find("'acme.launch'") != std::string::npos);
  CHECK(failure->line == 2);
}

TEST_CASE("text that is none is refused") {
  CHECK(failureOf("\x89PNG\r\n\x1a\n"));
  CHECK(failureOf("just words"));
  CHECK(failureOf("}"));
  CHECK(failureOf("{\"json\": true}"));
  CHECK(failureOf(std::string(300, '(')));
  CHECK(failureOf("\xff\xfe"));
}

TEST_CASE("a deep but allowed nesting is read on a thread with a small stack too") {
  std::string open, close;
  for (int i = 0; i < 100; ++i) {
    open += "\"acme.region\"() ({\n";
    close += "\"acme.end\"() : () -> ()\n}) : () -> ()\n";
  }
  ModulePtr module = read("func.func @main() {\n" + open + close + "return\n}\n");
  CHECK(module->rows.size() == 2);
  CHECK(module->ops[0].nested.size() == 2);
}

TEST_CASE("one million operations in a row and one operation with many operands are read") {
  std::string text = "func.func @main(%a: tensor<f32>) {\n\"acme.use\"(%a";
  std::string types = "tensor<f32>";
  for (int i = 1; i < 5000; ++i) {
    text += ", %a";
    types += ", tensor<f32>";
  }
  ModulePtr module = read(text + ") : (" + types + ") -> ()\nreturn\n}\n");
  CHECK(module->rows[0].operandCount == 5000);
}

TEST_CASE("more operands than a row can count are refused") {
  std::string text = "func.func @main(%a: tensor<f32>) {\n\"acme.use\"(%a";
  std::string types = "tensor<f32>";
  for (int i = 1; i < 70000; ++i) {
    text += ", %a";
    types += ", tensor<f32>";
  }
  CHECK(failureOf(text + ") : (" + types + ") -> ()\nreturn\n}\n"));
}

TEST_CASE("booleans in either convention are the same module") {
  auto text = [](const std::string& hex) {
    return "func.func @main() {\n  %0 = stablehlo.constant dense<\"" + hex +
           "\"> : tensor<9xi1>\n  return\n}\n";
  };
  CHECK(read(text("0x0D01"))->fingerprint == read(text("0x010001010000000001"))->fingerprint);
}

TEST_CASE("a message quotes a long line only in part") {
  std::optional<Failure> failure = failureOf(std::string(1'000'000, 'x'));
  REQUIRE(failure);
  CHECK(failure->message.size() < 1000);
}

TEST_CASE("an attribute of very many parts is not written out, and one without end is refused") {
  const auto text = [](int levels) {
    std::string out = "#a0 = 1\n";
    for (int i = 1; i <= levels; ++i) {
      const std::string last = "#a" + std::to_string(i - 1);
      out += "#a" + std::to_string(i) + " = [" + last + ", " + last + "]\n";
    }
    return out +
           "func.func @main(%x: tensor<f32>) -> tensor<f32> {\n"
           "  %0 = stablehlo.custom_call @foo(%x) {mhlo.backend_config = #a" +
           std::to_string(levels) +
           "} : (tensor<f32>) -> tensor<f32>\n  return %0 : tensor<f32>\n}\n";
  };
  CHECK(namesOf(*read(text(18))) == "custom_call func.return");
  const std::optional<Failure> failure = failureOf(text(60));
  REQUIRE(failure);
  CHECK(failure->message == "this alias has more than a million parts");
}
