#include "compiler/reader/op_kinds.h"

#include <algorithm>
#include <iterator>

namespace nocturne::compiler {

namespace {

using Family = AttributeFamily;

// The operations of MHLO that are StableHLO's under an older name. The others of MHLO (copy,
// bitcast, fusion, ragged_dot, async_start, ...) keep theirs. Sorted.
constexpr llvm::StringRef kShared[] = {"abs",
                                       "add",
                                       "after_all",
                                       "all_gather",
                                       "all_reduce",
                                       "all_to_all",
                                       "and",
                                       "atan2",
                                       "batch_norm_grad",
                                       "batch_norm_inference",
                                       "batch_norm_training",
                                       "bitcast_convert",
                                       "broadcast",
                                       "broadcast_in_dim",
                                       "case",
                                       "cbrt",
                                       "ceil",
                                       "cholesky",
                                       "clamp",
                                       "collective_broadcast",
                                       "collective_permute",
                                       "compare",
                                       "complex",
                                       "composite",
                                       "concatenate",
                                       "constant",
                                       "convert",
                                       "convolution",
                                       "cosine",
                                       "count_leading_zeros",
                                       "create_token",
                                       "cross-replica-sum",
                                       "custom_call",
                                       "divide",
                                       "dot",
                                       "dot_general",
                                       "dynamic_broadcast_in_dim",
                                       "dynamic_conv",
                                       "dynamic_gather",
                                       "dynamic_iota",
                                       "dynamic_pad",
                                       "dynamic_reshape",
                                       "dynamic_slice",
                                       "dynamic_update_slice",
                                       "einsum",
                                       "exponential",
                                       "exponential_minus_one",
                                       "fft",
                                       "floor",
                                       "gather",
                                       "get_dimension_size",
                                       "get_tuple_element",
                                       "if",
                                       "imag",
                                       "infeed",
                                       "iota",
                                       "is_finite",
                                       "log",
                                       "log_plus_one",
                                       "logistic",
                                       "map",
                                       "maximum",
                                       "minimum",
                                       "multiply",
                                       "negate",
                                       "not",
                                       "optimization_barrier",
                                       "or",
                                       "outfeed",
                                       "pad",
                                       "partition_id",
                                       "popcnt",
                                       "power",
                                       "real",
                                       "real_dynamic_slice",
                                       "recv",
                                       "reduce",
                                       "reduce_precision",
                                       "reduce_scatter",
                                       "reduce_window",
                                       "remainder",
                                       "replica_id",
                                       "reshape",
                                       "return",
                                       "reverse",
                                       "rng",
                                       "rng_bit_generator",
                                       "round_nearest_afz",
                                       "round_nearest_even",
                                       "rsqrt",
                                       "scatter",
                                       "select",
                                       "select_and_scatter",
                                       "send",
                                       "set_dimension_size",
                                       "shift_left",
                                       "shift_right_arithmetic",
                                       "shift_right_logical",
                                       "sign",
                                       "sine",
                                       "slice",
                                       "sort",
                                       "sqrt",
                                       "subtract",
                                       "tan",
                                       "tanh",
                                       "torch_index_select",
                                       "trace",
                                       "transpose",
                                       "triangular_solve",
                                       "tuple",
                                       "unary_einsum",
                                       "uniform_dequantize",
                                       "uniform_quantize",
                                       "while",
                                       "xor"};

struct Row {
  llvm::StringRef name; // without "stablehlo."
  Treatment treatment = Treatment::Row;
  Family attributes = Family::None;
  const char* attribute = nullptr;
};

constexpr Row dims(llvm::StringRef name, const char* attribute) {
  return {name, Treatment::Row, Family::Dimensions, attribute};
}
constexpr Row reads(llvm::StringRef name, Family family) {
  return {name, Treatment::Row, family};
}
constexpr Row collective(llvm::StringRef name, const char* dimension = nullptr) {
  return {name, Treatment::Row, Family::Collective, dimension};
}

constexpr Row kStablehlo[] = {
    {"while", Treatment::While},
    {"if", Treatment::Branch},
    {"case", Treatment::Branch},
    {"composite", Treatment::Composite},
    {"constant", Treatment::Constant},
    {"return", Treatment::RegionEnd},
    reads("dot_general", Family::DotGeneral),
    reads("dot", Family::Dot),
    reads("einsum", Family::Einsum),
    reads("convolution", Family::Convolution),
    reads("dynamic_conv", Family::Convolution),
    reads("reduce_window", Family::WindowReduction),
    reads("select_and_scatter", Family::WindowReduction),
    reads("slice", Family::Slice),
    reads("dynamic_slice", Family::DynamicSlice),
    reads("pad", Family::Pad),
    reads("gather", Family::Gather),
    reads("dynamic_gather", Family::Gather),
    reads("scatter", Family::Scatter),
    reads("custom_call", Family::CustomCall),
    reads("compare", Family::Compare),
    collective("send"),
    collective("recv"),
    dims("reduce", "dimensions"),
    dims("transpose", "permutation"),
    dims("broadcast_in_dim", "broadcast_dimensions"),
    dims("dynamic_broadcast_in_dim", "broadcast_dimensions"),
    dims("reverse", "dimensions"),
    dims("concatenate", "dimension"),
    dims("iota", "iota_dimension"),
    dims("dynamic_iota", "iota_dimension"),
    dims("sort", "dimension"),
    dims("map", "dimensions"),
    dims("fft", "fft_length"),
    dims("torch_index_select", "dim"),
    collective("all_reduce"),
    collective("all_gather", "all_gather_dim"),
    collective("reduce_scatter", "scatter_dimension"),
    collective("all_to_all", "concat_dimension"),
    collective("collective_permute"),
    collective("collective_broadcast"),
    collective("collective_reduce"),
    collective("cross-replica-sum"),
};

// Operations of other dialects, with their full names.
constexpr Row kOthers[] = {
    {"func.call", Treatment::Call},
    {"func.return", Treatment::FunctionEnd},
    {"arith.constant", Treatment::Constant},
    {"chlo.constant", Treatment::Constant},
    {"sdy.constant", Treatment::Constant},
    {"sdy.named_computation", Treatment::Inline},
    {"sdy.manual_computation", Treatment::Inline},
    {"mpmd.fragment", Treatment::Inline},
    {"sdy.return", Treatment::RegionEnd},
    {"mpmd.return", Treatment::RegionEnd},
    reads("mhlo.ragged_dot", Family::RaggedDot),
    reads("chlo.ragged_dot", Family::RaggedDot),
    collective("sdy.all_reduce"),
    collective("sdy.all_gather"),
    collective("sdy.all_to_all"),
    collective("sdy.reduce_scatter"),
    collective("sdy.collective_permute"),
};

OpKind make(llvm::StringRef fullName, const Row& row) {
  return {fullName.str(), row.treatment, row.attributes, row.attribute};
}

} // namespace

OpKind OpKinds::classify(llvm::StringRef name) {
  std::string full = name.str();
  if (name.consume_front("mhlo.") &&
      std::binary_search(std::begin(kShared), std::end(kShared), name))
    full = "stablehlo." + name.str();
  llvm::StringRef bare = full;
  if (bare.consume_front("stablehlo.")) {
    for (const Row& row : kStablehlo)
      if (row.name == bare)
        return make(full, row);
    return {full};
  }
  for (const Row& row : kOthers)
    if (row.name == full)
      return make(full, row);
  return {full};
}

} // namespace nocturne::compiler
