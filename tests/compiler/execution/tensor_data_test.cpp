#include "compiler/execution/tensor_data.h"

#include <cstdint>
#include <limits>

#include <doctest/doctest.h>

#include "engine/error.h"
#include "tests/support/scratch_dir.h"

namespace nocturne::compiler {

namespace {

TensorData counting(const char* dtype, std::vector<int64_t> dims) {
  TensorData tensor(dtype, std::move(dims));
  for (size_t i = 0; i < tensor.componentCount(); ++i)
    tensor.setValue(i, double(i));
  return tensor;
}

LibraryArgument argument(const char* dtype, std::vector<int64_t> dims) {
  return {LibraryArgument::Direction::In, dtype, std::move(dims), 0};
}

} // namespace

TEST_CASE("a tensor begins aligned and zero") {
  TensorData tensor("f32", {3, 5});
  CHECK(reinterpret_cast<uintptr_t>(tensor.data()) % 64 == 0);
  CHECK(tensor.bytes() == 60);
  CHECK(tensor.value(14) == 0);
}

TEST_CASE("tensors are shown as nested lists") {
  CHECK(counting("i32", {2, 3}).text() == "i32[2,3] = [[0, 1, 2], [3, 4, 5]]");
  CHECK(counting("f64", {}).text() == "f64[] = 0");
  CHECK(counting("complex<f32>", {2}).text() == "complex<f32>[2] = [(0,1), (2,3)]");
  CHECK(counting("i32", {0, 3}).text() == "i32[0,3] = []");
  CHECK(counting("i32", {9}).text(2) == "i32[9] = [0, 1, ...");
  CHECK(counting("ui8", {2, 2}).typeText() == "2x2xui8");
  CHECK(counting("ui8", {2, 3}).placeText(4) == "[1,1]");
}

TEST_CASE("sizes beyond memory and sizes that are not fixed are refused") {
  CHECK_THROWS_AS(TensorData("f32", {LibraryArgument::kDynamic}), UsageError);
  CHECK_THROWS_AS(TensorData("f32", {-2, -2}), UsageError);
  CHECK_THROWS_AS(TensorData("f32", {int64_t{1} << 40, int64_t{1} << 40}), UsageError);
}

TEST_CASE("random tensors depend on the seed alone") {
  TensorData first("f32", {16}), second("f32", {16}), third("f32", {16});
  fillRandom(first, 1);
  fillRandom(second, 1);
  fillRandom(third, 2);
  CHECK(first.text() == second.text());
  CHECK(first.text() != third.text());
}

TEST_CASE("the scale is the standard deviation of random reals and leaves integers alone") {
  TensorData first("f64", {10000}), second("f64", {10000});
  fillRandom(first, 1);
  fillRandom(second, 1, 0.25);
  double squares = 0;
  for (size_t i = 0; i < second.count(); ++i) {
    REQUIRE(second.value(i) == first.value(i) * 0.25);
    squares += second.value(i) * second.value(i);
  }
  // Of 10,000 numbers, the mean square is within 6 % of the variance: four standard errors.
  CHECK(squares / 10000 == doctest::Approx(0.0625).epsilon(0.06));
  TensorData whole("i32", {16}), scaled("i32", {16});
  fillRandom(whole, 1);
  fillRandom(scaled, 1, 0);
  CHECK(whole.text() == scaled.text());
}

TEST_CASE("statistics are of the finite numbers and count the others") {
  TensorData tensor = counting("f32", {2, 3});
  const std::string all = tensor.statisticsText();
  CHECK(all.starts_with("f32[2,3]: 0 to 5, mean 2.5; digest "));
  CHECK(all.size() == all.find("digest ") + 7 + 16);
  tensor.setValue(5, std::numeric_limits<double>::infinity());
  tensor.setValue(0, std::numeric_limits<double>::quiet_NaN());
  CHECK(tensor.statisticsText().starts_with(
      "f32[2,3]: 1 to 4, mean 2.5; 2 of 6 not finite; digest "));
  fillConstant(tensor, std::numeric_limits<double>::infinity());
  CHECK(tensor.statisticsText().starts_with("f32[2,3]: 6 of 6 not finite; digest "));
  CHECK(TensorData("f32", {0}).statisticsText().starts_with("f32[0]: digest "));
}

TEST_CASE("digests of statistics tell bits apart") {
  TensorData zero("f32", {1}), negative("f32", {1});
  negative.setValue(0, -0.0);
  CHECK(zero.statisticsText() != negative.statisticsText());
}

TEST_CASE("ones are real") {
  TensorData tensor("complex<f64>", {1});
  fillConstant(tensor, 1);
  CHECK(tensor.text() == "complex<f64>[1] = [(1,0)]");
}

TEST_CASE("NumPy files give back what was written, and nothing else") {
  const test::ScratchDir folder;
  TensorData tensor = counting("f32", {2, 3});
  std::string bytes = npyBytes(tensor);
  CHECK(bytes.size() % 8 == 0);
  CHECK(bytes.find("{'descr': '<f4', 'fortran_order': False, 'shape': (2,3), }") == 10);
  std::string path = folder.write("whole.npy", bytes);
  CHECK(readNpy(path, argument("f32", {2, 3})).text() == tensor.text());
  CHECK_THROWS_AS(readNpy(path, argument("f32", {3, 2})), UsageError);
  CHECK_THROWS_AS(readNpy(path, argument("i32", {2, 3})), UsageError);
  path = folder.write("cut.npy", bytes.substr(0, bytes.size() - 1));
  CHECK_THROWS_WITH_AS(readNpy(path, argument("f32", {2, 3})),
                       (path + " has 23 bytes of numbers; a tensor of 2x3xf32 has 24").c_str(),
                       UsageError);
  path = folder.write("escape.npy", bytes.substr(0, 10) + "\x1b[31m\n" + bytes.substr(16));
  CHECK_THROWS_WITH_AS(readNpy(path, argument("i8", {1})), doctest::Contains(" [31m "), UsageError);
}

} // namespace nocturne::compiler
