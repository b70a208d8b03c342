// From a StableHLO file to the flat table that estimators read. No MLIR type is seen from outside,
// and none outlives a call.
//
// All functions here are thread-safe: each call has its own MLIRContext. MLIR's parser needs a deep
// stack; a caller whose thread has less than 16 MiB gets the work done on a thread that has.
#pragma once

#include <string>
#include <string_view>

#include "engine/module.h"

namespace nocturne::compiler {

// Part of every cache key. Raise it when the same file can give another table; a change of nothing
// but the table's serialised form raises kModuleTableVersion.
inline constexpr unsigned kReaderVersion = 2;

// What the reader supposes where a module leaves something open.
struct ReaderOptions {
  enum class Branch : uint8_t { Largest, First, Mean };

  double tripCount = 1;            // of loops whose trip count cannot be derived
  Branch branch = Branch::Largest; // which branch of an if or case runs
  std::string entry;               // function to start from; "" for the rule in entry.h

  // Canonical text with the reader's version, for keys.
  std::string text() const;
};

// Both throw ItemError, whose failure has a message and, where there is one, a place.
ModulePtr readModule(const std::string& path, const ReaderOptions& options = {});
// `path` names the text in messages and in Module::path; nothing is opened.
ModulePtr readModuleText(std::string_view text, const std::string& path,
                         const ReaderOptions& options = {});

} // namespace nocturne::compiler
