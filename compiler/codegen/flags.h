// Options of the compiler as texts, which are part of keys.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compiler/codegen/compile_options.h"

namespace nocturne::compiler {

inline constexpr std::string_view kLevelFlag = "--opt-level=";         // 0 to 3
inline constexpr std::string_view kWeightsFlag = "--generate-weights"; // as CompileOptions has it
inline constexpr std::string_view kPlainFlag = "--plain";              // CompileOptions::plain
inline constexpr std::string_view kScheduleFlag = "--schedule="; // the text itself, not a file
// CompileOptions::products: rows, vectors, panel and block, as "8,2,24,256"; 0 for the usual size.
inline constexpr std::string_view kProductsFlag = "--products=";

// Sets what `flags` say. Throws UsageError for a flag that there is not.
void readFlags(const std::vector<std::string>& flags, CompileOptions& options);

} // namespace nocturne::compiler
