// A deep stack for code that recurses with its input.
#pragma once

#include <cstddef>
#include <functional>

namespace nocturne::compiler {

// What MLIR's parser and verifier need for input that the scan lets pass.
inline constexpr size_t kReaderStackBytes = size_t{16} << 20;

// Runs `work` here if the calling thread's stack is at least kReaderStackBytes, else on a thread
// that has as much, and waits for it. What `work` throws is thrown here.
void runWithDeepStack(const std::function<void()>& work);

} // namespace nocturne::compiler
