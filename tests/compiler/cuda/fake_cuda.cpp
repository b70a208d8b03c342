// A stand-in for the CUDA driver. Device memory is the host's, kernels are not run, and every call
// is a line of the file that FAKE_CUDA_LOG names. FAKE_CUDA_FAIL, "function=code", lets one
// function fail.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

constexpr int kNoDevice = 100;
constexpr int kErrorLog = 5;

int note(const char* function, const std::string& what) {
  if (const char* path = std::getenv("FAKE_CUDA_LOG")) {
    if (FILE* file = std::fopen(path, "a")) {
      std::fprintf(file, "%s%s%s\n", function, what.empty() ? "" : " ", what.c_str());
      std::fclose(file);
    }
  }
  const char* failing = std::getenv("FAKE_CUDA_FAIL");
  const size_t length = std::strlen(function);
  if (failing && std::strncmp(failing, function, length) == 0 && failing[length] == '=')
    return std::atoi(failing + length + 1);
  return 0;
}

std::string text(unsigned long long value) {
  return std::to_string(value);
}

// Functions are known by their names.
std::vector<std::string*>& functions() {
  static std::vector<std::string*> all;
  return all;
}

} // namespace

extern "C" {

using Address = unsigned long long;

int cuInit(unsigned) {
  return note("cuInit", "");
}
int cuDeviceGetCount(int* count) {
  *count = std::getenv("FAKE_CUDA_NO_DEVICE") ? 0 : 1;
  return note("cuDeviceGetCount", "");
}
int cuDeviceGet(int* device, int ordinal) {
  *device = ordinal;
  return note("cuDeviceGet", text(static_cast<unsigned>(ordinal)));
}
int cuDevicePrimaryCtxRetain(void** context, int) {
  static int made;
  *context = &made;
  return note("cuDevicePrimaryCtxRetain", "");
}
int cuDevicePrimaryCtxRelease_v2(int) {
  return note("cuDevicePrimaryCtxRelease", "");
}
int cuCtxPushCurrent_v2(void*) {
  return note("cuCtxPushCurrent", "");
}
int cuCtxPopCurrent_v2(void**) {
  return note("cuCtxPopCurrent", "");
}
int cuCtxSynchronize() {
  return note("cuCtxSynchronize", "");
}
int cuModuleLoadDataEx(void** module, const void* image, unsigned count, int* options,
                       void** values) {
  *module = const_cast<void*>(image);
  const std::string ptx = static_cast<const char*>(image);
  const int result = note("cuModuleLoadDataEx", text(ptx.size()));
  if (const char* path = std::getenv("FAKE_CUDA_PTX")) {
    if (FILE* file = std::fopen(path, "w")) {
      std::fwrite(ptx.data(), 1, ptx.size(), file);
      std::fclose(file);
    }
  }
  for (unsigned i = 0; result != 0 && i < count; ++i)
    if (options[i] == kErrorLog)
      std::strcpy(static_cast<char*>(values[i]), "ptxas fatal: as if");
  return result;
}
int cuModuleUnload(void*) {
  return note("cuModuleUnload", "");
}
int cuModuleGetFunction(void** function, void*, const char* name) {
  functions().push_back(new std::string(name));
  *function = functions().back();
  return note("cuModuleGetFunction", name);
}
int cuMemAlloc_v2(Address* address, size_t bytes) {
  const int result = note("cuMemAlloc", text(bytes));
  if (result == 0)
    *address = reinterpret_cast<Address>(std::calloc(1, bytes));
  return result;
}
int cuMemFree_v2(Address address) {
  std::free(reinterpret_cast<void*>(address));
  return note("cuMemFree", "");
}
int cuMemcpyHtoD_v2(Address to, const void* from, size_t bytes) {
  std::memcpy(reinterpret_cast<void*>(to), from, bytes);
  return note("cuMemcpyHtoD", text(bytes));
}
int cuMemcpyDtoH_v2(void* to, Address from, size_t bytes) {
  std::memcpy(to, reinterpret_cast<void*>(from), bytes);
  return note("cuMemcpyDtoH", text(bytes));
}
int cuMemcpyDtoD_v2(Address to, Address from, size_t bytes) {
  std::memmove(reinterpret_cast<void*>(to), reinterpret_cast<void*>(from), bytes);
  return note("cuMemcpyDtoD", text(bytes));
}
int cuLaunchKernel(void* function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX,
                   unsigned blockY, unsigned blockZ, unsigned, void*, void**, void**) {
  std::string what = *static_cast<std::string*>(function);
  for (unsigned value : {gridX, gridY, gridZ, blockX, blockY, blockZ})
    what += ' ' + text(value);
  return note("cuLaunchKernel", what);
}
int cuGetErrorName(int code, const char** name) {
  *name = code == kNoDevice ? "CUDA_ERROR_NO_DEVICE" : "CUDA_ERROR_AS_IF";
  return 0;
}
int cuGetErrorString(int, const char** description) {
  *description = "as if";
  return 0;
}
}
