#include "compiler/execution/library.h"

#include <dlfcn.h>

#include "compiler/codegen/runtime_libraries.h"
#include "compiler/drivers/linker.h"
#include "engine/error.h"
#include "engine/number_text.h"
#include "engine/temporary_folder.h"

namespace nocturne::compiler {

namespace {

ItemError failure(FailureKind kind, const std::string& message) {
  return ItemError({kind, message, "", 0, 0});
}

} // namespace

LoadedLibrary::LoadedLibrary(const std::string& object) {
  TemporaryFolder folder;
  const std::string libraryPath = folder / "code.so";
  folder.write("code.o", object);
  LinkRequest request;
  request.directory = folder.path();
  request.objects = {"code.o"};
  request.output = request.soname = "code.so";
  request.libraries = runtimeLibraries(object);
  Linker().link(request);
  handle_ = dlopen(libraryPath.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle_)
    throw failure(FailureKind::Internal,
                  std::string("compiled code cannot be loaded: ") + dlerror());
}

LoadedLibrary::~LoadedLibrary() {
  dlclose(handle_);
}

LoadedLibrary::Function LoadedLibrary::find(const std::string& symbol) const {
  void* address = dlsym(handle_, symbol.c_str());
  if (!address)
    throw failure(FailureKind::Internal, "compiled code has no symbol " + symbol);
  return reinterpret_cast<Function>(address);
}

PreparedCall::PreparedCall(const LoadedLibrary& library, const LibraryEntry& entry,
                           std::vector<const TensorData*> inputs)
    : function_(library.find(entry.symbol)) {
  size_t next = 0;
  for (const LibraryArgument& argument : entry.arguments) {
    if (argument.direction == LibraryArgument::Direction::Out) {
      addresses_.push_back(results_.emplace_back(argument).data());
      continue;
    }
    if (next >= inputs.size())
      throw UsageError("@" + entry.name + " takes more inputs than the " +
                       std::to_string(inputs.size()) + " given");
    const TensorData& input = *inputs[next++];
    if (input.dtype() != argument.dtype || input.dims() != argument.dims)
      throw UsageError("input " + std::to_string(next - 1) + " of @" + entry.name + " is " +
                       TensorData(argument).typeText() + ", not " + input.typeText());
    // Compiled code only reads it.
    addresses_.push_back(const_cast<std::byte*>(input.data()));
  }
  if (next != inputs.size())
    throw UsageError("@" + entry.name + " takes " + counted(next, "input") + ", not the " +
                     std::to_string(inputs.size()) + " given");
}

void PreparedCall::run() {
  if (int32_t code = function_(addresses_.data(), addresses_.size()); code != 0)
    throw failure(FailureKind::Internal,
                  "compiled code refused its call with " + std::to_string(code));
}

} // namespace nocturne::compiler
