#include "compiler/linking/built_in_linker.h"

#include <doctest/doctest.h>

#include "compiler/codegen/module_generator.h"
#include "compiler/drivers/linker.h"
#include "engine/error.h"
#include "tests/support/scratch_dir.h"

namespace nocturne::compiler {

namespace {

// With the object of a module in it.
class ObjectDir : public test::ScratchDir {
public:
  ObjectDir() {
    ModuleGenerator generator;
    const GeneratedCode code = generator.generate({"exp.mlir", R"(
func.func @main(%a: tensor<4xf64>) -> tensor<4xf64> {
  %0 = stablehlo.exponential %a : tensor<4xf64>
  return %0 : tensor<4xf64>
})"},
                                                  generator.resolve(parseTarget("cpu")), {});
    write("code.o", code.object);
  }

  LinkRequest request(const std::string& object = "code.o") const {
    LinkRequest request;
    request.directory = path();
    request.objects = {object};
    request.output = "lib.so";
    request.exports = {"nocturne_main"};
    request.soname = "code.so";
    request.identity = "nobody";
    return request;
  }
  std::string library() const { return test::readText(*this / "lib.so"); }
};

std::string problemOf(const Linker& linker, const LinkRequest& request) {
  try {
    linker.link(request);
  } catch (const ItemError& error) {
    return error.what();
  }
  return "";
}

} // namespace

TEST_CASE("the linker inside makes what the program makes, and says what it says, every time") {
  const std::shared_ptr<LinkServer> server = startLinkServer();
  if (!server) {
    MESSAGE("built without the linker's libraries");
    return;
  }
  const ObjectDir folder;
  const Linker program, inside(kLinkerProgram, server);
  const std::string log = program.link(folder.request()), library = folder.library();
  const std::string problem = problemOf(program, folder.request("missing.o"));
  CHECK(problem.find("missing.o") != std::string::npos);
  REQUIRE(program.version().starts_with(server->linker()));
  for (int round = 0; round < 3; ++round) {
    CHECK(inside.link(folder.request()) == log);
    CHECK(folder.library() == library);
    CHECK(problemOf(inside, folder.request("missing.o")) == problem);
  }
  // So it was the server all the time: one that has gone does not answer.
  const std::optional<ProgramResult> answer =
      server->run({kLinkerProgram, "--version"}, "/", std::chrono::minutes(1));
  REQUIRE(answer);
  CHECK(answer->output.starts_with(server->linker()));
}

} // namespace nocturne::compiler
