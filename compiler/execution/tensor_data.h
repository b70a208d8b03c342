// Tensors in the memory of this process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "compiler/drivers/code_generator.h"
#include "compiler/execution/element_format.h"

namespace nocturne::compiler {

// A dense tensor, row by row, in the form that compiled code takes; its data begins at a multiple
// of 64 bytes and is zero at first.
class TensorData {
public:
  // Throws UsageError for an element type without a form in memory, for sizes that are not fixed
  // and for sizes beyond memory.
  TensorData(std::string dtype, std::vector<int64_t> dims);
  explicit TensorData(const LibraryArgument& argument)
      : TensorData(argument.dtype, argument.dims) {}

  const std::string& dtype() const { return dtype_; }
  const ElementFormat& format() const { return format_; }
  const std::vector<int64_t>& dims() const { return dims_; }
  size_t count() const { return count_; } // elements
  size_t bytes() const { return count_ * format_.elementBytes(); }
  std::byte* data() { return data_.get(); }
  const std::byte* data() const { return data_.get(); }

  // The bits of a component: of element `index` where elements are not complex, else of the
  // `index`/2-th element's real or imaginary part.
  uint64_t bits(size_t index) const { return loadBits(format_, data() + index * format_.bytes); }
  void setBits(size_t index, uint64_t bits) {
    storeBits(format_, data() + index * format_.bytes, bits);
  }
  double value(size_t index) const { return toDouble(format_, bits(index)); }
  void setValue(size_t index, double value) { setBits(index, fromDouble(format_, value)); }
  size_t componentCount() const { return count_ * format_.components(); }

  // "2x3xf32", and for people "f32[2,3] = [[1, 2, 3], [4, 5, 6]]" with at most `limit` elements (0
  // for all of them).
  std::string typeText() const;
  std::string text(size_t limit = 0) const;
  // "f32[2,3]: -1.5 to 2, mean 0.25; digest 0123456789abcdef" for looking at large results: parts
  // of complex elements count as numbers, `; 5 of 6 not finite` comes before the digest, and range
  // and mean are of the finite ones. Equal digests mean equal bits.
  std::string statisticsText() const;
  // "[1,0]" of the element at `index`.
  std::string placeText(size_t index) const;

private:
  struct Free {
    void operator()(std::byte* data) const;
  };
  std::string dtype_;
  std::vector<int64_t> dims_;
  ElementFormat format_;
  size_t count_ = 1;
  std::unique_ptr<std::byte, Free> data_;
};

// Fills `tensor` with numbers from a generator of fixed sequence: reals of the normal distribution
// around 0 with standard deviation `scale`, small integers, booleans of either kind.
void fillRandom(TensorData& tensor, uint64_t seed, double scale = 1);
void fillConstant(TensorData& tensor, double value);

// Files of NumPy. Types that NumPy lacks (bf16, f8, ...) are kept as unsigned integers of their
// width. Reading throws UsageError for a file of another type or shape than `argument` asks for.
TensorData readNpy(const std::string& path, const LibraryArgument& argument);
std::string npyBytes(const TensorData& tensor);

} // namespace nocturne::compiler
