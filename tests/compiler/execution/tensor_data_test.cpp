#include "compiler/execution/tensor_data.h"

#include <cstdint>
#include <filesystem>
#include <fstream>

#include <unistd.h>

#include <doctest/doctest.h>

#include "engine/error.h"

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

TEST_CASE("sizes beyond memory are refused") {
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

TEST_CASE("ones are real") {
  TensorData tensor("complex<f64>", {1});
  fillConstant(tensor, 1);
  CHECK(tensor.text() == "complex<f64>[1] = [(1,0)]");
}

TEST_CASE("NumPy files give back what was written, and nothing else") {
  std::string path =
      std::filesystem::temp_directory_path() / ("nocturne-npy-" + std::to_string(getpid()));
  TensorData tensor = counting("f32", {2, 3});
  std::string bytes = npyBytes(tensor);
  CHECK(bytes.size() % 8 == 0);
  CHECK(bytes.find("{'descr': '<f4', 'fortran_order': False, 'shape': (2,3), }") == 10);
  std::ofstream(path, std::ios::binary) << bytes;
  CHECK(readNpy(path, argument("f32", {2, 3})).text() == tensor.text());
  CHECK_THROWS_AS(readNpy(path, argument("f32", {3, 2})), UsageError);
  CHECK_THROWS_AS(readNpy(path, argument("i32", {2, 3})), UsageError);
  std::ofstream(path, std::ios::binary) << bytes.substr(0, bytes.size() - 1);
  CHECK_THROWS_AS(readNpy(path, argument("f32", {2, 3})), UsageError);
  std::filesystem::remove(path);
}

} // namespace nocturne::compiler
