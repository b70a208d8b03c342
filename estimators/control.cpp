// Operations that take no time of their own: they name values, steer what other rows do, or talk to
// other devices (how often and how much is in Module::collectives and collectiveBytes).
#include "estimators/rules.h"

namespace nocturne {

namespace {

// Another name for the same bytes, or a value known when the program is compiled.
void addNames(RuleSink& sink) {
  sink.add<freeWork>(withDialect(
      "stablehlo", {"after_all", "constant", "create_token", "dynamic_reshape",
                    "get_dimension_size", "get_tuple_element", "optimization_barrier",
                    "partition_id", "replica_id", "reshape", "set_dimension_size", "tuple"}));
  sink.add<freeWork>(withDialect(
      "mhlo", {"add_dependency", "bitcast", "domain", "minimum_broadcast_shapes", "trace"}));
  sink.add<freeWork>({"chlo.constant", "chlo.dynamic_reshape", "chlo.minimum_broadcast_shapes",
                      "arith.constant", "quant.scast", "builtin.unrealized_conversion_cast",
                      "ml_program.global_load", "ml_program.global_load_const",
                      "ml_program.global"});
  sink.add<freeWork>(
      withDialect("tensor", {"bitcast", "cast", "collapse_shape", "dim", "empty", "expand_shape",
                             "extract", "from_elements", "rank", "reshape"}));
  sink.add<freeWork>(withDialect("shape", {"any",
                                           "assuming",
                                           "assuming_all",
                                           "assuming_yield",
                                           "broadcast",
                                           "concat",
                                           "const_shape",
                                           "const_size",
                                           "const_witness",
                                           "cstr_broadcastable",
                                           "cstr_eq",
                                           "cstr_require",
                                           "dim",
                                           "from_extent_tensor",
                                           "from_extents",
                                           "get_extent",
                                           "index_to_size",
                                           "is_broadcastable",
                                           "max",
                                           "min",
                                           "mul",
                                           "num_elements",
                                           "rank",
                                           "shape_eq",
                                           "shape_of",
                                           "size_to_index",
                                           "split_at",
                                           "to_extent_tensor",
                                           "value_as_shape",
                                           "value_of",
                                           "with_shape",
                                           "yield",
                                           "add",
                                           "div"}));
}

// Bodies of these are rows of their own.
void addControl(RuleSink& sink) {
  sink.add<freeWork>({"stablehlo.case", "stablehlo.if", "stablehlo.while", "stablehlo.return",
                      "mhlo.return", "cf.br", "cf.cond_br", "func.call", "func.return",
                      "sdy.manual_computation", "sdy.named_computation", "sdy.return"});
}

void addCommunication(RuleSink& sink) {
  sink.add<freeWork>(withDialect(
      "stablehlo", {"all_gather", "all_reduce", "all_to_all", "async_done", "async_update",
                    "collective_broadcast", "collective_permute", "collective_reduce",
                    "cross-replica-sum", "recv", "reduce_scatter", "send"}));
  sink.add<freeWork>({"mhlo.async_done", "mhlo.async_update"});
  sink.add<freeWork>(withDialect(
      "sdy", {"all_gather", "all_reduce", "all_to_all", "collective_permute", "reduce_scatter",
              "replicated_to_unreduced", "reshard", "sharded_to_unreduced"}));
}

// Says something about values; asks nothing of the machine.
void addAnnotations(RuleSink& sink) {
  sink.add<freeWork>(
      withDialect("sdy", {"constant", "data_flow_edge", "func_data_flow_edge", "mesh",
                          "propagation_barrier", "sharding_constraint", "sharding_group"}));
  sink.add<freeWork>(
      withDialect("check", {"eq", "expect_almost_eq", "expect_almost_eq_const", "expect_close",
                            "expect_eq", "expect_eq_const", "expect_serialized_eq"}));
  sink.add<freeWork>(withDialect("interpreter", {"print", "probe", "run_parallel"}));
  sink.add<freeWork>({"test.use"}); // keeps a value from being removed
}

} // namespace

void addControlRules(RuleSink& sink) {
  addNames(sink);
  addControl(sink);
  addCommunication(sink);
  addAnnotations(sink);
}

} // namespace nocturne
