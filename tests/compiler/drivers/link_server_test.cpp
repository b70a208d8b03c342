#include "compiler/drivers/link_server.h"

#include <csignal>
#include <fstream>

#include <unistd.h>

#include <doctest/doctest.h>

#include "compiler/drivers/linker.h"
#include "tests/compiler/drivers/fixture.h"

namespace nocturne::test {

using namespace compiler;

namespace {

constexpr std::chrono::milliseconds kLong{60'000}, kShort{50};

// Does what its second word says.
bool obey(const std::vector<std::string>& words, ProgramResult& result) {
  const std::string& order = words.at(1);
  result.output = std::to_string(::getpid());
  if (order == "write")
    std::ofstream("written") << words.at(2);
  else if (order == "fail")
    result.code = 3, result.errors = "no";
  else if (order == "die")
    ::raise(SIGKILL);
  else if (order == "hang")
    ::pause();
  return order != "retire";
}

} // namespace

TEST_CASE("a server works in the folder that it is given, in one process that is not ours") {
  const ScratchDir dir;
  LinkServer server("fake", obey);
  CHECK(server.linker() == "fake");
  const auto first = server.run({"ld", "write", std::string(100'000, 'x')}, dir.path(), kLong);
  REQUIRE(first);
  CHECK(first->succeeded());
  CHECK(readText(dir / "written") == std::string(100'000, 'x'));
  const auto second = server.run({"ld", "fail"}, dir.path(), kLong);
  REQUIRE(second);
  CHECK(second->code == 3);
  CHECK(second->problem() == "exit status 3: no");
  CHECK(second->output == first->output);
  CHECK(second->output != std::to_string(::getpid()));
}

TEST_CASE("a server that goes while it links gives no answer, then and later") {
  const ScratchDir dir;
  LinkServer dying("fake", obey);
  CHECK_FALSE(dying.run({"ld", "die"}, dir.path(), kLong));
  CHECK_FALSE(dying.run({"ld", "write", ""}, dir.path(), kLong));
  LinkServer lost("fake", obey);
  CHECK_FALSE(lost.run({"ld", "write", ""}, dir / "nowhere", kLong));
}

TEST_CASE("a server that is not fit for another link still answers") {
  const ScratchDir dir;
  LinkServer server("fake", obey);
  CHECK(server.run({"ld", "retire"}, dir.path(), kLong));
  CHECK_FALSE(server.run({"ld", "fail"}, dir.path(), kLong));
}

TEST_CASE("a server that hangs is killed at the deadline") {
  const ScratchDir dir;
  LinkServer server("fake", obey);
  const auto late = server.run({"ld", "hang"}, dir.path(), kShort);
  REQUIRE(late);
  CHECK((late->end == ProgramResult::End::TimedOut));
  CHECK_FALSE(server.run({"ld", "fail"}, dir.path(), kLong));
}

TEST_CASE("the program links when the server has another linker, or dies") {
  const ScratchDir dir;
  const auto refuse = [](const std::vector<std::string>&, ProgramResult& result) {
    result.code = 1;
    return true;
  };
  const auto die = [](const std::vector<std::string>&, ProgramResult&) {
    return ::raise(SIGKILL) == 0;
  };
  const std::string version = Linker().version();
  const auto build = [&](const std::string& out, std::string linker, const LinkServer::Link& link) {
    BuildDriver driver(std::make_shared<FakeGenerator>(),
                       Linker(kLinkerProgram, std::make_shared<LinkServer>(linker, link)));
    return driver.tryBuild(scaleModule("twice", 2), into(dir / out)).succeeded();
  };
  CHECK(build("other", "another linker", refuse));
  CHECK(build("dead", version, die));
  CHECK_FALSE(build("same", version, refuse));
}

} // namespace nocturne::test
