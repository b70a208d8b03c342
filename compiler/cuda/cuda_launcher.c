// Runs programs for CUDA devices: the part of a built library that is the same in all of them. It
// needs libc only. The driver is opened by the first call, never when the library is loaded, and
// whatever the driver says becomes a status and a text; nothing here ends the process.
//
// A library may hold several programs, each linked with a copy of this file: everything that others
// see is weak, so that one copy serves all.
#include "compiler/cuda/launch_plan.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Of the driver's interface, as far as it is used: CUDA 11 and later keep these.
typedef int CUresult;
typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
typedef struct CUctx_st* CUcontext;
typedef struct CUmod_st* CUmodule;
typedef struct CUfunc_st* CUfunction;
typedef struct CUstream_st* CUstream;
enum { kSuccess = 0, kOutOfMemory = 2, kNoDevice = 100 };
enum { kJitErrorLog = 5, kJitErrorLogBytes = 6 };

#define SHARED __attribute__((weak, visibility("hidden")))
#define EXPORTED __attribute__((weak, visibility("default")))

enum { kTextBytes = 4096, kLogBytes = 2048 };

#define FOR_EACH_FUNCTION(X)                                                                       \
  X(init, "cuInit", (unsigned))                                                                    \
  X(deviceCount, "cuDeviceGetCount", (int*))                                                       \
  X(deviceGet, "cuDeviceGet", (CUdevice*, int))                                                    \
  X(retain, "cuDevicePrimaryCtxRetain", (CUcontext*, CUdevice))                                    \
  X(release, "cuDevicePrimaryCtxRelease_v2", (CUdevice))                                           \
  X(push, "cuCtxPushCurrent_v2", (CUcontext))                                                      \
  X(pop, "cuCtxPopCurrent_v2", (CUcontext*))                                                       \
  X(synchronize, "cuCtxSynchronize", (void))                                                       \
  X(moduleLoad, "cuModuleLoadDataEx", (CUmodule*, const void*, unsigned, int*, void**))            \
  X(moduleUnload, "cuModuleUnload", (CUmodule))                                                    \
  X(moduleFunction, "cuModuleGetFunction", (CUfunction*, CUmodule, const char*))                   \
  X(allocate, "cuMemAlloc_v2", (CUdeviceptr*, size_t))                                             \
  X(freeMemory, "cuMemFree_v2", (CUdeviceptr))                                                     \
  X(toDevice, "cuMemcpyHtoD_v2", (CUdeviceptr, const void*, size_t))                               \
  X(toHost, "cuMemcpyDtoH_v2", (void*, CUdeviceptr, size_t))                                       \
  X(onDevice, "cuMemcpyDtoD_v2", (CUdeviceptr, CUdeviceptr, size_t))                               \
  X(launch, "cuLaunchKernel",                                                                      \
    (CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream,   \
     void**, void**))                                                                              \
  X(errorName, "cuGetErrorName", (CUresult, const char**))                                         \
  X(errorString, "cuGetErrorString", (CUresult, const char**))

struct driver {
  int ready;
  CUdevice device;
#define DECLARE(field, name, parameters) CUresult(*field) parameters;
  FOR_EACH_FUNCTION(DECLARE)
#undef DECLARE
};

// A program that is loaded. Lies in the words of its nocturne_cuda_state.
struct loaded {
  CUcontext context; // NULL: not loaded
  CUmodule module;
  CUfunction* functions;
  CUdeviceptr constants;
  struct loaded* next; // of those that nocturne_release() has to undo
};
_Static_assert(sizeof(struct loaded) <= sizeof(struct nocturne_cuda_state), "state too small");

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; // of the two below and of loading
static struct driver driver;
static struct loaded* loaded_programs;

static pthread_once_t text_once = PTHREAD_ONCE_INIT;
static pthread_key_t text_key;
static int text_key_made;

// The threads' texts outlive the library, so only a function of libc may free them.
static void make_text_key(void) {
  text_key_made = pthread_key_create(&text_key, free) == 0;
}

static char* thread_text(void) {
  pthread_once(&text_once, make_text_key);
  if (!text_key_made)
    return NULL;
  char* text = pthread_getspecific(text_key);
  if (text == NULL && (text = calloc(1, kTextBytes)) != NULL &&
      pthread_setspecific(text_key, text) != 0) {
    free(text);
    text = NULL;
  }
  return text;
}

__attribute__((format(printf, 2, 3))) static int32_t fail(int32_t status, const char* format, ...) {
  char* text = thread_text();
  if (text != NULL) {
    va_list values;
    va_start(values, format);
    vsnprintf(text, kTextBytes, format, values);
    va_end(values);
  }
  return status;
}

static int32_t driver_error(int32_t status, CUresult result, const char* what) {
  const char *name = NULL, *description = NULL;
  if (driver.errorName(result, &name) != kSuccess || name == NULL)
    name = "unknown error";
  if (driver.errorString(result, &description) != kSuccess || description == NULL)
    description = "the driver has no text for it";
  if (result == kOutOfMemory)
    status = NOCTURNE_CUDA_OUT_OF_MEMORY;
  return fail(status, "%s: %s (%d): %s", what, name, result, description);
}

static const void* at(const struct nocturne_cuda_program* program, uint64_t offset) {
  return (const char*)program + offset;
}

// The name can be changed for tests and for drivers at unusual places.
static int32_t open_driver(void) {
  if (driver.ready)
    return NOCTURNE_CUDA_OK;
  const char* path = getenv("NOCTURNE_CUDA_DRIVER");
  if (path == NULL || *path == '\0')
    path = "libcuda.so.1";
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    const char* reason = dlerror();
    return fail(NOCTURNE_CUDA_NO_DRIVER, "no CUDA driver: %s", reason != NULL ? reason : path);
  }
  const char* missing = NULL;
#define FIND(field, name, parameters)                                                              \
  *(void**)&driver.field = dlsym(library, name);                                                   \
  if (driver.field == NULL)                                                                        \
    missing = name;
  FOR_EACH_FUNCTION(FIND)
#undef FIND
  if (missing != NULL) {
    dlclose(library);
    return fail(NOCTURNE_CUDA_OLD_DRIVER, "the CUDA driver %s has no %s", path, missing);
  }
  // From here on the driver stays: it cannot be unloaded safely.
  CUresult result = driver.init(0);
  if (result == kNoDevice)
    return fail(NOCTURNE_CUDA_NO_DEVICE, "the CUDA driver finds no device");
  if (result != kSuccess)
    return driver_error(NOCTURNE_CUDA_DRIVER_ERROR, result, "cuInit");
  int count = 0;
  if ((result = driver.deviceCount(&count)) != kSuccess)
    return driver_error(NOCTURNE_CUDA_DRIVER_ERROR, result, "cuDeviceGetCount");
  if (count == 0)
    return fail(NOCTURNE_CUDA_NO_DEVICE, "the CUDA driver finds no device");
  if ((result = driver.deviceGet(&driver.device, 0)) != kSuccess)
    return driver_error(NOCTURNE_CUDA_DRIVER_ERROR, result, "cuDeviceGet");
  driver.ready = 1;
  return NOCTURNE_CUDA_OK;
}

static int32_t load_kernels(const struct nocturne_cuda_program* program, struct loaded* into) {
  if (program->kernel_count == 0)
    return NOCTURNE_CUDA_OK;
  char log[kLogBytes] = "";
  int options[] = {kJitErrorLog, kJitErrorLogBytes};
  void* values[] = {log, (void*)(uintptr_t)sizeof log};
  CUresult result = driver.moduleLoad(&into->module, at(program, program->ptx), 2, options, values);
  log[sizeof log - 1] = '\0';
  if (result != kSuccess) {
    into->module = NULL;
    int32_t status = driver_error(NOCTURNE_CUDA_JIT_FAILED, result, "cuModuleLoadDataEx");
    char* text = thread_text();
    if (text != NULL && log[0] != '\0') {
      size_t used = strlen(text);
      snprintf(text + used, kTextBytes - used, "\n%s", log);
    }
    return status;
  }
  into->functions = calloc(program->kernel_count, sizeof(CUfunction));
  if (into->functions == NULL)
    return fail(NOCTURNE_CUDA_OUT_OF_MEMORY, "the host is out of memory");
  const uint64_t* names = at(program, program->kernels);
  for (uint32_t i = 0; i < program->kernel_count; ++i) {
    result = driver.moduleFunction(&into->functions[i], into->module, at(program, names[i]));
    if (result != kSuccess)
      return driver_error(NOCTURNE_CUDA_JIT_FAILED, result, "cuModuleGetFunction");
  }
  return NOCTURNE_CUDA_OK;
}

static int32_t load_constants(const struct nocturne_cuda_program* program, struct loaded* into) {
  if (program->constant_bytes == 0)
    return NOCTURNE_CUDA_OK;
  CUresult result = driver.allocate(&into->constants, program->constant_bytes);
  if (result != kSuccess) {
    into->constants = 0;
    return driver_error(NOCTURNE_CUDA_DRIVER_ERROR, result, "cuMemAlloc of the constants");
  }
  result =
      driver.toDevice(into->constants, at(program, program->constants), program->constant_bytes);
  if (result != kSuccess)
    return driver_error(NOCTURNE_CUDA_DRIVER_ERROR, result, "cuMemcpyHtoD of the constants");
  return NOCTURNE_CUDA_OK;
}

// With the program's context current.
static void unload(struct loaded* program) {
  if (program->constants != 0)
    driver.freeMemory(program->constants);
  if (program->module != NULL)
    driver.moduleUnload(program->module);
  free(program->functions);
  program->constants = 0;
  program->module = NULL;
  program->functions = NULL;
}

// With the mutex held. Leaves the program's context current, when it succeeds.
static int32_t make_ready(const struct nocturne_cuda_program* program, struct loaded* state) {
  int32_t status = open_driver();
  if (status != NOCTURNE_CUDA_OK)
    return status;
  if (state->context != NULL) {
    CUresult pushed = driver.push(state->context);
    return pushed == kSuccess
               ? NOCTURNE_CUDA_OK
               : driver_error(NOCTURNE_CUDA_DRIVER_ERROR, pushed, "cuCtxPushCurrent");
  }
  CUcontext context = NULL, popped = NULL;
  CUresult result = driver.retain(&context, driver.device);
  if (result != kSuccess)
    return driver_error(NOCTURNE_CUDA_DRIVER_ERROR, result, "cuDevicePrimaryCtxRetain");
  if ((result = driver.push(context)) != kSuccess) {
    driver.release(driver.device);
    return driver_error(NOCTURNE_CUDA_DRIVER_ERROR, result, "cuCtxPushCurrent");
  }
  if ((status = load_kernels(program, state)) == NOCTURNE_CUDA_OK)
    status = load_constants(program, state);
  if (status != NOCTURNE_CUDA_OK) {
    unload(state);
    driver.pop(&popped);
    driver.release(driver.device);
    return status;
  }
  state->context = context;
  state->next = loaded_programs;
  loaded_programs = state;
  return NOCTURNE_CUDA_OK;
}

// One call: the program is ready and its context current.
struct call {
  const struct nocturne_cuda_program* program;
  const struct nocturne_cuda_entry* entry;
  const struct loaded* state;
  CUdeviceptr work;
  CUdeviceptr* addresses; // most_operands of them
  void** parameters;      // where each address is
};

static CUdeviceptr address(const struct call* call, const struct nocturne_cuda_operand* operand) {
  return (operand->space == NOCTURNE_CUDA_CONSTANTS ? call->state->constants : call->work) +
         operand->offset;
}

static int32_t run_step(const struct call* call, const struct nocturne_cuda_step* step) {
  const struct nocturne_cuda_operand* operands = at(call->program, step->operands);
  if (step->kind == NOCTURNE_CUDA_COPY) {
    CUresult copied =
        driver.onDevice(address(call, &operands[1]), address(call, &operands[0]), step->bytes);
    return copied == kSuccess ? NOCTURNE_CUDA_OK
                              : driver_error(NOCTURNE_CUDA_LAUNCH_FAILED, copied, "cuMemcpyDtoD");
  }
  for (uint32_t i = 0; i < step->operand_count; ++i) {
    call->addresses[i] = address(call, &operands[i]);
    call->parameters[i] = &call->addresses[i];
  }
  CUresult started = driver.launch(call->state->functions[step->kernel], step->grid[0],
                                   step->grid[1], step->grid[2], step->block[0], step->block[1],
                                   step->block[2], 0, NULL, call->parameters, NULL);
  if (started == kSuccess)
    return NOCTURNE_CUDA_OK;
  const uint64_t* names = at(call->program, call->program->kernels);
  return driver_error(NOCTURNE_CUDA_LAUNCH_FAILED, started, at(call->program, names[step->kernel]));
}

static int32_t copy_arguments(const struct call* call, void* const* args, uint32_t results) {
  const struct nocturne_cuda_argument* arguments = at(call->program, call->entry->arguments);
  for (uint32_t i = 0; i < call->entry->argument_count; ++i) {
    if (arguments[i].is_result != results || arguments[i].bytes == 0)
      continue;
    CUdeviceptr place = call->work + arguments[i].offset;
    CUresult result = results ? driver.toHost(args[i], place, arguments[i].bytes)
                              : driver.toDevice(place, args[i], arguments[i].bytes);
    if (result != kSuccess)
      return driver_error(NOCTURNE_CUDA_DRIVER_ERROR, result,
                          results ? "cuMemcpyDtoH of a result" : "cuMemcpyHtoD of an input");
  }
  return NOCTURNE_CUDA_OK;
}

static int32_t run_steps(const struct call* call, void* const* args) {
  int32_t status = copy_arguments(call, args, 0);
  const struct nocturne_cuda_step* steps = at(call->program, call->entry->steps);
  for (uint32_t i = 0; status == NOCTURNE_CUDA_OK && i < call->entry->step_count; ++i)
    status = run_step(call, &steps[i]);
  // Kernels report what went wrong in them here.
  CUresult result = driver.synchronize();
  if (status == NOCTURNE_CUDA_OK && result != kSuccess)
    status = driver_error(NOCTURNE_CUDA_LAUNCH_FAILED, result, "cuCtxSynchronize");
  return status == NOCTURNE_CUDA_OK ? copy_arguments(call, args, 1) : status;
}

static int32_t run(struct call* call, void* const* args) {
  size_t operands = call->entry->most_operands;
  // One more than needed, because the answer to a request for nothing may be NULL.
  call->addresses = calloc(operands + 1, sizeof(CUdeviceptr));
  call->parameters = calloc(operands + 1, sizeof(void*));
  int32_t status = NOCTURNE_CUDA_OK;
  if (call->addresses == NULL || call->parameters == NULL)
    status = fail(NOCTURNE_CUDA_OUT_OF_MEMORY, "the host is out of memory");
  if (status == NOCTURNE_CUDA_OK && call->entry->work_bytes != 0) {
    CUresult result = driver.allocate(&call->work, call->entry->work_bytes);
    if (result != kSuccess)
      status = driver_error(NOCTURNE_CUDA_DRIVER_ERROR, result, "cuMemAlloc");
  }
  if (status == NOCTURNE_CUDA_OK) {
    status = run_steps(call, args);
    if (call->entry->work_bytes != 0)
      driver.freeMemory(call->work);
  }
  free(call->addresses);
  free(call->parameters);
  return status;
}

SHARED int32_t nocturne_cuda_call(const struct nocturne_cuda_program* program,
                                  struct nocturne_cuda_state* state, uint32_t entry,
                                  void* const* args, size_t n) {
  if (program->version != NOCTURNE_CUDA_PLAN_VERSION || entry >= program->entry_count)
    return fail(NOCTURNE_CUDA_DAMAGED_PROGRAM, "the library's program is of another version");
  struct call call = {.program = program, .state = (struct loaded*)state};
  call.entry = (const struct nocturne_cuda_entry*)at(program, program->entries) + entry;
  if (n != call.entry->argument_count)
    return fail(NOCTURNE_CUDA_WRONG_COUNT, "%zu arguments instead of %u", n,
                (unsigned)call.entry->argument_count);
  pthread_mutex_lock(&mutex);
  int32_t status = make_ready(program, (struct loaded*)state);
  pthread_mutex_unlock(&mutex);
  if (status != NOCTURNE_CUDA_OK)
    return status;
  status = run(&call, args);
  CUcontext popped = NULL;
  driver.pop(&popped);
  return status;
}

EXPORTED const char* nocturne_last_error(void) {
  const char* text = thread_text();
  return text != NULL ? text : "";
}

EXPORTED void nocturne_release(void) {
  pthread_mutex_lock(&mutex);
  while (loaded_programs != NULL) {
    struct loaded* program = loaded_programs;
    loaded_programs = program->next;
    CUcontext popped = NULL;
    if (driver.push(program->context) == kSuccess) {
      unload(program);
      driver.pop(&popped);
    }
    driver.release(driver.device);
    memset(program, 0, sizeof *program);
  }
  pthread_mutex_unlock(&mutex);
}
