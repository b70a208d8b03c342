// Rates of the build drivers apart from code generation: builds that find their result, builds
// whose objects are there already, loads and calls. usage: drivers_bench [MODULES] [--directory
// DIR] MODULES is 2000 when not given. Prints one line per figure: name, value, unit.
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <string>
#include <vector>

#include "compiler/drivers/batch.h"
#include "compiler/drivers/compiled_module.h"

namespace {

using namespace nocturne;
using namespace nocturne::compiler;
using Clock = std::chrono::steady_clock;

constexpr size_t kTextBytes = 4096; // of a module, as small StableHLO modules have
constexpr size_t kBuilds = 40;      // each of them starts a linker

// Puts numbers into bytes as the machine has them.
template <typename T>
void put(std::string& bytes, T value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void section(std::string& bytes, uint32_t name, uint32_t type, uint64_t flags, uint64_t offset,
             uint64_t size, uint32_t link, uint32_t info, uint64_t alignment, uint64_t entry) {
  put(bytes, name);
  put(bytes, type);
  put(bytes, flags);
  put(bytes, uint64_t{0});
  put(bytes, offset);
  put(bytes, size);
  put(bytes, link);
  put(bytes, info);
  put(bytes, alignment);
  put(bytes, entry);
}

// The smallest object for x86-64 with one function, "entry", which returns 0.
std::string smallestObject() {
  const std::string code("\x31\xc0\xc3\0\0\0\0\0", 8);
  const std::string names("\0.text\0.symtab\0.strtab\0entry\0\0\0\0", 32);
  constexpr uint64_t kHeader = 64, kSymbols = 2 * 24;
  const uint64_t codeAt = kHeader, namesAt = codeAt + code.size(), symbolsAt = namesAt + 32;
  std::string bytes("\x7f"
                    "ELF\x02\x01\x01\0\0\0\0\0\0\0\0\0",
                    16);
  put(bytes, uint16_t{1});  // relocatable
  put(bytes, uint16_t{62}); // x86-64
  put(bytes, uint32_t{1});
  put(bytes, uint64_t{0});
  put(bytes, uint64_t{0});
  put(bytes, symbolsAt + kSymbols); // where the sections are described
  put(bytes, uint32_t{0});
  for (const uint16_t value : {64, 0, 0, 64, 4, 3})
    put(bytes, value);
  bytes.append(code).append(names);
  bytes.append(24, '\0');
  put(bytes, uint32_t{23});  // "entry"
  put(bytes, uint8_t{0x12}); // a global function
  put(bytes, uint8_t{0});
  put(bytes, uint16_t{1});
  put(bytes, uint64_t{0});
  put(bytes, uint64_t{3});
  bytes.append(64, '\0');
  section(bytes, 1, 1, 6, codeAt, 3, 0, 0, 16, 0);
  section(bytes, 7, 2, 0, symbolsAt, kSymbols, 3, 1, 8, 24);
  section(bytes, 15, 3, 0, namesAt, 32, 0, 0, 1, 0);
  return bytes;
}

class ReadyObjects : public CodeGenerator {
public:
  GeneratedCode generate(const ModuleSource&, const Target&, const GenerateOptions&) override {
    GeneratedCode code;
    code.object = smallestObject();
    const LibraryArgument argument{LibraryArgument::Direction::In, "f32", {4}, 4};
    code.entries.push_back({"entry", "entry", {argument, argument}});
    return code;
  }
  std::string version() const override { return "ready objects 1"; }
  Target resolve(const Target& target) const override { return target; }
};

void print(const char* name, double value, const char* unit) {
  std::printf("%-34s %14.1f %s\n", name, value, unit);
  std::fflush(stdout);
}

double processorSeconds() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// By both clocks: the second says what the drivers take when others share the machine.
class Watch {
public:
  void print(const char* name, double count) const {
    std::printf("%-34s %14.1f /s by the wall clock %14.1f /s by processor time\n", name,
                count / std::chrono::duration<double>(Clock::now() - start_).count(),
                count / (processorSeconds() - processor_));
    std::fflush(stdout);
  }

private:
  Clock::time_point start_ = Clock::now();
  double processor_ = processorSeconds();
};

double secondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

ModuleSource moduleOf(size_t i) {
  std::string text = std::to_string(i);
  text.resize(kTextBytes, ' ');
  return {"module", std::move(text)};
}

std::string folderOf(const std::string& directory, size_t i) {
  return std::string(directory).append("/b").append(std::to_string(i));
}

void measureBuilds(BuildDriver& driver, const std::string& directory) {
  std::vector<ModuleSource> modules;
  std::vector<std::string> folders;
  for (size_t i = 0; i < kBuilds; ++i) {
    modules.push_back(moduleOf(i));
    folders.push_back(folderOf(directory, i));
  }
  for (const size_t jobs : {1, 2}) {
    BatchOptions batch;
    batch.jobs = jobs;
    BuildOptions options;
    options.force = true;
    const Watch watch;
    if (!buildIrModuleBatch(driver, modules, folders, options, batch).succeeded())
      std::abort();
    watch.print(jobs == 1 ? "builds, 1 worker" : "builds, 2 workers", static_cast<double>(kBuilds));
  }
}

void measureReuse(BuildDriver& driver, const std::string& directory, size_t count) {
  std::vector<ModuleSource> modules;
  std::vector<std::string> folders;
  for (size_t i = 0; i < count; ++i) {
    modules.push_back(moduleOf(i % kBuilds));
    folders.push_back(folderOf(directory, i % kBuilds));
  }
  {
    const Watch watch;
    for (size_t i = 0; i < count; ++i) {
      BuildOptions options;
      options.outputDir = folders[i];
      if (driver.build(modules[i], options).built)
        std::abort();
    }
    watch.print("builds that find their result", static_cast<double>(count));
  }
  BatchOptions batch;
  batch.jobs = 2;
  const Watch watch;
  if (buildIrModuleBatch(driver, modules, folders, {}, batch).progress.built != 0)
    std::abort();
  watch.print("a batch of them, 40 different", static_cast<double>(count));
}

void measureLoading(const std::string& folder) {
  constexpr size_t kLoads = 500, kCalls = 20'000'000;
  const Watch watch;
  for (size_t i = 0; i < kLoads; ++i)
    if (!CompiledModule::load(folder))
      std::abort();
  watch.print("loads, checked by digest", kLoads);
  const CompiledFunction function = CompiledModule::load(folder)->function("entry");
  const std::array<void*, 2> arguments{};
  int32_t sum = 0;
  const Clock::time_point start = Clock::now();
  for (size_t i = 0; i < kCalls; ++i)
    sum += function.call(arguments);
  print("call", 1e9 * secondsSince(start) / kCalls, "ns");
  if (sum != 0)
    std::abort();
}

} // namespace

int main(int count, char** words) {
  size_t modules = 2000;
  std::string directory;
  for (int i = 1; i < count; ++i) {
    if (std::string(words[i]) == "--directory" && i + 1 < count)
      directory = words[++i];
    else
      modules = std::strtoull(words[i], nullptr, 10);
  }
  const bool temporary = directory.empty();
  if (temporary) {
    directory = (std::filesystem::temp_directory_path() / "nocturne-bench-XXXXXX").string();
    if (::mkdtemp(directory.data()) == nullptr)
      return 1;
  }
  BuildDriver driver(std::make_shared<ReadyObjects>());
  measureBuilds(driver, directory);
  measureReuse(driver, directory, modules);
  measureLoading(folderOf(directory, 0));
  if (temporary)
    std::filesystem::remove_all(directory);
  return 0;
}
