#include "compiler/reader/reader.h"

#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include "compiler/reader/fingerprint.h"
#include "compiler/reader/flatten.h"
#include "compiler/reader/liveness.h"
#include "compiler/reader/parse.h"
#include "compiler/reader/scan.h"
#include "compiler/reader/stack.h"
#include "engine/file_bytes.h"
#include "engine/number_text.h"

namespace nocturne::compiler {

namespace {

std::string nameOf(mlir::ModuleOp source, const std::string& path) {
  if (std::optional<llvm::StringRef> name = source.getSymName())
    return name->str();
  return std::filesystem::path(path).stem().string();
}

// Everything that happens on the deep stack. Nothing of MLIR outlives it.
std::optional<Failure> readInto(Module& module, const std::string& text,
                                const ReaderOptions& options) {
  ParsedModule parsed;
  Failure failure;
  if (mlir::failed(parseModule(text, module.path, parsed, failure)))
    return failure;
  module.name = nameOf(*parsed.module, module.path);
  Flattener flattener(*parsed.module, options, module);
  if (mlir::failed(flattener.run(failure)))
    return failure;
  module.fingerprint = fingerprintOf(module);
  module.peakBytes = peakBytesOf(module, flattener.lifeFacts());
  finishModule(module);
  return std::nullopt;
}

ModulePtr readBytes(std::string text, const std::string& path, const ReaderOptions& options) {
  auto module = std::make_shared<Module>();
  module->path = path;
  module->files = {path};
  module->contentHash = hashBytes(text);
  if (std::optional<Failure> failure = scanText(text, path))
    throw ItemError(*std::move(failure));
  std::optional<Failure> failure;
  runWithDeepStack([&] { failure = readInto(*module, text, options); });
  if (failure)
    throw ItemError(*std::move(failure));
  return module;
}

} // namespace

std::string ReaderOptions::text() const {
  constexpr const char* kBranches[] = {"largest", "first", "mean"};
  return "reader " + std::to_string(kReaderVersion) + " table " +
         std::to_string(kModuleTableVersion) + " trip_count " + shortest(tripCount) + " branch " +
         kBranches[static_cast<size_t>(branch)] + " entry " + (entry.empty() ? "-" : "@" + entry);
}

ModulePtr readModule(const std::string& path, const ReaderOptions& options) {
  return readBytes(readFile(path), path, options);
}

ModulePtr readModuleText(std::string_view text, const std::string& path,
                         const ReaderOptions& options) {
  return readBytes(std::string(text), path, options);
}

} // namespace nocturne::compiler
