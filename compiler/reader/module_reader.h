// The reader as the service that actors and estimators know.
#pragma once

#include <utility>

#include "compiler/reader/reader.h"
#include "engine/services.h"
#include "engine/sweep_plan.h"

namespace nocturne::compiler {

ReaderOptions readerOptions(const Assumptions& assumptions);

class FileModuleReader : public ModuleReader {
public:
  explicit FileModuleReader(ReaderOptions options = {}) : options_(std::move(options)) {}
  ModulePtr read(const std::string& path) override { return readModule(path, options_); }
  std::string keyText() const override { return options_.text(); }

private:
  ReaderOptions options_;
};

} // namespace nocturne::compiler
