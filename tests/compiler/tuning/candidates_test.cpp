// Every way that the compiler offers by itself can be built and computes what plain loops compute,
// whatever the sizes.
#include <doctest/doctest.h>

#include <limits>

#include "compiler/codegen/flags.h"
#include "compiler/codegen/module_code.h"
#include "compiler/execution/library.h"
#include "compiler/tuning/candidates.h"
#include "compiler/tuning/compare.h"

namespace nocturne::test {

using namespace compiler;

namespace {

using Dims = std::vector<int64_t>;

std::string tensor(const Dims& dims, const std::string& dtype) {
  std::string text = "tensor<";
  for (const int64_t dim : dims)
    text += std::to_string(dim) + 'x';
  return text + dtype + '>';
}

// A function with many results, so that a candidate is built once for all of them.
class Payload {
public:
  void add(const std::string& operation, const std::string& left, const std::string& right,
           const std::string& result) {
    const std::string number = std::to_string(count_++);
    const std::string a = "%a" + number, b = "%b" + number, r = "%r" + number;
    const std::string comma = count_ > 1 ? ", " : "";
    arguments_ += comma + a + ": " + left + ", " + b + ": " + right;
    types_ += comma + result;
    results_ += comma + r;
    std::string line = operation;
    line.replace(line.find("OPERANDS"), 8, a + ", " + b);
    body_ += "  " + r + " = " + line + " : (" + left + ", " + right + ") -> " + result + "\n";
  }

  std::string text() const {
    return "func.func @main(" + arguments_ + ") -> (" + types_ + ") {\n" + body_ + "  return " +
           results_ + " : " + types_ + "\n}";
  }

private:
  size_t count_ = 0;
  std::string arguments_, types_, results_, body_;
};

// A product of matrices, of a batch of them unless `batch` is 0, each stored with rows or with
// columns first.
struct Product {
  int64_t batch, rows, columns, sums;
  bool turnLeft = false, turnRight = false;
  std::string dtype = "f32", result = "";
};

void add(Payload& payload, const Product& p) {
  Dims left = {p.rows, p.sums}, right = {p.sums, p.columns}, result = {p.rows, p.columns};
  if (p.turnLeft)
    std::swap(left[0], left[1]);
  if (p.turnRight)
    std::swap(right[0], right[1]);
  const int first = p.batch > 0 ? 1 : 0;
  if (p.batch > 0)
    for (Dims* dims : {&left, &right, &result})
      dims->insert(dims->begin(), p.batch);
  const auto contracting = [&](bool leading) {
    return "[" + std::to_string(first + (leading ? 0 : 1)) + "]";
  };
  payload.add(std::string("stablehlo.dot_general OPERANDS, ") +
                  (p.batch > 0 ? "batching_dims = [0] x [0], " : "") + "contracting_dims = " +
                  contracting(p.turnLeft) + " x " + contracting(!p.turnRight),
              tensor(left, p.dtype), tensor(right, p.dtype),
              tensor(result, p.result.empty() ? p.dtype : p.result));
}

void addConvolution(Payload& payload, int64_t size, int64_t features, int64_t results,
                    int64_t stride) {
  const std::string by = std::to_string(stride);
  const int64_t kernel = 3, extent = (size + 2 - kernel) / stride + 1;
  payload.add("stablehlo.convolution(OPERANDS) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->"
              "[b, 0, 1, f], window = {stride = [" +
                  by + ", " + by +
                  "], pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, "
                  "feature_group_count = 1 : i64}",
              tensor({2, size, size, features}, "f32"),
              tensor({kernel, kernel, features, results}, "f32"),
              tensor({2, extent, extent, results}, "f32"));
}

ModuleCode compiled(const std::string& text, const Candidate& candidate, bool keepStages = false) {
  CompileOptions options;
  options.target = cpuTarget("native");
  options.level = 0; // what candidates differ in is done by then, and LLVM takes most of the time
  options.keepStages = keepStages;
  readFlags(flagsOf(candidate), options);
  ModuleCode code;
  Failure failure;
  const bool worked = mlir::succeeded(compileText(text, "payload.mlir", options, code, failure));
  INFO(failure.text());
  REQUIRE(worked);
  return code;
}

// An infinity in each real one: elements that are computed besides the matrix must not mix with it.
std::vector<TensorData> inputsOf(const LibraryEntry& entry) {
  std::vector<TensorData> inputs;
  for (const LibraryArgument& argument : entry.arguments) {
    if (argument.direction != LibraryArgument::Direction::In)
      continue;
    TensorData& input = inputs.emplace_back(argument);
    fillRandom(input, inputs.size());
    if (input.format().kind == ElementFormat::Kind::Real && !input.format().isComplex &&
        input.count() > 0)
      input.setValue(0, std::numeric_limits<double>::infinity());
  }
  return inputs;
}

std::vector<TensorData> resultsOf(const ModuleCode& code, const std::vector<TensorData>& inputs) {
  std::vector<const TensorData*> addresses;
  for (const TensorData& input : inputs)
    addresses.push_back(&input);
  const LoadedLibrary library(code.object);
  PreparedCall call(library, code.entries.at(0), addresses);
  call.run();
  return std::move(call.results());
}

std::vector<Candidate> allFor(const std::string& text) {
  Task task;
  task.payload = {"payload.mlir", text};
  task.searchSpace = SearchSpace::Large;
  return candidatesOf(task, parseTarget("cpu"));
}

void expectAllRight(const std::string& text) {
  const ModuleCode reference = compiled(text, referenceCandidate());
  const std::vector<TensorData> inputs = inputsOf(reference.entries.at(0));
  const std::vector<TensorData> wanted = resultsOf(reference, inputs);
  for (const Candidate& candidate : allFor(text)) {
    INFO(candidate.name);
    const std::vector<TensorData> got = resultsOf(compiled(text, candidate), inputs);
    REQUIRE(got.size() == wanted.size());
    for (size_t i = 0; i < got.size(); ++i) {
      INFO("result " << i << ", " << got[i].typeText());
      CHECK(difference(got[i], wanted[i], std::nullopt).value_or("right") == "right");
    }
  }
}

void expectAllRight(const std::vector<Product>& products) {
  Payload payload;
  for (const Product& product : products)
    add(payload, product);
  expectAllRight(payload.text());
}

} // namespace

TEST_CASE("every candidate computes products of awkward sizes") {
  SUBCASE("smaller than tiles") {
    expectAllRight(
        {{0, 1, 1, 1}, {0, 1, 3, 7}, {0, 3, 1, 17}, {0, 7, 17, 1}, {0, 0, 5, 3}, {0, 5, 3, 0}});
  }
  SUBCASE("of about the size of blocks") {
    expectAllRight({{0, 17, 33, 64}, {0, 64, 64, 64}, {0, 100, 64, 33}, {0, 1, 64, 100}});
  }
  SUBCASE("larger than blocks") {
    expectAllRight({{0, 131, 523, 137}, {0, 521, 100, 67}});
  }
}

TEST_CASE("every candidate computes batches of products") {
  expectAllRight({{3, 1, 7, 3}, {2, 17, 33, 64}, {2, 64, 64, 64}, {3, 67, 100, 131}});
}

TEST_CASE("every candidate computes products of transposed matrices") {
  expectAllRight(
      {{0, 17, 33, 64, true, false}, {0, 64, 64, 64, false, true}, {2, 67, 7, 100, true, true}});
}

TEST_CASE("every candidate computes products of any element type") {
  std::vector<Product> products;
  for (const char* dtype : {"f64", "bf16", "ui8", "i64", "complex<f32>"})
    products.push_back({0, 17, 33, 7, false, false, dtype});
  products.push_back({2, 7, 17, 33, false, false, "i8", "i32"});
  products.push_back({0, 64, 32, 64, false, false, "f16", "f32"});
  expectAllRight(products);
}

TEST_CASE("every candidate computes convolutions of awkward sizes") {
  Payload payload;
  addConvolution(payload, 3, 1, 1, 1);
  addConvolution(payload, 17, 3, 33, 2);
  expectAllRight(payload.text());
}

TEST_CASE("schedules need no masks where tiles divide matrices, and keep sums in registers") {
  Payload payload;
  add(payload, {0, 64, 64, 64});
  add(payload, {2, 8, 64, 128});
  size_t schedules = 0;
  for (const Candidate& candidate : allFor(payload.text())) {
    if (candidate.schedule.empty())
      continue;
    ++schedules;
    INFO(candidate.name);
    const ModuleCode code = compiled(payload.text(), candidate, true);
    for (const auto& [name, text] : code.stages) {
      if (name != "scheduled")
        continue;
      CHECK(text.find("mask") == std::string::npos);
      CHECK(text.find("iter_args(%arg") != std::string::npos);
      CHECK(text.find("-> (vector<") != std::string::npos);
    }
  }
  CHECK(schedules > 3);
}

} // namespace nocturne::test
