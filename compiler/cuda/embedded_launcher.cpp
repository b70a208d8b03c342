#include "compiler/cuda/embedded_launcher.h"

// NOCTURNE_CUDA_LAUNCHER is the path of the object file.
__asm__(".section .rodata\n"
        ".globl nocturne_embedded_launcher\n"
        ".hidden nocturne_embedded_launcher\n"
        ".globl nocturne_embedded_launcher_end\n"
        ".hidden nocturne_embedded_launcher_end\n"
        ".balign 16\n"
        "nocturne_embedded_launcher:\n"
        ".incbin \"" NOCTURNE_CUDA_LAUNCHER "\"\n"
        "nocturne_embedded_launcher_end:\n"
        ".byte 0\n"
        ".text\n");

extern "C" const char nocturne_embedded_launcher[];
extern "C" const char nocturne_embedded_launcher_end[];

namespace nocturne::compiler {

std::string_view embeddedLauncher() {
  return {nocturne_embedded_launcher,
          static_cast<size_t>(nocturne_embedded_launcher_end - nocturne_embedded_launcher)};
}

} // namespace nocturne::compiler
