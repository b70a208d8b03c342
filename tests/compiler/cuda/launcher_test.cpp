// The launcher in built libraries, with a stand-in for the driver and without any.
#include "compiler/cuda/launch_plan.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <vector>

#include <dlfcn.h>
#include <doctest/doctest.h>

#include "compiler/drivers/linker.h"
#include "tests/compiler/cuda/compile_cuda.h"
#include "tests/support/scratch_dir.h"

namespace nocturne::compiler {

namespace {

// A library built from a module, loaded as a program of a user's would.
class BuiltLibrary {
public:
  explicit BuiltLibrary(const CudaCode& code) {
    folder_.write("code.o", code.object);
    LinkRequest request;
    request.directory = folder_.path();
    request.objects = {"code.o"};
    request.output = request.soname = "lib.so";
    Linker().link(request);
    setenv("FAKE_CUDA_LOG", (folder_ / "log").c_str(), 1);
    setenv("FAKE_CUDA_PTX", (folder_ / "ptx").c_str(), 1);
    useDriver(NOCTURNE_TEST_FAKE_CUDA);
    handle_ = dlopen((folder_ / "lib.so").c_str(), RTLD_NOW | RTLD_LOCAL);
    INFO(std::string(handle_ ? "" : dlerror()));
    REQUIRE(handle_);
  }
  ~BuiltLibrary() {
    dlclose(handle_);
    for (const char* name : {"FAKE_CUDA_LOG", "FAKE_CUDA_PTX", "FAKE_CUDA_FAIL",
                             "FAKE_CUDA_NO_DEVICE", "NOCTURNE_CUDA_DRIVER"})
      unsetenv(name);
  }
  BuiltLibrary(const BuiltLibrary&) = delete;
  BuiltLibrary& operator=(const BuiltLibrary&) = delete;

  static void useDriver(const std::string& driver) {
    setenv("NOCTURNE_CUDA_DRIVER", driver.c_str(), 1);
  }
  static void fail(const char* what) { setenv("FAKE_CUDA_FAIL", what, 1); }

  template <typename Function>
  Function find(const char* symbol) const {
    void* found = dlsym(handle_, symbol);
    REQUIRE(found);
    return reinterpret_cast<Function>(found);
  }
  int32_t call(std::vector<void*> args) const {
    return find<int32_t (*)(void* const*, size_t)>("nocturne_main")(args.data(), args.size());
  }
  std::string lastError() const { return find<const char* (*)()>("nocturne_last_error")(); }

  std::string text(const char* name) const { return test::readText(folder_ / name); }
  std::vector<std::string> calls() const {
    std::istringstream text(this->text("log"));
    std::vector<std::string> lines;
    for (std::string line; std::getline(text, line);)
      lines.push_back(line);
    return lines;
  }

private:
  test::ScratchDir folder_;
  void* handle_ = nullptr;
};

// The arguments of kAdd1000.
struct Add1000 {
  std::array<float, 1000> a{}, b{}, sum{};
  std::vector<void*> args() { return {a.data(), b.data(), sum.data()}; }
};

} // namespace

TEST_CASE("a call loads the kernels, copies, launches and copies back") {
  const CudaCode code = compiledForCuda(kAdd1000);
  const BuiltLibrary library(code);
  CHECK(library.calls().empty()); // loading the library touches nothing
  Add1000 call;
  call.sum.fill(7);
  CHECK(library.call(call.args()) == NOCTURNE_CUDA_OK);
  const std::vector<std::string> first = {
      "cuInit",
      "cuDeviceGetCount",
      "cuDeviceGet 0",
      "cuDevicePrimaryCtxRetain",
      "cuCtxPushCurrent",
      "cuModuleLoadDataEx " + std::to_string(code.ptx.size()),
      "cuModuleGetFunction nocturne_main_0",
      "cuMemAlloc 12288",
      "cuMemcpyHtoD 4000",
      "cuMemcpyHtoD 4000",
      "cuLaunchKernel nocturne_main_0 4 1 1 256 1 1",
      "cuCtxSynchronize",
      "cuMemcpyDtoH 4000",
      "cuMemFree",
      "cuCtxPopCurrent",
  };
  CHECK(library.calls() == first);
  CHECK(library.text("ptx") == code.ptx);
  CHECK(call.sum[999] == 0); // what the stand-in's memory had

  // Later calls find everything loaded.
  CHECK(library.call(call.args()) == NOCTURNE_CUDA_OK);
  std::vector<std::string> both = first;
  both.push_back("cuCtxPushCurrent");
  both.insert(both.end(), first.begin() + 7, first.end());
  CHECK(library.calls() == both);
}

TEST_CASE("what a library holds between calls can be given back") {
  const BuiltLibrary library(compiledForCuda(kAdd1000));
  Add1000 call;
  REQUIRE(library.call(call.args()) == NOCTURNE_CUDA_OK);
  library.find<void (*)()>("nocturne_release")();
  const std::vector<std::string> calls = library.calls();
  REQUIRE(calls.size() == 19);
  CHECK(std::vector<std::string>(calls.begin() + 15, calls.end()) ==
        std::vector<std::string>{"cuCtxPushCurrent", "cuModuleUnload", "cuCtxPopCurrent",
                                 "cuDevicePrimaryCtxRelease"});
  CHECK(library.call(call.args()) == NOCTURNE_CUDA_OK);
}

TEST_CASE("constants are uploaded once") {
  const BuiltLibrary library(compiledForCuda(R"(
func.func @main(%a: tensor<2xi16>) -> tensor<2xi16> {
  %0 = stablehlo.constant dense<[1, 258]> : tensor<2xi16>
  %1 = stablehlo.add %a, %0 : tensor<2xi16>
  return %1 : tensor<2xi16>
})"));
  std::array<int16_t, 2> in{}, out{};
  REQUIRE(library.call({in.data(), out.data()}) == NOCTURNE_CUDA_OK);
  const std::vector<std::string> calls = library.calls();
  REQUIRE(calls.size() > 8);
  CHECK(calls[7] == "cuMemAlloc 4");
  CHECK(calls[8] == "cuMemcpyHtoD 4");
}

TEST_CASE("copies on the device carry values from input to result") {
  const BuiltLibrary library(
      compiledForCuda("func.func @main(%a: tensor<3xf64>) -> tensor<3xf64> {\n"
                      "  return %a : tensor<3xf64>\n}"));
  std::array<double, 3> in = {1, 2, 3}, out{};
  REQUIRE(library.call({in.data(), out.data()}) == NOCTURNE_CUDA_OK);
  CHECK(out == in);
}

TEST_CASE("a machine without a driver gives a status and a text") {
  const BuiltLibrary library(compiledForCuda(kAdd1000));
  CHECK(library.lastError().empty());
  BuiltLibrary::useDriver("libnothing-of-this-name.so.1");
  Add1000 call;
  CHECK(library.call(call.args()) == NOCTURNE_CUDA_NO_DRIVER);
  CHECK(contains(library.lastError(), "no CUDA driver: libnothing-of-this-name.so.1"));
  // A driver that has come since is found.
  BuiltLibrary::useDriver(NOCTURNE_TEST_FAKE_CUDA);
  CHECK(library.call(call.args()) == NOCTURNE_CUDA_OK);
}

TEST_CASE("a library that is no driver is told from none") {
  const BuiltLibrary library(compiledForCuda(kAdd1000));
  BuiltLibrary::useDriver("libc.so.6");
  Add1000 call;
  CHECK(library.call(call.args()) == NOCTURNE_CUDA_OLD_DRIVER);
}

TEST_CASE("calls with another number of arguments do nothing") {
  const BuiltLibrary library(compiledForCuda(kAdd1000));
  CHECK(library.call({nullptr}) == NOCTURNE_CUDA_WRONG_COUNT);
  CHECK(library.calls().empty());
}

TEST_CASE("a machine without a device is told from one without a driver") {
  const BuiltLibrary library(compiledForCuda(kAdd1000));
  Add1000 call;
  BuiltLibrary::fail("cuInit=100");
  CHECK(library.call(call.args()) == NOCTURNE_CUDA_NO_DEVICE);
  BuiltLibrary::fail("");
  setenv("FAKE_CUDA_NO_DEVICE", "1", 1);
  CHECK(library.call(call.args()) == NOCTURNE_CUDA_NO_DEVICE);
  CHECK(contains(library.lastError(), "no device"));
}

TEST_CASE("what the driver refuses becomes a status, and all memory is given back") {
  struct Case {
    const char* fault;
    int32_t status;
    const char* text;
  };
  const Case cases[] = {
      {"cuModuleLoadDataEx=218", NOCTURNE_CUDA_JIT_FAILED, "ptxas fatal: as if"},
      {"cuModuleGetFunction=500", NOCTURNE_CUDA_JIT_FAILED, "cuModuleGetFunction"},
      {"cuMemAlloc=2", NOCTURNE_CUDA_OUT_OF_MEMORY, "cuMemAlloc"},
      {"cuMemcpyHtoD=1", NOCTURNE_CUDA_DRIVER_ERROR, "cuMemcpyHtoD of an input"},
      {"cuLaunchKernel=701", NOCTURNE_CUDA_LAUNCH_FAILED, "nocturne_main_0: CUDA_ERROR_AS_IF"},
      {"cuCtxSynchronize=700", NOCTURNE_CUDA_LAUNCH_FAILED, "cuCtxSynchronize"},
      {"cuMemcpyDtoH=1", NOCTURNE_CUDA_DRIVER_ERROR, "cuMemcpyDtoH of a result"},
  };
  const CudaCode code = compiledForCuda(kAdd1000);
  for (const Case& one : cases) {
    CAPTURE(one.fault);
    const BuiltLibrary library(code);
    BuiltLibrary::fail(one.fault);
    Add1000 call;
    CHECK(library.call(call.args()) == one.status);
    CHECK(contains(library.lastError(), one.text));
    const std::vector<std::string> calls = library.calls();
    auto count = [&](const char* start) {
      return std::count_if(calls.begin(), calls.end(),
                           [&](const std::string& line) { return line.starts_with(start); });
    };
    const bool refused = contains(one.fault, "cuMemAlloc");
    CHECK(count("cuMemFree") == (refused ? 0 : count("cuMemAlloc")));
    CHECK(count("cuCtxPushCurrent") == count("cuCtxPopCurrent"));
    BuiltLibrary::fail("");
    CHECK(library.call(call.args()) == NOCTURNE_CUDA_OK);
  }
}

} // namespace nocturne::compiler
