#include "compiler/execution/linker.h"

#include <filesystem>
#include <initializer_list>
#include <vector>

#include "engine/error.h"
#include "engine/subprocess.h"

namespace nocturne::compiler {

namespace {

ItemError toolFailed(const std::string& message) {
  return ItemError({FailureKind::ToolFailed, message, "", 0, 0});
}

std::string findLinker() {
  for (const char* name : {"ld.lld-22", "/usr/lib/llvm-22/bin/ld.lld", "ld.lld", "ld"})
    if (std::string path = findProgram(name); !path.empty())
      return path;
  throw toolFailed("no linker: neither ld.lld-22, ld.lld nor ld is in $PATH");
}

// The run-time libraries themselves: their development packages, which have the usual names, may
// not be there.
std::string systemLibrary(const std::string& name) {
  for (const char* folder : {"/lib/x86_64-linux-gnu/", "/lib64/", "/usr/lib64/", "/usr/lib/"})
    if (std::string path = folder + name; std::filesystem::exists(path))
      return path;
  throw toolFailed("the system library " + name + " is in none of its usual folders");
}

// Half-precision conversions of processors without such instructions are in libgcc's archive only.
std::string compilerArchive() {
  std::error_code error;
  std::string found;
  for (const auto& version :
       std::filesystem::directory_iterator("/usr/lib/gcc/x86_64-linux-gnu", error))
    if (std::string path = version.path() / "libgcc.a"; std::filesystem::exists(path))
      found = std::max(found, path);
  return found;
}

} // namespace

void linkShared(const std::string& object, const std::string& library) {
  static const std::string linker = findLinker();
  static const std::string libm = systemLibrary("libm.so.6"), libc = systemLibrary("libc.so.6");
  static const std::string libgcc = compilerArchive();
  std::vector<std::string> arguments = {linker, "-shared", "-z",   "defs", "--as-needed",
                                        "-o",   library,   object, libm,   libc};
  if (!libgcc.empty())
    arguments.insert(arguments.end(), {"--exclude-libs", "ALL", libgcc});
  ProgramResult result = runProgram(arguments, "/", {});
  if (!result.succeeded())
    throw toolFailed("linking failed: " + result.problem());
}

} // namespace nocturne::compiler
