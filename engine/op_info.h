// One operation of a module, free of MLIR: what an op handler is given.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "engine/tensor_type.h"

namespace nocturne {

using Dims = std::vector<int64_t>;

// stablehlo.dot_general; stablehlo.dot, einsum and ragged products with what they imply.
struct DotAttributes {
  Dims lhsBatching, rhsBatching, lhsContracting, rhsContracting;
  // "DEFAULT", "HIGH", "HIGHEST" per operand; empty when not given.
  std::vector<std::string> precision;
  // Accumulation type named by `algorithm`, None when there is none.
  ElementKind accumulation = ElementKind::None;
  bool operator==(const DotAttributes&) const = default;
};

// The sliding window of convolution, reduce_window and select_and_scatter. Each list has one entry
// per window dimension; missing attributes are already replaced by the defaults of the
// specification.
struct WindowAttributes {
  Dims sizes, strides, baseDilations, windowDilations;
  std::vector<std::pair<int64_t, int64_t>> padding; // low, high
  std::vector<bool> reversal;
  bool operator==(const WindowAttributes&) const = default;
};

// stablehlo.convolution and dynamic_conv. Window sizes are the spatial extents of the kernel.
struct ConvolutionAttributes {
  int64_t lhsBatch = 0, lhsFeature = 0;
  int64_t rhsInputFeature = 0, rhsOutputFeature = 0;
  int64_t outBatch = 0, outFeature = 0;
  Dims lhsSpatial, rhsSpatial, outSpatial;
  WindowAttributes window;
  int64_t featureGroups = 1, batchGroups = 1;
  std::vector<std::string> precision; // as DotAttributes::precision
  bool operator==(const ConvolutionAttributes&) const = default;
};

struct WindowReductionAttributes { // reduce_window, select_and_scatter
  WindowAttributes window;
  bool operator==(const WindowReductionAttributes&) const = default;
};

// A list of dimensions whose meaning follows from the operation: reduce (reduced), transpose
// (permutation), broadcast_in_dim (broadcast_dimensions), reverse, concatenate, iota, sort,
// all_gather, reduce_scatter, all_to_all, map, fft (fft_length).
struct DimensionsAttributes {
  Dims dims;
  bool operator==(const DimensionsAttributes&) const = default;
};

struct SliceAttributes { // slice; dynamic_slice fills only `sizes`
  Dims starts, limits, strides, sizes;
  bool operator==(const SliceAttributes&) const = default;
};

struct PadAttributes {
  Dims low, high, interior;
  bool operator==(const PadAttributes&) const = default;
};

struct GatherAttributes {
  Dims offsetDims, collapsedSliceDims, operandBatchingDims, startIndicesBatchingDims, startIndexMap,
      sliceSizes;
  int64_t indexVectorDim = 0;
  bool operator==(const GatherAttributes&) const = default;
};

struct ScatterAttributes {
  Dims updateWindowDims, insertedWindowDims, inputBatchingDims, scatterIndicesBatchingDims,
      scatterDimsToOperandDims;
  int64_t indexVectorDim = 0;
  bool operator==(const ScatterAttributes&) const = default;
};

// all_reduce, all_gather, reduce_scatter, all_to_all, collective_permute, collective_broadcast, and
// sends and receives between devices.
struct CollectiveAttributes {
  std::vector<Dims> replicaGroups; // for collective_permute: the source-target pairs
  int64_t dimension = -1;          // of all_gather, reduce_scatter and all_to_all (concat)
  int64_t channel = 0;
  bool useGlobalDeviceIds = false;
  bool operator==(const CollectiveAttributes&) const = default;
};

struct CustomCallAttributes {
  std::string target;
  bool hasSideEffect = false;
  std::string backendConfig; // text, at most 4 kB of it
  bool operator==(const CustomCallAttributes&) const = default;
};

struct CompareAttributes {
  std::string direction, type; // "LT", "FLOAT"; type may be empty
  bool operator==(const CompareAttributes&) const = default;
};

using OpAttributes =
    std::variant<std::monostate, DotAttributes, ConvolutionAttributes, WindowReductionAttributes,
                 DimensionsAttributes, SliceAttributes, PadAttributes, GatherAttributes,
                 ScatterAttributes, CollectiveAttributes, CustomCallAttributes, CompareAttributes>;

// A distinct operation: everything that a cost may depend on. Two operations of a module that agree
// in all of it share one OpInfo.
struct OpInfo {
  // Full dialect name. Operations of mhlo that StableHLO also has carry the StableHLO name.
  std::string name;
  // The empty braces let {name, operands, results} be written without a warning.
  std::vector<TensorType> operands{}; // tuples flattened
  std::vector<TensorType> results{};  // tuples flattened
  OpAttributes attributes{};
  // Operations of the regions that the operation applies itself, in order: reducers, comparators,
  // fusion bodies. Bodies of while, if, case and called functions are rows of the table instead.
  std::vector<OpInfo> nested{};
  // True when the operation was reached through a call. Set only where `nested` is not empty, since
  // nothing else may depend on it.
  bool inCallee = false;

  template <typename T>
  const T* get() const {
    return std::get_if<T>(&attributes);
  }
  double operandBytes() const; // sum over operands
  double resultBytes() const;
  bool operator==(const OpInfo&) const = default;
};

// True for operations that move data between devices: all_reduce, all_gather, reduce_scatter,
// all_to_all, collective_permute, collective_broadcast, send, recv (and the sdy spellings).
bool isCollective(const std::string& opName);

// The operation as bytes: equal for two operations exactly when they compare equal, so that a
// string map can merge them. appendSerialised is for callers that reuse the string.
std::string serialise(const OpInfo& op);
void appendSerialised(std::string& out, const OpInfo& op);

} // namespace nocturne
