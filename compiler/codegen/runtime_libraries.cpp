#include "compiler/codegen/runtime_libraries.h"

#include <algorithm>
#include <filesystem>

#include "llvm/ADT/STLExtras.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/MemoryBufferRef.h"

namespace nocturne::compiler {

namespace {

bool isMissing(const llvm::object::SymbolRef& symbol) {
  llvm::Expected<uint32_t> flags = symbol.getFlags();
  if (!flags) {
    llvm::consumeError(flags.takeError());
    return false;
  }
  return (*flags & llvm::object::SymbolRef::SF_Undefined) != 0;
}

// All functions of libgcc have such names, and next to no others that code calls.
bool callsRuntime(const std::string& object) {
  auto file = llvm::object::ObjectFile::createObjectFile(llvm::MemoryBufferRef(object, "object"));
  if (!file) {
    llvm::consumeError(file.takeError());
    return true; // the linker has better words for what is wrong with it
  }
  return llvm::any_of((*file)->symbols(), [](const llvm::object::SymbolRef& symbol) {
    llvm::Expected<llvm::StringRef> name = symbol.getName();
    if (!name) {
      llvm::consumeError(name.takeError());
      return false;
    }
    return name->starts_with("__") && isMissing(symbol);
  });
}

} // namespace

std::vector<std::string> runtimeLibraries(const std::string& object) {
  if (!callsRuntime(object))
    return {};
  // Part of what libgcc has for 16-bit floats is in its archive only.
  std::vector<std::string> found;
  std::error_code ignored;
  std::filesystem::directory_iterator versions("/usr/lib/gcc/x86_64-linux-gnu", ignored), end;
  for (; versions != end; versions.increment(ignored))
    if (std::string path = versions->path() / "libgcc.a"; std::filesystem::exists(path, ignored))
      found.push_back(path);
  // One is enough, and it should always be the same.
  if (found.size() > 1)
    found = {*std::max_element(found.begin(), found.end())};
  return found;
}

} // namespace nocturne::compiler
