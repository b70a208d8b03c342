// Operations that compute each element of the result on its own. One operation per element,
// whatever the function (a transcendental counts as one, as an addition does); complex elements
// count the real operations they are made of.
#include "estimators/rules.h"

namespace nocturne {

namespace {

bool actsOnComplex(const OpInfo& op) {
  return isComplex(operandOf(op, 0).element.kind) || isComplex(resultOf(op, 0).element.kind);
}

// One per real component: addition, negation, comparison, conversion.
Work perComponentWork(const OpInfo& op) {
  return perElementWork(op, actsOnComplex(op) ? 2 : 1);
}

// (a + bi)(c + di): four multiplications, two additions.
Work multiplyWork(const OpInfo& op) {
  return perElementWork(op, actsOnComplex(op) ? 6 : 1);
}

// The product with the conjugate (6), the squared magnitude (3), two divisions.
Work divideWork(const OpInfo& op) {
  return perElementWork(op, actsOnComplex(op) ? 11 : 1);
}

// sqrt(re * re + im * im).
Work absoluteWork(const OpInfo& op) {
  return perElementWork(op, actsOnComplex(op) ? 4 : 1);
}

// The reader's nested operations are what is done per element.
Work mapWork(const OpInfo& op) {
  return perElementWork(op, bodyFlops(op, 1));
}

// The mean of each feature (1 per element), its variance (3), then normalise (4). The operand is
// read twice, since the statistics must be complete before anything is normalised.
Work batchNormTrainingWork(const OpInfo& op) {
  Work work = perElementWork(op, 8);
  work.bytes += operandOf(op, 0).bytes();
  return work;
}

// Subtract the mean, multiply by the inverse deviation, scale, add the offset.
Work batchNormInferenceWork(const OpInfo& op) {
  return perElementWork(op, 4);
}

// Two sums over each feature (1 and 3 per element), then the gradient of the operand (6). Operand
// and output gradient are read twice.
Work batchNormGradWork(const OpInfo& op) {
  Work work = perElementWork(op, 10);
  work.bytes += operandOf(op, 0).bytes() + operandOf(op, 4).bytes();
  return work;
}

void addChlo(RuleSink& sink) {
  sink.add<transcendentalWork>(withDialect("chlo", {"acos",
                                                    "acosh",
                                                    "asin",
                                                    "asin_acos_kernel",
                                                    "asinh",
                                                    "atan",
                                                    "atanh",
                                                    "bessel_i1e",
                                                    "broadcast_atan2",
                                                    "broadcast_polygamma",
                                                    "broadcast_power",
                                                    "broadcast_zeta",
                                                    "cosh",
                                                    "digamma",
                                                    "erf",
                                                    "erf_inv",
                                                    "erfc",
                                                    "lgamma",
                                                    "next_after",
                                                    "broadcast_next_after",
                                                    "polygamma",
                                                    "sinh",
                                                    "square",
                                                    "tan",
                                                    "zeta"}));
  sink.add<perComponentWork>(withDialect(
      "chlo", {"conj", "is_inf", "is_neg_inf", "is_pos_inf", "broadcast_add", "broadcast_and",
               "broadcast_compare", "broadcast_maximum", "broadcast_minimum", "broadcast_or",
               "broadcast_remainder", "broadcast_select", "broadcast_shift_left",
               "broadcast_shift_right_arithmetic", "broadcast_shift_right_logical",
               "broadcast_subtract", "broadcast_xor"}));
  sink.add<multiplyWork>({"chlo.broadcast_multiply"});
  sink.add<divideWork>({"chlo.broadcast_divide"});
  sink.add<mapWork>({"chlo.scan"});
}

void addOtherDialects(RuleSink& sink) {
  sink.add<transcendentalWork>(
      withDialect("mhlo", {"acos", "acosh", "asin", "asinh", "atan", "atanh", "cosh", "erf",
                           "erf_inv", "sinh", "stochastic_convert"}));
  sink.add<perComponentWork>(withDialect(
      "arith",
      {"addf",       "addi",   "andi",     "bitcast",    "ceildivsi",    "ceildivui", "cmpf",
       "cmpi",       "divf",   "divsi",    "divui",      "extf",         "extsi",     "extui",
       "floordivsi", "fptosi", "fptoui",   "index_cast", "index_castui", "maximumf",  "maxnumf",
       "maxsi",      "maxui",  "minimumf", "minnumf",    "minsi",        "minui",     "mulf",
       "muli",       "negf",   "ori",      "remf",       "remsi",        "remui",     "select",
       "shli",       "shrsi",  "shrui",    "sitofp",     "subf",         "subi",      "truncf",
       "trunci",     "uitofp", "xori"}));
  sink.add<perComponentWork>({"quant.qcast", "quant.dcast"});
}

} // namespace

Work transcendentalWork(const OpInfo& op) {
  return perElementWork(op, actsOnComplex(op) ? 2 : 1);
}

void addElementwiseRules(RuleSink& sink) {
  sink.add<perComponentWork>(withDialect("stablehlo", {"add",
                                                       "and",
                                                       "ceil",
                                                       "clamp",
                                                       "compare",
                                                       "convert",
                                                       "count_leading_zeros",
                                                       "floor",
                                                       "is_finite",
                                                       "maximum",
                                                       "minimum",
                                                       "negate",
                                                       "not",
                                                       "or",
                                                       "popcnt",
                                                       "reduce_precision",
                                                       "remainder",
                                                       "round_nearest_afz",
                                                       "round_nearest_even",
                                                       "select",
                                                       "shift_left",
                                                       "shift_right_arithmetic",
                                                       "shift_right_logical",
                                                       "sign",
                                                       "subtract",
                                                       "uniform_dequantize",
                                                       "uniform_quantize",
                                                       "xor"}));
  sink.add<multiplyWork>({"stablehlo.multiply"});
  sink.add<divideWork>({"stablehlo.divide"});
  sink.add<absoluteWork>({"stablehlo.abs"});
  sink.add<transcendentalWork>(withDialect(
      "stablehlo", {"atan2", "cbrt", "cosine", "exponential", "exponential_minus_one", "log",
                    "log_plus_one", "logistic", "power", "rsqrt", "sine", "sqrt", "tan", "tanh"}));
  sink.add<mapWork>({"stablehlo.map"});
  sink.add<batchNormTrainingWork>({"stablehlo.batch_norm_training"});
  sink.add<batchNormInferenceWork>({"stablehlo.batch_norm_inference"});
  sink.add<batchNormGradWork>({"stablehlo.batch_norm_grad"});
  addChlo(sink);
  addOtherDialects(sink);
}

} // namespace nocturne
