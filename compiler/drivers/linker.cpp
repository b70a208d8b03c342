#include "compiler/drivers/linker.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <optional>
#include <string_view>

#include "compiler/drivers/link_server.h"
#include "engine/subprocess.h"

namespace nocturne::compiler {

namespace {

// Raised when the arguments below change: libraries linked in another way have other keys.
constexpr std::string_view kArgumentsVersion = "arguments 2";
constexpr const char* kExportsFile = ".exports";
constexpr const char* kIdentityFile = ".identity";

[[noreturn]] void fail(const std::string& message) {
  throw ItemError({FailureKind::ToolFailed, message, "", 0, 0});
}

// Where distributions keep the C library. Its file of the run time is linked, not the script of its
// development package, so that a machine without a C compiler will do.
std::vector<std::string> libraryFolders() {
  constexpr std::array<const char*, 6> kFolders = {"/lib/x86_64-linux-gnu",
                                                   "/usr/lib/x86_64-linux-gnu",
                                                   "/lib64",
                                                   "/usr/lib64",
                                                   "/lib",
                                                   "/usr/lib"};
  std::vector<std::string> found;
  std::error_code ignored;
  for (const char* folder : kFolders)
    if (std::filesystem::exists(std::string(folder) + "/libc.so.6", ignored))
      found.emplace_back(folder);
  return found;
}

// Read by the linker only, so it need not be durable.
void writeInput(const LinkRequest& request, const char* name, const std::string& content) {
  const std::string path = request.directory + '/' + name;
  std::ofstream file(path, std::ios::binary);
  file.write(content.data(), static_cast<std::streamsize>(content.size()));
  if (!file.flush())
    fail(path + ": cannot be written");
}

std::string exportsText(const LinkRequest& request) {
  std::string text = "{\n  global:\n    nocturne_*;\n";
  if (!request.identity.empty())
    text += "    nocturne.identity;\n";
  for (const std::string& symbol : request.exports)
    text.append("    \"").append(symbol).append("\";\n");
  return text + "  local:\n    *;\n};\n";
}

void append(std::vector<std::string>& words, std::initializer_list<std::string> more) {
  words.insert(words.end(), more);
}

std::vector<std::string> sharedLibraryWords(const std::string& program,
                                            const LinkRequest& request) {
  std::vector<std::string> words = {program,
                                    "-shared",
                                    "--threads=1", // batches have their own
                                    "-o",
                                    request.output,
                                    "-soname",
                                    request.soname,
                                    "-z",
                                    "defs",
                                    "-z",
                                    "now",
                                    "-z",
                                    "noexecstack",
                                    "--build-id=sha1",
                                    "--eh-frame-hdr",
                                    "--hash-style=gnu",
                                    std::string("--version-script=") + kExportsFile};
  words.insert(words.end(), request.objects.begin(), request.objects.end());
  if (!request.identity.empty())
    append(words, {"--format=binary", kIdentityFile, "--format=default",
                   "--defsym=nocturne.identity=_binary__identity_start"});
  words.insert(words.end(), request.libraries.begin(), request.libraries.end());
  for (const std::string& folder : libraryFolders())
    words.push_back("-L" + folder);
  append(words, {"-l:libc.so.6", "-l:libm.so.6"});
  return words;
}

std::vector<std::string> objectWords(const std::string& program, const LinkRequest& request) {
  std::vector<std::string> words = {program, "-r", "-o", request.output};
  words.insert(words.end(), request.objects.begin(), request.objects.end());
  return words;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words)
    text.append(text.empty() ? "" : " ").append(word);
  return text;
}

// The first line with an error in it says what went wrong; what follows is where, or a stack.
std::string problemOf(const ProgramResult& result) {
  // Its output is a mapped file, which cannot be written to when the disk is full.
  if (result.end == ProgramResult::End::Signalled && result.code == SIGBUS)
    return "there is no space left for the library";
  for (size_t start = 0; start < result.errors.size();) {
    const size_t end = std::min(result.errors.find('\n', start), result.errors.size());
    const std::string line = result.errors.substr(start, end - start);
    if (line.find("error:") != std::string::npos || line.find("ERROR:") != std::string::npos)
      return line;
    start = end + 1;
  }
  return result.problem();
}

bool isElf(const std::string& path) {
  constexpr std::string_view kMagic = "\x7F"
                                      "ELF";
  std::string start(kMagic.size(), '\0');
  std::ifstream file(path, std::ios::binary);
  return file.read(start.data(), static_cast<std::streamsize>(start.size())) && start == kMagic;
}

} // namespace

struct Linker::Facts {
  std::once_flag once;
  std::string version;
};

Linker::Linker(std::string program, std::shared_ptr<LinkServer> server)
    : program_(std::move(program)), server_(std::move(server)), facts_(std::make_shared<Facts>()) {}

// A call that throws is tried again by the next: the package may have been installed since.
const std::string& Linker::version() const {
  std::call_once(facts_->once, [this] {
    if (findProgram(program_).empty())
      fail("there is no linker \"" + program_ + "\": install the package lld-22");
    ProgramLimits limits;
    limits.timeout = std::chrono::milliseconds(60'000);
    const ProgramResult result = runProgram({program_, "--version"}, "", limits);
    if (!result.succeeded() || result.output.empty())
      fail(program_ + " --version: " + result.problem());
    std::string text = result.output.substr(0, result.output.find('\n'));
    facts_->version = text.append(", ").append(kArgumentsVersion);
  });
  return facts_->version;
}

ProgramResult Linker::run(const std::vector<std::string>& words, const LinkRequest& request) const {
  std::optional<ProgramResult> served;
  if (server_ && version().starts_with(server_->linker()))
    served = server_->run(words, request.directory, request.timeout);
  if (served)
    return *std::move(served);
  ProgramLimits limits;
  limits.timeout = request.timeout;
  return runProgram(words, request.directory, limits);
}

std::string Linker::link(const LinkRequest& request) const {
  const std::string program = findProgram(program_);
  if (program.empty())
    fail("there is no linker \"" + program_ + "\": install the package lld-22");
  const bool shared = request.kind == OutputKind::SharedLibrary;
  if (shared)
    writeInput(request, kExportsFile, exportsText(request));
  if (shared && !request.identity.empty())
    writeInput(request, kIdentityFile, request.identity + std::string(1, '\0'));
  const std::vector<std::string> words =
      shared ? sharedLibraryWords(program, request) : objectWords(program, request);
  const ProgramResult result = run(words, request);
  if (!result.succeeded())
    fail("the linker failed: " + problemOf(result));
  if (const std::string output = request.directory + '/' + request.output; !isElf(output))
    fail("the linker " + program + " ended well, and made no library");
  std::error_code ignored;
  std::filesystem::remove(request.directory + '/' + kExportsFile, ignored);
  std::filesystem::remove(request.directory + '/' + kIdentityFile, ignored);
  return joined(words) + '\n' + result.output + result.errors;
}

} // namespace nocturne::compiler
