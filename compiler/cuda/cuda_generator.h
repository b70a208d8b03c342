// The part of the code generator that makes libraries for CUDA devices.
#pragma once

#include "compiler/codegen/compile_options.h"
#include "compiler/drivers/code_generator.h"

namespace nocturne::compiler {

// Targets "cuda": --arch and --features are those of cudaTarget(), --cpu_arch is the processor of
// the code around the kernels, x86-64 when it is not given. Throws UsageError.
Target resolveCuda(const Target& target);

// `target` is resolved. The text of the kernels is always a file, kernel.ptx; with IR kept, each
// stage is one as well. Throws ItemError.
GeneratedCode generateCudaLibrary(const ModuleSource& source, const Target& target,
                                  const CompileOptions& compile);

} // namespace nocturne::compiler
