// What a library for CUDA devices carries, and how its entry points hand it to the launcher. Shared
// by the compiler, which writes it, and the launcher (C), which runs it.
//
// A program is one block of bytes without addresses, aligned to 16: every place in it is an offset
// from its start. Kernels of a program are loaded together, the first time that one of its entry
// points is called.
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define NOCTURNE_CUDA_PLAN_VERSION 1u

// What entry points return. Nothing of the call may be used unless it is 0; the text behind every
// code but 0 and 1 is that of nocturne_last_error().
enum nocturne_cuda_status {
  NOCTURNE_CUDA_OK = 0,
  NOCTURNE_CUDA_WRONG_COUNT = 1,    // the number of arguments is not the entry point's
  NOCTURNE_CUDA_NO_DRIVER = 2,      // libcuda.so.1 cannot be loaded
  NOCTURNE_CUDA_OLD_DRIVER = 3,     // it lacks a function that is needed
  NOCTURNE_CUDA_NO_DEVICE = 4,      // the driver finds no device
  NOCTURNE_CUDA_JIT_FAILED = 5,     // the driver refuses the PTX
  NOCTURNE_CUDA_OUT_OF_MEMORY = 6,  // of the device or of the host
  NOCTURNE_CUDA_LAUNCH_FAILED = 7,  // a kernel cannot be started, or did not end well
  NOCTURNE_CUDA_DRIVER_ERROR = 8,   // anything else that the driver says
  NOCTURNE_CUDA_DAMAGED_PROGRAM = 9 // the program is of another version than the launcher
};

struct nocturne_cuda_program {
  uint32_t version; // NOCTURNE_CUDA_PLAN_VERSION
  uint32_t kernel_count;
  uint32_t entry_count;
  uint32_t reserved;
  uint64_t ptx; // ends with a NUL
  uint64_t ptx_bytes;
  uint64_t kernels; // uint64_t[kernel_count]: offsets of names, each with a NUL
  uint64_t entries; // struct nocturne_cuda_entry[entry_count]
  uint64_t constants;
  uint64_t constant_bytes;
};

// Inputs, results and intermediate tensors of a call lie in one block of device memory.
struct nocturne_cuda_entry {
  uint64_t work_bytes;
  uint64_t arguments; // struct nocturne_cuda_argument[argument_count]
  uint64_t steps;     // struct nocturne_cuda_step[step_count]
  uint32_t argument_count;
  uint32_t step_count;
  uint32_t most_operands; // of any launch
  uint32_t reserved;
};

struct nocturne_cuda_argument {
  uint64_t offset; // in the block of the call
  uint64_t bytes;
  uint32_t is_result;
  uint32_t reserved;
};

enum nocturne_cuda_space { NOCTURNE_CUDA_WORK = 0, NOCTURNE_CUDA_CONSTANTS = 1 };

struct nocturne_cuda_operand {
  uint64_t offset;
  uint32_t space; // enum nocturne_cuda_space
  uint32_t reserved;
};

enum nocturne_cuda_step_kind { NOCTURNE_CUDA_LAUNCH = 0, NOCTURNE_CUDA_COPY = 1 };

// Steps are run in their order. A launch passes the addresses of its operands; a copy has two, the
// source and then the destination.
struct nocturne_cuda_step {
  uint32_t kind; // enum nocturne_cuda_step_kind
  uint32_t kernel;
  uint32_t grid[3];
  uint32_t block[3];
  uint64_t bytes;    // of a copy
  uint64_t operands; // struct nocturne_cuda_operand[operand_count]
  uint32_t operand_count;
  uint32_t reserved;
};

// What the launcher keeps about a program: zero until the first call.
#define NOCTURNE_CUDA_STATE_WORDS 8
struct nocturne_cuda_state {
  uint64_t words[NOCTURNE_CUDA_STATE_WORDS];
};

// The whole of an entry point. Thread-safe.
int32_t nocturne_cuda_call(const struct nocturne_cuda_program* program,
                           struct nocturne_cuda_state* state, uint32_t entry, void* const* args,
                           size_t n);

// Of this thread's last call into the library that did not return 0; "" when there was none. Valid
// until the thread's next call.
const char* nocturne_last_error(void);

// Gives back the device memory and the kernels that the library holds between calls, to be used
// before dlclose(); the next call loads them again. No call may be running.
void nocturne_release(void);

#ifdef __cplusplus
}
#endif
