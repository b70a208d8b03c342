#include "tests/compiler/drivers/fake_generator.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>

#include <fcntl.h>
#include <unistd.h>

#include "engine/error.h"
#include "engine/subprocess.h"

namespace nocturne::test {

using namespace compiler;

namespace {

struct Words {
  std::string entry, factor, needs;
  std::vector<std::string> features;
};

Words parse(const ModuleSource& source) {
  Words words;
  std::istringstream lines(source.text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream line_words(line);
    std::string first, name;
    line_words >> first >> name;
    if (first == "bad")
      throw ItemError({FailureKind::Unreadable, "a bad module", "", 3, 0});
    if (first == "throw")
      throw std::runtime_error("no error of ours");
    if (first == "entry") {
      words.entry = name;
      line_words >> words.factor;
    }
    if (first == "needs")
      words.needs = name;
    if (first == "feature")
      words.features.push_back(name);
  }
  return words;
}

std::string compile(const Words& words) {
  std::string folder = (std::filesystem::temp_directory_path() / "nocturne-cc-XXXXXX").string();
  if (!::mkdtemp(folder.data()))
    throw std::runtime_error("mkdtemp failed");
  std::vector<std::string> command = {
      NOCTURNE_TEST_CC, "-c", "-O1", "-fPIC", "-DENTRY=" + words.entry, "-DFACTOR=" + words.factor};
  if (!words.needs.empty())
    command.push_back("-DNEEDS=" + words.needs);
  command.insert(command.end(), {NOCTURNE_TEST_KERNEL, "-o", folder + "/k.o"});
  const ProgramResult result = runProgram(command, folder, {});
  std::ifstream file(folder + "/k.o", std::ios::binary);
  std::string object((std::istreambuf_iterator<char>(file)), {});
  std::filesystem::remove_all(folder);
  if (!result.succeeded())
    throw std::runtime_error(result.problem());
  return object;
}

} // namespace

FakeGenerator::FakeGenerator(std::string version, std::string countFile)
    : version_(std::move(version)), countFile_(std::move(countFile)) {}

GeneratedCode FakeGenerator::generate(const ModuleSource& source, const Target& target,
                                      const GenerateOptions& options) {
  ++calls_;
  if (!countFile_.empty()) {
    const int file = ::open(countFile_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    static_cast<void>(!::write(file, "x", 1));
    ::close(file);
  }
  const Words words = parse(source);
  const EntryArgument in{EntryArgument::Direction::In, "f32", {4}, 4};
  const EntryArgument out{EntryArgument::Direction::Out, "f32", {4}, 4};
  GeneratedCode code;
  code.object = compile(words);
  code.entries.push_back({words.entry, words.entry, {in, out}});
  if (options.keepIr)
    code.files.push_back({"module.mlir", source.text});
  code.features = words.features;
  code.log = "compiled for " + target.text();
  return code;
}

Target FakeGenerator::resolve(const Target& target) const {
  Target resolved = target;
  if (resolved.option("arch") == "native")
    resolved.options["arch"] = "fake-processor";
  return resolved;
}

ModuleSource scaleModule(const std::string& entry, int factor, const std::string& more) {
  return {entry + ".mlir", "entry " + entry + ' ' + std::to_string(factor) + '\n' + more};
}

} // namespace nocturne::test
