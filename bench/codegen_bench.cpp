// The speed of compiled code on one thread beside what the machine does otherwise: OpenBLAS for
// matrix products (left out, with a line that says so, where it is not installed) and memcpy for
// what only moves data. Times are processor times, the best of several repetitions of each.
// usage: codegen_bench [FLAGS OF GOOGLE BENCHMARK]
// After the table, each figure with its ratio is printed on a line of its own: name, value, unit.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>
#include <dlfcn.h>

#include "compiler/codegen/module_code.h"
#include "compiler/execution/library.h"

namespace {

using namespace nocturne;
using namespace nocturne::compiler;

// A compiled function with inputs of random numbers.
class Kernel {
public:
  explicit Kernel(const std::string& text) {
    CompileOptions options;
    options.target = cpuTarget("native");
    ModuleCode code;
    Failure failure;
    if (mlir::failed(compileText(text, "bench.mlir", options, code, failure))) {
      std::fprintf(stderr, "%s\n", failure.text().c_str());
      std::exit(1);
    }
    library_ = std::make_unique<LoadedLibrary>(code.object);
    const LibraryEntry& entry = code.entries.at(0);
    for (const LibraryArgument& argument : entry.arguments)
      if (argument.direction == LibraryArgument::Direction::In)
        fillRandom(inputs_.emplace_back(argument), inputs_.size() + 1);
    std::vector<const TensorData*> addresses;
    for (const TensorData& input : inputs_)
      addresses.push_back(&input);
    call_ = std::make_unique<PreparedCall>(*library_, entry, addresses);
  }

  void run() { call_->run(); }

private:
  std::unique_ptr<LoadedLibrary> library_;
  std::vector<TensorData> inputs_;
  std::unique_ptr<PreparedCall> call_;
};

std::string function(const std::string& arguments, const std::string& result,
                     const std::string& body) {
  return "func.func @main(" + arguments + ") -> " + result + " {\n" + body +
         "  return %r : " + result + "\n}";
}

std::string matrixProduct(int64_t n) {
  const std::string size = std::to_string(n), type = "tensor<" + size + "x" + size + "xf32>";
  return function("%a: " + type + ", %b: " + type, type,
                  "  %r = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (" + type +
                      ", " + type + ") -> " + type + "\n");
}

std::string convolution() {
  const std::string type = "tensor<8x56x56x64xf32>", kernel = "tensor<3x3x64x64xf32>";
  return function("%a: " + type + ", %b: " + kernel, type,
                  "  %r = stablehlo.convolution(%a, %b) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->"
                  "[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, "
                  "feature_group_count = 1 : i64} : (" +
                      type + ", " + kernel + ") -> " + type + "\n");
}

const std::string kRows = "tensor<4096x4096xf32>", kRow = "tensor<4096xf32>";
constexpr double kRowsBytes = 2.0 * 4096 * 4096 * sizeof(float); // read once and written once

std::string elementwiseChain() {
  return function("%a: " + kRows + ", %b: " + kRow, kRows,
                  "  %0 = stablehlo.broadcast_in_dim %b, dims = [1] : (" + kRow + ") -> " + kRows +
                      "\n  %1 = stablehlo.add %a, %0 : " + kRows +
                      "\n  %2 = stablehlo.multiply %1, %a : " + kRows +
                      "\n  %r = stablehlo.subtract %2, %0 : " + kRows + "\n");
}

std::string softmax() {
  const std::string reduces = " across dimensions = [1] : (" + kRows + ", tensor<f32>) -> " + kRow;
  const std::string spreads = ", dims = [0] : (" + kRow + ") -> " + kRows + "\n";
  return function("%a: " + kRows, kRows,
                  "  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>\n"
                  "  %zero = stablehlo.constant dense<0.0> : tensor<f32>\n"
                  "  %0 = stablehlo.reduce(%a init: %low) applies stablehlo.maximum" +
                      reduces + "\n  %1 = stablehlo.broadcast_in_dim %0" + spreads +
                      "  %2 = stablehlo.subtract %a, %1 : " + kRows +
                      "\n  %3 = stablehlo.exponential %2 : " + kRows +
                      "\n  %4 = stablehlo.reduce(%3 init: %zero) applies stablehlo.add" + reduces +
                      "\n  %5 = stablehlo.broadcast_in_dim %4" + spreads +
                      "  %r = stablehlo.divide %3, %5 : " + kRows + "\n");
}

// `amount` of work, in floating-point operations or bytes, for each run.
void measureKernel(benchmark::State& state, const std::string& text, double amount) {
  Kernel kernel(text);
  kernel.run();
  for (auto _ : state)
    kernel.run();
  state.counters["rate"] =
      benchmark::Counter(amount, benchmark::Counter::kIsIterationInvariantRate);
}

using Sgemm = void (*)(int, int, int, int, int, int, float, const float*, int, const float*, int,
                       float, float*, int);

Sgemm findOpenBlas() {
  setenv("OPENBLAS_NUM_THREADS", "1", 1); // read when it is loaded
  void* library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
  return library ? reinterpret_cast<Sgemm>(dlsym(library, "cblas_sgemm")) : nullptr;
}

void measureOpenBlas(benchmark::State& state, Sgemm multiply, int n) {
  const auto count = size_t(n) * size_t(n);
  std::vector<float> a(count, 0.5F), b(count, 0.25F), c(count);
  constexpr int rowMajor = 101, plain = 111;
  auto run = [&] {
    multiply(rowMajor, plain, plain, n, n, n, 1, a.data(), n, b.data(), n, 0, c.data(), n);
  };
  run();
  for (auto _ : state)
    run();
  state.counters["rate"] =
      benchmark::Counter(2.0 * n * n * n, benchmark::Counter::kIsIterationInvariantRate);
}

void measureMemcpy(benchmark::State& state) {
  std::vector<char> from(size_t(kRowsBytes / 2), 1), to(from.size());
  for (auto _ : state) {
    std::memcpy(to.data(), from.data(), from.size());
    benchmark::DoNotOptimize(to.data());
  }
  state.counters["rate"] =
      benchmark::Counter(kRowsBytes, benchmark::Counter::kIsIterationInvariantRate);
}

// Keeps the best rate of each benchmark.
class BestRates : public benchmark::ConsoleReporter {
public:
  void ReportRuns(const std::vector<Run>& runs) override {
    ConsoleReporter::ReportRuns(runs);
    for (const Run& run : runs)
      if (run.run_type == Run::RT_Iteration)
        if (auto rate = run.counters.find("rate"); rate != run.counters.end())
          best_[run.run_name.function_name] =
              std::max(best_[run.run_name.function_name], double(rate->second));
  }

  void print(const std::string& name, const char* unit, const std::string& baseline) const {
    auto found = best_.find(name), other = best_.find(baseline);
    if (found == best_.end())
      return;
    std::printf("%s %.1f %s\n", name.c_str(), found->second * 1e-9, unit);
    if (other != best_.end())
      std::printf("%s/%s %.2f ratio\n", name.c_str(), baseline.c_str(),
                  found->second / other->second);
  }

private:
  std::map<std::string, double> best_;
};

void add(const std::string& name, std::function<void(benchmark::State&)> measure) {
  constexpr int repetitions = 7;
  benchmark::RegisterBenchmark(name.c_str(), std::move(measure))->Repetitions(repetitions);
}

void addKernel(const std::string& name, const std::string& text, double amount) {
  add(name, [=](benchmark::State& state) { measureKernel(state, text, amount); });
}

} // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv))
    return 2;
  Sgemm multiply = findOpenBlas();
  if (!multiply)
    std::puts("no OpenBLAS (libopenblas.so.0): its figures are left out");
  for (int n : {512, 1024}) {
    const std::string size = std::to_string(n);
    addKernel("matmul_f32_" + size, matrixProduct(n), 2.0 * n * n * n);
    if (multiply)
      add("openblas_f32_" + size,
          [=](benchmark::State& state) { measureOpenBlas(state, multiply, n); });
  }
  addKernel("convolution_f32", convolution(), 2.0 * 8 * 56 * 56 * 64 * 64 * 9);
  add("memcpy", measureMemcpy);
  addKernel("elementwise_f32", elementwiseChain(), kRowsBytes);
  addKernel("softmax_f32", softmax(), kRowsBytes);
  BestRates rates;
  benchmark::RunSpecifiedBenchmarks(&rates);
  for (const char* size : {"512", "1024"})
    rates.print(std::string("matmul_f32_") + size, "GFLOP/s", std::string("openblas_f32_") + size);
  rates.print("convolution_f32", "GFLOP/s", "matmul_f32_512");
  rates.print("elementwise_f32", "GB/s", "memcpy");
  rates.print("softmax_f32", "GB/s", "memcpy");
}
