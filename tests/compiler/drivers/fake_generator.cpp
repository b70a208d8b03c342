#include "tests/compiler/drivers/fake_generator.h"

#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <string_view>

#include <fcntl.h>
#include <unistd.h>

#include "engine/error.h"

namespace nocturne::test {

using namespace compiler;

namespace {

constexpr std::string_view kNameInKernel = "entry_to_rename_";
constexpr float kFactorInKernel = 12345;

struct Words {
  std::string entry;
  float factor = 1;
  bool needy = false;
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
      words.needy = true;
    if (first == "feature")
      words.features.push_back(name);
  }
  return words;
}

void replaceAll(std::string& bytes, std::string_view from, std::string_view to) {
  size_t place = bytes.find(from);
  if (place == std::string::npos || from.size() != to.size())
    throw std::runtime_error("the kernel is not what it was");
  for (; place != std::string::npos; place = bytes.find(from, place + from.size()))
    bytes.replace(place, to.size(), to);
}

std::string bytesOf(float number) {
  return {reinterpret_cast<const char*>(&number), sizeof number};
}

// As long as the name in the kernel.
std::string symbolOf(const Words& words) {
  std::string symbol = words.entry;
  symbol.resize(kNameInKernel.size(), '_');
  return symbol;
}

std::string compile(const Words& words) {
  std::ifstream file(words.needy ? NOCTURNE_TEST_NEEDY_KERNEL : NOCTURNE_TEST_KERNEL,
                     std::ios::binary);
  std::string object((std::istreambuf_iterator<char>(file)), {});
  replaceAll(object, kNameInKernel, symbolOf(words));
  replaceAll(object, bytesOf(kFactorInKernel), bytesOf(words.factor));
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
  const LibraryArgument in{LibraryArgument::Direction::In, "f32", {4}, 4};
  const LibraryArgument out{LibraryArgument::Direction::Out, "f32", {4}, 4};
  GeneratedCode code;
  code.object = compile(words);
  code.entries.push_back({words.entry, symbolOf(words), {in, out}});
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
