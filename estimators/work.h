// What an operation does, without a machine: the pure half of the roofline model. Each rule is
// worked through with numbers in docs/roofline.md.
#pragma once

#include <string>
#include <vector>

#include "engine/op_info.h"

namespace nocturne {

struct Work {
  double flops = 0;                     // operations of arithmetic
  double bytes = 0;                     // read from and written to memory
  ElementKind type = ElementKind::None; // whose rate applies; irrelevant without flops
  bool reducedPrecision = false;        // an f32 contraction that a tf32 unit may do
};

using WorkRule = Work (*)(const OpInfo&);

// Nothing to do: names another value, or is done when the program is compiled or communicates.
Work freeWork(const OpInfo& op);
// Reads operands and writes results, without arithmetic.
Work moveWork(const OpInfo& op);
// The operation for each element of the result, `perElement` operations each.
Work perElementWork(const OpInfo& op, double perElement);

// The widest type among operands and results; of equally wide ones a float, then the first in the
// order of ElementKind. Complex types count as their component.
ElementKind workType(const OpInfo& op);
// The wider operand of a contraction: accumulators and results do not set the rate.
ElementKind operandType(const TensorType& a, const TensorType& b);
// Whether a contraction with this list of precisions may not be done with fewer bits.
bool wantsFullPrecision(const std::vector<std::string>& precision);

// Real multiply-adds in one of this type: a complex one is four multiplications and four additions.
inline double complexFactor(const TensorType& type) {
  return isComplex(type.element.kind) ? 4 : 1;
}

// Extent of a dimension; 1 where it is unknown or does not exist.
inline double extent(const TensorType& type, int64_t dimension) {
  if (dimension < 0 || static_cast<size_t>(dimension) >= type.dims.size())
    return 1;
  int64_t size = type.dims[static_cast<size_t>(dimension)];
  return size < 0 ? 1 : static_cast<double>(size);
}
// Extent counted from the end: 0 is the last.
inline double extentFromEnd(const TensorType& type, size_t fromEnd) {
  return extent(type, static_cast<int64_t>(type.dims.size()) - 1 - static_cast<int64_t>(fromEnd));
}
// An operand or result; a scalar without bytes when it does not exist.
extern const TensorType kNoTensor;
inline const TensorType& operandOf(const OpInfo& op, size_t index) {
  return index < op.operands.size() ? op.operands[index] : kNoTensor;
}
inline const TensorType& resultOf(const OpInfo& op, size_t index) {
  return index < op.results.size() ? op.results[index] : kNoTensor;
}

// Smallest n with 2^n >= value; 0 for values up to 1.
int ceilLog2(double value);
// The integer nearest to the square root.
double wholeRoot(double value);

// Operations of one execution of the regions that the operation applies itself; `least` when they
// hold no arithmetic or are unknown.
double bodyFlops(const OpInfo& op, double least);

// (output position, tap) pairs along one window dimension whose tap meets an element of the input:
// neither padding nor a hole made by base dilation.
double usefulTaps(double inputExtent, double outputExtent, const WindowAttributes& window,
                  size_t dimension);

} // namespace nocturne
