// The reader as the service that actors and estimators know.
#pragma once

#include <utility>

#include "compiler/reader/reader.h"
#include "engine/services.h"

namespace nocturne::compiler {

class FileModuleReader : public ModuleReader {
public:
  explicit FileModuleReader(ReaderOptions options = {}) : options_(std::move(options)) {}
  ModulePtr read(const std::string& path) override { return readModule(path, options_); }
  std::string keyText() const override { return options_.text(); }

private:
  ReaderOptions options_;
};

} // namespace nocturne::compiler
