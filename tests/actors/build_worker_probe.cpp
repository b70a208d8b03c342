// A worker whose code generator does what modules ask for. Words of a line, beside those of
// FakeGenerator:
//   crash         SIGSEGV
//   crash-once F  the same, unless the file F is there, which is made first
//   exit          the process ends with status 7
//   hang          never ends
//   record F      the number of the process is added to the file F
// usage: build_worker_probe [--dead] --connect 127.0.0.1:PORT
#include <csignal>
#include <fstream>
#include <iostream>
#include <iterator>
#include <sstream>
#include <string_view>

#include <unistd.h>

#include "actors/build_worker.h"
#include "tests/compiler/drivers/fake_generator.h"

namespace {

using namespace nocturne;

class HostileGenerator final : public test::FakeGenerator {
public:
  compiler::GeneratedCode generate(const compiler::ModuleSource& source,
                                   const compiler::Target& target,
                                   const compiler::GenerateOptions& options) override {
    std::istringstream lines(source.text);
    for (std::string line; std::getline(lines, line);) {
      std::istringstream words(line);
      std::string word, file;
      words >> word >> file;
      obey(word, file);
    }
    return FakeGenerator::generate(source, target, options);
  }

private:
  static void obey(const std::string& word, const std::string& file) {
    if (word == "crash")
      std::raise(SIGSEGV);
    if (word == "exit")
      ::_exit(7);
    if (word == "hang")
      for (;;)
        ::pause();
    if (word == "record")
      std::ofstream(file, std::ios::app) << ::getpid() << '\n';
    if (word == "crash-once" && !std::ifstream(file)) {
      std::ofstream(file) << "crashed";
      std::raise(SIGSEGV);
    }
  }
};

} // namespace

int main(int count, char** words) {
  if (count < 3 || std::string_view(words[1]) == "--dead") {
    std::cerr << "no worker today\n";
    return 5;
  }
  try {
    const uint16_t port = loopbackPort(words[2]);
    const std::string input((std::istreambuf_iterator<char>(std::cin)), {});
    const BuildWorkerPass pass = passFromText(input, port);
    dieWithParent();
    compiler::BuildDriver driver(std::make_shared<HostileGenerator>());
    serveBuilds(driver, pass);
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
  return 0;
}
