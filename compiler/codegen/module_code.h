// A StableHLO module to machine code.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "compiler/codegen/compile_options.h"
#include "compiler/drivers/code_generator.h"
#include "compiler/reader/parse.h"
#include "engine/error.h"

namespace nocturne::compiler {

struct ModuleCode {
  std::string object; // ELF; see emitObject() for what it refers to
  std::vector<LibraryEntry> entries;
  std::vector<StageTime> times;
  // Name and text of the IR after each stage, the LLVM IR last.
  std::vector<std::pair<std::string, std::string>> stages;
};

// Compiles every public function of `parsed`, which is used up. Nothing is printed. `failure` has
// the place where compilation cannot go on: kind UnsupportedOp for what has no lowering.
mlir::LogicalResult compileModule(ParsedModule& parsed, const CompileOptions& options,
                                  ModuleCode& code, Failure& failure);

// The same from the text of a module, with `path` as the file of its places.
mlir::LogicalResult compileText(std::string text, const std::string& path,
                                const CompileOptions& options, ModuleCode& code, Failure& failure);

} // namespace nocturne::compiler
