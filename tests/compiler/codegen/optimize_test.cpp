// What the optimisations make is compared with plain loops, for every kind of vectors this machine
// has.
#include <bit>
#include <cmath>
#include <functional>
#include <limits>

#include <doctest/doctest.h>

#include "compiler/codegen/module_code.h"
#include "compiler/execution/library.h"

namespace nocturne::compiler {

namespace {

std::vector<std::string> processors() {
  std::vector<std::string> names{"x86-64"};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    names.emplace_back("x86-64-v3");
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl"))
    names.emplace_back("x86-64-v4");
  return names;
}

ModuleCode compiled(const std::string& text, const std::string& cpu, bool keepStages = false) {
  CompileOptions options;
  options.target = cpuTarget(cpu);
  options.keepStages = keepStages;
  ModuleCode code;
  Failure failure;
  bool worked = mlir::succeeded(compileText(text, "test.mlir", options, code, failure));
  INFO(failure.text());
  REQUIRE(worked);
  return code;
}

// The results of the only function of `text`.
std::vector<TensorData> run(const std::string& text, const std::string& cpu,
                            const std::vector<const TensorData*>& inputs) {
  ModuleCode code = compiled(text, cpu);
  LoadedLibrary library(code.object);
  PreparedCall call(library, code.entries.at(0), inputs);
  call.run();
  return std::move(call.results());
}

// Small whole numbers, whose sums are exact in any order.
TensorData wholeNumbers(const std::string& dtype, const std::vector<int64_t>& dims, uint32_t seed) {
  TensorData tensor(dtype, dims);
  for (size_t i = 0; i < tensor.count(); ++i) {
    seed = seed * 1664525U + 1013904223U;
    tensor.setValue(i, double(seed >> 29) - 3);
  }
  return tensor;
}

int64_t place(const std::vector<int64_t>& index, const std::vector<int64_t>& dims) {
  int64_t at = 0;
  for (size_t i = 0; i < dims.size(); ++i)
    at = at * dims[i] + index[i];
  return at;
}

// Calls `body` for every index below `dims`, of which none is 0.
void forEach(const std::vector<int64_t>& dims,
             const std::function<void(const std::vector<int64_t>&)>& body) {
  std::vector<int64_t> index(dims.size(), 0);
  for (;;) {
    body(index);
    size_t at = dims.size();
    while (at > 0 && ++index[at - 1] == dims[at - 1])
      index[--at] = 0;
    if (at == 0)
      return;
  }
}

size_t differences(const TensorData& a, const TensorData& b) {
  REQUIRE(a.dims() == b.dims());
  size_t count = 0;
  for (size_t i = 0; i < a.count(); ++i)
    count += a.value(i) != b.value(i);
  return count;
}

std::string typeOf(const TensorData& tensor) {
  return "tensor<" + tensor.typeText() + ">";
}

// A product of a batch of matrices, each stored with rows first or columns first.
struct Case {
  int64_t batch, rows, columns, sums;
  bool turnLeft = false, turnRight = false;
  std::string dtype = "f32";
};

void expectProduct(const Case& c) {
  auto matrix = [&](int64_t rows, int64_t columns, bool turn) {
    return turn ? std::vector{c.batch, columns, rows} : std::vector{c.batch, rows, columns};
  };
  TensorData a = wholeNumbers(c.dtype, matrix(c.rows, c.sums, c.turnLeft), 1);
  TensorData b = wholeNumbers(c.dtype, matrix(c.sums, c.columns, c.turnRight), 2);
  TensorData expected(c.dtype, {c.batch, c.rows, c.columns});
  forEach(expected.dims(), [&](const std::vector<int64_t>& at) {
    double sum = 0;
    for (int64_t k = 0; k < c.sums; ++k) {
      auto element = [&](const TensorData& tensor, int64_t row, int64_t column, bool turn) {
        std::vector<int64_t> index =
            turn ? std::vector{at[0], column, row} : std::vector{at[0], row, column};
        return tensor.value(size_t(place(index, tensor.dims())));
      };
      sum += element(a, at[1], k, c.turnLeft) * element(b, k, at[2], c.turnRight);
    }
    expected.setValue(size_t(place(at, expected.dims())), sum);
  });
  std::string text =
      "func.func @main(%a: " + typeOf(a) + ", %b: " + typeOf(b) + ") -> " + typeOf(expected) +
      " {\n  %0 = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], "
      "contracting_dims = [" +
      (c.turnLeft ? "1" : "2") + "] x [" + (c.turnRight ? "2" : "1") + "] : (" + typeOf(a) + ", " +
      typeOf(b) + ") -> " + typeOf(expected) + "\n  return %0 : " + typeOf(expected) + "\n}";
  for (const std::string& cpu : processors()) {
    INFO(cpu << ": " << text);
    CHECK(differences(run(text, cpu, {&a, &b})[0], expected) == 0);
  }
}

// A convolution of images with features innermost or outermost.
struct Window {
  int64_t stride = 1, pad = 0, dilation = 1;
  bool featuresFirst = false;
  int64_t features = 24, results = 40;
};

void expectConvolution(const Window& w) {
  constexpr int64_t batch = 2, height = 9, width = 13, kernel = 3;
  const int64_t reach = (kernel - 1) * w.dilation + 1;
  auto extent = [&](int64_t size) { return (size + 2 * w.pad - reach) / w.stride + 1; };
  auto image = [&](int64_t rows, int64_t columns, int64_t features) {
    return w.featuresFirst ? std::vector{batch, features, rows, columns}
                           : std::vector{batch, rows, columns, features};
  };
  TensorData a = wholeNumbers("f32", image(height, width, w.features), 3);
  TensorData b = wholeNumbers("f32", {kernel, kernel, w.features, w.results}, 4);
  TensorData expected("f32", image(extent(height), extent(width), w.results));
  auto element = [&](int64_t n, int64_t y, int64_t x, int64_t f) {
    return w.featuresFirst ? std::vector{n, f, y, x} : std::vector{n, y, x, f};
  };
  forEach({batch, extent(height), extent(width), w.results}, [&](const std::vector<int64_t>& at) {
    double sum = 0;
    forEach({kernel, kernel, w.features}, [&](const std::vector<int64_t>& k) {
      const int64_t y = at[1] * w.stride + k[0] * w.dilation - w.pad;
      const int64_t x = at[2] * w.stride + k[1] * w.dilation - w.pad;
      if (y >= 0 && y < height && x >= 0 && x < width)
        sum += a.value(size_t(place(element(at[0], y, x, k[2]), a.dims()))) *
               b.value(size_t(place({k[0], k[1], k[2], at[3]}, b.dims())));
    });
    expected.setValue(size_t(place(element(at[0], at[1], at[2], at[3]), expected.dims())), sum);
  });
  auto pair = [](int64_t value) {
    return "[" + std::to_string(value) + ", " + std::to_string(value) + "]";
  };
  std::string layout = w.featuresFirst ? "[b, f, 0, 1]" : "[b, 0, 1, f]";
  std::string text =
      "func.func @main(%a: " + typeOf(a) + ", %b: " + typeOf(b) + ") -> " + typeOf(expected) +
      " {\n  %0 = stablehlo.convolution(%a, %b) dim_numbers = " + layout + "x[0, 1, i, o]->" +
      layout + ", window = {stride = " + pair(w.stride) + ", pad = [" + pair(w.pad) + ", " +
      pair(w.pad) + "], rhs_dilate = " + pair(w.dilation) +
      "} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (" + typeOf(a) + ", " +
      typeOf(b) + ") -> " + typeOf(expected) + "\n  return %0 : " + typeOf(expected) + "\n}";
  for (const std::string& cpu : processors()) {
    INFO(cpu << ": " << text);
    CHECK(differences(run(text, cpu, {&a, &b})[0], expected) == 0);
  }
}

// The distance of a result from the value of `exact` in units of its last place.
double unitsApart(float result, double exact) {
  if (std::isnan(exact))
    return std::isnan(result) ? 0 : std::numeric_limits<double>::infinity();
  if (std::isinf(float(exact)) || std::isinf(result))
    return result == float(exact) ? 0 : std::numeric_limits<double>::infinity();
  const int exponent = exact == 0 ? -126 : std::max(std::ilogb(exact), -126);
  return std::abs(double(result) - exact) / std::ldexp(1.0, exponent - 23);
}

void expectFunction(const std::string& operation, double (*exact)(double)) {
  TensorData x("f32", {1 << 16});
  for (size_t i = 0; i < x.count(); ++i)
    x.setBits(i, i * 65537 + 1); // of all sizes and signs, infinities and NaN among them
  const std::vector<float> special = {0.0F,     -0.0F,   std::numeric_limits<float>::infinity(),
                                      88.7228F, -103.9F, -87.5F,
                                      0.62499F, 0.625F,  1.0F};
  for (size_t i = 0; i < special.size(); ++i)
    x.setBits(i, std::bit_cast<uint32_t>(special[i]));
  for (size_t i = 0; i < 16384; ++i)
    x.setValue(1000 + i, (double(i) - 8192) / 800);
  std::string text =
      "func.func @main(%x: tensor<65536xf32>) -> tensor<65536xf32> {\n  %0 = " + operation +
      " %x : tensor<65536xf32>\n  return %0 : tensor<65536xf32>\n}";
  for (const std::string& cpu : processors()) {
    const std::vector<TensorData> results = run(text, cpu, {&x});
    const TensorData& y = results[0];
    double worst = 0;
    for (size_t i = 0; i < x.count(); ++i)
      worst = std::max(worst, unitsApart(float(y.value(i)), exact(x.value(i))));
    INFO(operation << " on " << cpu);
    CHECK(worst < 2);
    for (size_t i = 0; i < 2; ++i) // of zeros the sign counts
      CHECK(std::signbit(y.value(i)) == std::signbit(exact(x.value(i))));
  }
}

std::string softmax(const std::string& rows, const std::string& columns) {
  std::string all = "tensor<" + rows + "x" + columns + "xf32>", row = "tensor<" + rows + "xf32>";
  return "func.func @main(%a: " + all + ") -> " + all + R"( {
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%a init: %low) applies stablehlo.maximum across dimensions = [1] : ()" +
         all + ", tensor<f32>) -> " + row + R"(
  %1 = stablehlo.broadcast_in_dim %0, dims = [0] : ()" +
         row + ") -> " + all + R"(
  %2 = stablehlo.subtract %a, %1 : )" +
         all + R"(
  %3 = stablehlo.exponential %2 : )" +
         all + R"(
  %4 = stablehlo.reduce(%3 init: %zero) applies stablehlo.add across dimensions = [1] : ()" +
         all + ", tensor<f32>) -> " + row + R"(
  %5 = stablehlo.broadcast_in_dim %4, dims = [0] : ()" +
         row + ") -> " + all + R"(
  %6 = stablehlo.divide %3, %5 : )" +
         all + "\n  return %6 : " + all + "\n}";
}

// Compares a softmax with one computed in double precision.
void expectSoftmax(size_t rows, size_t columns) {
  TensorData a("f32", {int64_t(rows), int64_t(columns)});
  fillRandom(a, 5);
  for (const std::string& cpu : processors()) {
    const std::vector<TensorData> results =
        run(softmax(std::to_string(rows), std::to_string(columns)), cpu, {&a});
    const TensorData& result = results[0];
    size_t wrong = 0;
    for (size_t row = 0; row < rows; ++row) {
      double sum = 0;
      for (size_t i = 0; i < columns; ++i)
        sum += std::exp(a.value(row * columns + i));
      for (size_t i = 0; i < columns; ++i)
        wrong += result.value(row * columns + i) !=
                 doctest::Approx(std::exp(a.value(row * columns + i)) / sum).epsilon(1e-6);
    }
    INFO(rows << " rows of " << columns << " on " << cpu);
    CHECK(wrong == 0);
  }
}

size_t occurrences(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++count;
  return count;
}

} // namespace

TEST_CASE("matrix products of any shape and layout are exact for whole numbers") {
  expectProduct({1, 64, 64, 64});
  expectProduct({1, 37, 71, 53});
  expectProduct({1, 37, 71, 53, true, false});
  expectProduct({1, 37, 71, 53, false, true});
  expectProduct({1, 37, 71, 53, true, true, "f64"});
  expectProduct({1, 1, 300, 70});
  expectProduct({1, 3, 77, 100});
  expectProduct({1, 130, 16, 9});
  expectProduct({3, 13, 40, 21});
  expectProduct({2, 29, 33, 35, true, true});
  expectProduct({1, 70, 1, 70}); // no columns to speak of: plain loops
}

TEST_CASE("products larger than their blocks are exact for whole numbers") {
  expectProduct({1, 300, 50, 1030});
  expectProduct({1, 13, 6000, 400, false, true});
}

TEST_CASE("convolutions are products of windows") {
  expectConvolution({});
  expectConvolution({1, 1});
  expectConvolution({2, 1});
  expectConvolution({1, 2, 2});
  expectConvolution({2, 1, 1, true});
  expectConvolution({1, 1, 1, false, 3, 5});
}

TEST_CASE("elementary functions of f32 are arithmetic with small errors") {
  expectFunction("stablehlo.exponential", [](double x) { return std::exp(x); });
  expectFunction("stablehlo.log", [](double x) { return std::log(x); });
  expectFunction("stablehlo.tanh", [](double x) { return std::tanh(x); });
}

TEST_CASE("a softmax goes through its rows once") {
  ModuleCode code = compiled(softmax("64", "96"), "x86-64", true);
  for (const auto& [name, text] : code.stages)
    if (name == "buffers")
      CHECK(occurrences(text, "scf.for") == 4); // one over rows, in it three over columns
}

TEST_CASE("rows that share a loop have the values that they have by themselves") {
  expectSoftmax(33, 50);
}

TEST_CASE("rows of a large buffer, of which the next is asked for, have their own values") {
  expectSoftmax(300, 1001);
  expectSoftmax(9, 32769); // too long for that
}

TEST_CASE("reductions along any dimension are exact for whole numbers, and NaN stays") {
  TensorData a = wholeNumbers("f32", {40, 7, 50}, 6);
  a.setValue(3, std::numeric_limits<double>::quiet_NaN());
  for (const std::string& cpu : processors())
    for (size_t dim = 0; dim < 3; ++dim) {
      std::vector<int64_t> dims = a.dims();
      dims.erase(dims.begin() + int64_t(dim));
      TensorData sums("f32", dims), most("f32", dims);
      fillConstant(most, -100);
      forEach(a.dims(), [&](std::vector<int64_t> at) {
        const double value = a.value(size_t(place(at, a.dims())));
        at.erase(at.begin() + int64_t(dim));
        const auto to = size_t(place(at, dims));
        sums.setValue(to, sums.value(to) + value);
        most.setValue(to, std::isnan(value) || std::isnan(most.value(to))
                              ? std::numeric_limits<double>::quiet_NaN()
                              : std::max(most.value(to), value));
      });
      auto reduce = [&](const std::string& operation) {
        return "stablehlo.reduce(%a init: %i) applies " + operation + " across dimensions = [" +
               std::to_string(dim) + "] : (" + typeOf(a) + ", tensor<f32>) -> " + typeOf(sums) +
               "\n";
      };
      std::vector<TensorData> results =
          run("func.func @main(%a: " + typeOf(a) + ", %i: tensor<f32>) -> (" + typeOf(sums) + ", " +
                  typeOf(sums) + ") {\n  %0 = " + reduce("stablehlo.add") +
                  "  %1 = " + reduce("stablehlo.maximum") + "  return %0, %1 : " + typeOf(sums) +
                  ", " + typeOf(sums) + "\n}",
              cpu, {&a, [] {
                      static const TensorData zero("f32", {});
                      return &zero;
                    }()});
      for (size_t i = 0; i < sums.count(); ++i) {
        const double sum = sums.value(i),
                     top = std::isnan(most.value(i)) ? most.value(i) : std::max(most.value(i), 0.0);
        CHECK((results[0].value(i) == sum || (std::isnan(results[0].value(i)) && std::isnan(sum))));
        CHECK((results[1].value(i) == top || (std::isnan(results[1].value(i)) && std::isnan(top))));
      }
    }
}

TEST_CASE("sums that are taken where their elements are written have the values of plain loops") {
  constexpr int64_t rows = 24, columns = 100;
  const TensorData a = wholeNumbers("f32", {rows, columns}, 7);
  TensorData squares("f32", a.dims()), below("f32", a.dims());
  TensorData sums("f32", {rows}), most("f32", {rows}), sumsBelow("f32", {rows});
  for (size_t row = 0; row < size_t(rows); ++row) {
    const size_t first = row * size_t(columns), end = first + size_t(columns);
    double top = 0, sum = 0, sumBelow = 0;
    for (size_t i = first; i < end; ++i) {
      squares.setValue(i, a.value(i) * a.value(i));
      sum += squares.value(i);
      top = std::max(top, squares.value(i));
    }
    for (size_t i = first; i < end; ++i) {
      below.setValue(i, squares.value(i) - top);
      sumBelow += below.value(i);
    }
    sums.setValue(row, sum);
    most.setValue(row, top);
    sumsBelow.setValue(row, sumBelow);
  }
  const std::string all = typeOf(a), row = typeOf(sums);
  auto reduce = [&](const std::string& value, const std::string& operation) {
    return "stablehlo.reduce(" + value + " init: %zero) applies " + operation +
           " across dimensions = [1] : (" + all + ", tensor<f32>) -> " + row + "\n";
  };
  const std::string types = all + ", " + all + ", " + row + ", " + row + ", " + row;
  const std::string text =
      "func.func @main(%a: " + all + ") -> (" + types +
      ") {\n  %zero = stablehlo.constant dense<0.0> : tensor<f32>\n"
      "  %0 = stablehlo.multiply %a, %a : " +
      all + "\n  %1 = " + reduce("%0", "stablehlo.maximum") +
      "  %2 = stablehlo.broadcast_in_dim %1, dims = [0] : (" + row + ") -> " + all +
      "\n  %3 = stablehlo.subtract %0, %2 : " + all + "\n  %4 = " + reduce("%0", "stablehlo.add") +
      "  %5 = " + reduce("%3", "stablehlo.add") + "  return %0, %3, %4, %1, %5 : " + types + "\n}";
  for (const std::string& cpu : processors()) {
    INFO(cpu << ": " << text);
    const std::vector<TensorData> results = run(text, cpu, {&a});
    const TensorData* expected[] = {&squares, &below, &sums, &most, &sumsBelow};
    for (size_t i = 0; i < results.size(); ++i)
      CHECK(differences(results[i], *expected[i]) == 0);
  }
}

TEST_CASE("sums over windows keep the order of their places") {
  TensorData a("f32", {20, 48});
  fillRandom(a, 9);
  struct Sizes {
    int64_t rows, columns;
  };
  for (const Sizes& window : {Sizes{1, 16}, Sizes{1, 48}, Sizes{16, 1}, Sizes{5, 32}}) {
    for (const bool ofSquares : {false, true}) {
      TensorData expected("f32", {20 - window.rows + 1, 48 - window.columns + 1});
      forEach(expected.dims(), [&](const std::vector<int64_t>& at) {
        float sum = 0;
        forEach({window.rows, window.columns}, [&](const std::vector<int64_t>& in) {
          const auto value =
              float(a.value(size_t(place({at[0] + in[0], at[1] + in[1]}, a.dims()))));
          const float term = ofSquares ? value * value : value;
          sum += term;
        });
        expected.setValue(size_t(place(at, expected.dims())), double(sum));
      });
      const std::string text =
          "func.func @main(%a: " + typeOf(a) + ") -> " + typeOf(expected) +
          " {\n  %zero = stablehlo.constant dense<0.0> : tensor<f32>\n" +
          (ofSquares ? "  %0 = stablehlo.multiply %a, %a : " : "  %0 = stablehlo.negate %a : ") +
          typeOf(a) + "\n  %1 = \"stablehlo.reduce_window\"(" + (ofSquares ? "%0" : "%a") +
          ", %zero) <{window_dimensions = array<i64: " + std::to_string(window.rows) + ", " +
          std::to_string(window.columns) +
          ">}> ({\n  ^bb0(%x: tensor<f32>, %y: tensor<f32>):\n"
          "    %2 = stablehlo.add %x, %y : tensor<f32>\n"
          "    stablehlo.return %2 : tensor<f32>\n  }) : (" +
          typeOf(a) + ", tensor<f32>) -> " + typeOf(expected) +
          "\n  return %1 : " + typeOf(expected) + "\n}";
      for (const std::string& cpu : processors()) {
        INFO(cpu << ": " << text);
        CHECK(differences(run(text, cpu, {&a})[0], expected) == 0);
      }
    }
  }
}

} // namespace nocturne::compiler
