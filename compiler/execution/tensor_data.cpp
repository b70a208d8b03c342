#include "compiler/execution/tensor_data.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>
#include <numbers>

#include "engine/digest.h"
#include "engine/error.h"
#include "engine/number_text.h"

namespace nocturne::compiler {

namespace {

constexpr size_t kAlignment = 64;
constexpr size_t kMaxBytes = size_t{1} << 40;

std::string dimsText(const std::vector<int64_t>& dims) {
  std::string text;
  for (int64_t dim : dims)
    text += (text.empty() ? "" : ",") + std::to_string(dim);
  return text;
}

// SplitMix64: the same numbers on every machine.
class Random {
public:
  explicit Random(uint64_t seed) : state_(seed) {}

  uint64_t next() {
    state_ += 0x9E3779B97F4A7C15;
    uint64_t word = state_;
    word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9;
    word = (word ^ (word >> 27)) * 0x94D049BB133111EB;
    return word ^ (word >> 31);
  }
  // In (0, 1].
  double uniform() { return double((next() >> 11) + 1) * 0x1p-53; }
  double normal() {
    double radius = std::sqrt(-2 * std::log(uniform()));
    return radius * std::cos(2 * std::numbers::pi * uniform());
  }

private:
  uint64_t state_;
};

} // namespace

void TensorData::Free::operator()(std::byte* data) const {
  std::free(data);
}

TensorData::TensorData(std::string dtype, std::vector<int64_t> dims)
    : dtype_(std::move(dtype)), dims_(std::move(dims)), format_(elementFormat(dtype_)) {
  double size = double(format_.elementBytes());
  for (int64_t dim : dims_) {
    if (dim < 0)
      throw UsageError("a tensor of " + typeText() + " has no fixed size");
    size *= double(dim);
    count_ *= size_t(dim); // wraps only where `size` is too large
  }
  if (size > double(kMaxBytes))
    throw UsageError("a tensor of " + typeText() + " is too large");
  size_t rounded = (bytes() + kAlignment - 1) / kAlignment * kAlignment;
  data_.reset(
      static_cast<std::byte*>(std::aligned_alloc(kAlignment, std::max(rounded, kAlignment))));
  if (!data_)
    throw std::bad_alloc();
  std::memset(data_.get(), 0, bytes());
}

std::string TensorData::typeText() const {
  std::string text;
  for (int64_t dim : dims_)
    text += std::to_string(dim) + 'x';
  return text + dtype_;
}

std::string TensorData::text(size_t limit) const {
  std::string text = dtype_ + '[' + dimsText(dims_) + "] = ";
  size_t shown = limit == 0 ? count_ : std::min(limit, count_);
  if (count_ == 0)
    return text + "[]";
  for (size_t i = 0; i < shown; ++i) {
    size_t inner = 1, opened = 0;
    for (size_t axis = dims_.size(); axis-- > 0;) {
      inner *= size_t(dims_[axis]);
      opened += i % inner == 0;
    }
    if (i > 0)
      text += std::string(opened, ']') + ", ";
    text += std::string(opened, '[') + elementText(format_, data() + i * format_.elementBytes());
  }
  return text + (shown < count_ ? ", ..." : std::string(dims_.size(), ']'));
}

std::string TensorData::statisticsText() const {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  double least = kInfinity, greatest = -kInfinity, sum = 0;
  size_t finite = 0;
  for (size_t i = 0; i < componentCount(); ++i) {
    double number = value(i);
    if (!std::isfinite(number))
      continue;
    ++finite;
    least = std::min(least, number);
    greatest = std::max(greatest, number);
    sum += number;
  }
  std::string text = dtype_ + '[' + dimsText(dims_) + "]:";
  if (finite > 0)
    text += ' ' + shortest(least) + " to " + shortest(greatest) + ", mean " +
            shortest(sum / double(finite)) + ';';
  if (finite < componentCount())
    text += ' ' + std::to_string(componentCount() - finite) + " of " +
            std::to_string(componentCount()) + " not finite;";
  std::string_view held(reinterpret_cast<const char*>(data()), bytes());
  return text + " digest " + hashBytes(held).hex().substr(0, 16);
}

std::string TensorData::placeText(size_t index) const {
  std::vector<int64_t> place(dims_.size());
  for (size_t axis = dims_.size(); axis-- > 0;) {
    place[axis] = int64_t(index % size_t(dims_[axis]));
    index /= size_t(dims_[axis]);
  }
  return '[' + dimsText(place) + ']';
}

void fillRandom(TensorData& tensor, uint64_t seed, double scale) {
  Random random(seed);
  for (size_t i = 0; i < tensor.componentCount(); ++i) {
    switch (tensor.format().kind) {
    case ElementFormat::Kind::Boolean:
      tensor.setBits(i, random.next() >> 63);
      break;
    case ElementFormat::Kind::Signed:
      tensor.setValue(i, double(random.next() % 8) - 3);
      break;
    case ElementFormat::Kind::Unsigned:
      tensor.setValue(i, double(random.next() % 8));
      break;
    case ElementFormat::Kind::Real:
      tensor.setValue(i, random.normal() * scale);
      break;
    }
  }
}

void fillConstant(TensorData& tensor, double value) {
  // The imaginary part of a complex constant is zero.
  size_t step = tensor.format().components();
  for (size_t i = 0; i < tensor.componentCount(); i += step)
    tensor.setValue(i, value);
}

} // namespace nocturne::compiler
