#include "tools/command_line.h"

#include <sstream>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "engine/error.h"
#include "tools/exit_codes.h"
#include "tools/run_command.h"

using namespace nocturne;
using namespace nocturne::tools;
using Json = nlohmann::json;

namespace {

std::string messageOf(const std::vector<std::string>& words) {
  try {
    parseCommandLine(words);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no error";
}

struct Ran {
  int code;
  std::string out, err;
};

Ran run(const std::vector<std::string>& words) {
  std::ostringstream out, err;
  const int code = runCommand(words, out, err, false);
  return {code, out.str(), err.str()};
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

} // namespace

TEST_CASE("a misspelt command is told its neighbour") {
  CHECK(has(messageOf({"swep"}), "there is no command \"swep\"; did you mean \"sweep\"?"));
  CHECK(has(messageOf({"hardware", "lst"}), "there is no command \"lst\"; did you mean \"list\"?"));
}

TEST_CASE("a misspelt option is told its neighbour") {
  CHECK(has(messageOf({"sweep", "a.mlir", "--hardwear", "H100"}),
            "sweep: there is no option \"--hardwear\"; did you mean \"--hardware\"?"));
  CHECK(has(messageOf({"estimate", "a.mlir", "--hardware", "x", "--tpo=3"}),
            "did you mean \"--top\"?"));
}

TEST_CASE("an option in front of its command is named") {
  CHECK(has(messageOf({"hardware", "--json", "list"}), "hardware: there is no option \"--json\""));
}

TEST_CASE("an argument too many is named") {
  CHECK(has(messageOf({"report", "out", "more"}), "\"more\" was not expected"));
}

TEST_CASE("what is missing is named") {
  for (const char* command : {"sweep", "execute", "build"})
    CHECK(has(messageOf({command}), "paths"));
  parseCommandLine({"execute", "--worker"}); // is told later
  CHECK(has(messageOf({"estimate", "a.mlir"}), "--hardware"));
  CHECK(has(messageOf({}), "a command is missing: sweep, estimate"));
  CHECK(has(messageOf({"hardware"}), "hardware: a command is missing: list, show"));
}

TEST_CASE("what is no number is no time") {
  for (const char* command : {"execute", "tune"})
    CHECK(messageOf({command, "a.mlir", "--timeout", "nan"}) ==
          std::string(command) + ": --timeout: \"nan\" is no time");
  CHECK(messageOf({"build", "a.mlir", "--out", "o", "--deadline", "-NaN"}) ==
        "build: --deadline: \"-NaN\" is no time");
}

TEST_CASE("a log level that does not exist is refused") {
  CHECK(has(messageOf({"estimators", "--log-level", "warm"}), "did you mean \"warn\"?"));
}

TEST_CASE("common options are known to every command") {
  const Invocation invocation =
      parseCommandLine({"hardware", "list", "--json", "--quiet", "--log-level", "debug"});
  CHECK(invocation.common.json);
  CHECK(invocation.common.quiet);
  CHECK(invocation.common.logLevel == "debug");
  CHECK(invocation.stopping.empty());
  CHECK_FALSE(parseCommandLine({"sweep", "x"}).stopping.empty());
}

TEST_CASE("help and version are text and no error") {
  CHECK(has(run({"--help"}).out, "sweep"));
  CHECK(has(run({"sweep", "--help"}).out, "--dry-run"));
  CHECK(has(run({"sweep", "--help"}).out, "Usage: nocturne sweep"));
  CHECK(has(run({"hardware", "show", "--help"}).out, "name"));
  const Ran version = run({"--version"});
  CHECK(version.code == kOk);
  CHECK(version.out.starts_with("nocturne "));
}

TEST_CASE("a mistake is told on standard error and exits with 1") {
  const Ran ran = run({"swep"});
  CHECK(ran.code == kUsage);
  CHECK(ran.out.empty());
  CHECK(ran.err.starts_with("nocturne: there is no command"));
}

TEST_CASE("with --json even a mistake is one JSON value") {
  const Ran ran = run({"hardware", "show", "H100_SXM_80", "--json"});
  CHECK(ran.code == kUsage);
  const Json json = Json::parse(ran.out);
  CHECK(json["error"]["exit_code"] == kUsage);
  CHECK(has(json["error"]["message"], "H100_SXM_80GB"));
}

TEST_CASE("machines and estimators are listed for people and for programs") {
  CHECK(has(run({"hardware", "list"}).out, "H100_SXM_80GB"));
  CHECK(Json::parse(run({"hardware", "list", "--json"}).out).size() > 10);
  const Json machine = Json::parse(run({"hardware", "show", "H100_SXM_80GB", "--json"}).out);
  CHECK(machine["name"] == "H100_SXM_80GB");
  CHECK(machine["source"].is_string());
  CHECK(has(run({"estimators"}).out, "roofline"));
  const Json all = Json::parse(run({"estimators", "--json"}).out);
  CHECK(all.size() >= 1);
  CHECK(all[0]["options"].is_array());
}

TEST_CASE("a command is quoted so that a shell gives it back") {
  CHECK(shellText({"nocturne", "sweep", "a b.mlir", "it's", ""}) ==
        "nocturne sweep 'a b.mlir' 'it'\\''s' ''");
}
