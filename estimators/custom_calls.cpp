// Custom calls by target. A target without a rule here is not covered: what an opaque kernel does
// cannot be told from its operands.
#include <algorithm>
#include <array>

#include "estimators/name_table.h"
#include "estimators/rules.h"

namespace nocturne {

namespace {

// Rows and columns of the matrix that is factorised, and how many such matrices there are.
struct Matrices {
  double rows, columns, count, complexFactor;
};

Matrices matricesOf(const OpInfo& op) {
  const TensorType& type = operandOf(op, 0);
  double rows = extentFromEnd(type, 1), columns = extentFromEnd(type, 0);
  double size = rows * columns;
  return {rows, columns, size == 0 ? 0 : type.elementCount() / size, complexFactor(type)};
}

Work factorisation(const OpInfo& op, double (*flops)(double rows, double columns)) {
  Work work = moveWork(op);
  Matrices matrices = matricesOf(op);
  double rows = std::max(matrices.rows, matrices.columns);
  double columns = std::min(matrices.rows, matrices.columns);
  work.flops = flops(rows, columns) * matrices.count * matrices.complexFactor;
  work.type = workType(op);
  return work;
}

// m >= n throughout. The counts are the textbook ones (Golub and Van Loan, Matrix Computations).
Work luWork(const OpInfo& op) {
  return factorisation(op, [](double m, double n) { return m * n * n - n * n * n / 3; });
}
Work qrWork(const OpInfo& op) {
  return factorisation(op, [](double m, double n) { return 2 * m * n * n - 2 * n * n * n / 3; });
}
// m x n orthonormal columns out of n reflectors.
Work reflectorsWork(const OpInfo& op) {
  return factorisation(op, [](double m, double n) { return 2 * m * n * n - 2 * n * n * n / 3; });
}
Work tridiagonaliseWork(const OpInfo& op) {
  return factorisation(op, [](double, double n) { return 4 * n * n * n / 3; });
}
Work hessenbergWork(const OpInfo& op) {
  return factorisation(op, [](double, double n) { return 10 * n * n * n / 3; });
}
// Eigenvalues and eigenvectors of a symmetric matrix.
Work symmetricEigenWork(const OpInfo& op) {
  return factorisation(op, [](double, double n) { return 9 * n * n * n; });
}
// Schur form with its vectors.
Work eigenWork(const OpInfo& op) {
  return factorisation(op, [](double, double n) { return 25 * n * n * n; });
}
// Singular values and both sets of vectors.
Work svdWork(const OpInfo& op) {
  return factorisation(
      op, [](double m, double n) { return 4 * m * m * n + 8 * m * n * n + 9 * n * n * n; });
}
// n x n triangle of the compact WY form of n reflectors.
Work compactWyWork(const OpInfo& op) {
  return factorisation(op, [](double m, double n) { return m * n * n; });
}
// Eight operations for each unknown of each right-hand side (Thomas' algorithm).
Work tridiagonalSolveWork(const OpInfo& op) {
  Work work = moveWork(op);
  work.flops = 8 * resultOf(op, 0).elementCount();
  work.type = workType(op);
  return work;
}
// Q times a matrix: 4 m n k - 2 n k^2 for k reflectors of length m and n columns.
Work applyReflectorsWork(const OpInfo& op) {
  Work work = moveWork(op);
  double k = extentFromEnd(operandOf(op, 0), 0), m = extentFromEnd(operandOf(op, 0), 1);
  const TensorType& target = resultOf(op, 0);
  double columns = m == 0 ? 0 : target.elementCount() / m;
  work.flops = std::max(0.0, 4 * m - 2 * k) * k * columns;
  work.type = workType(op);
  return work;
}

struct TargetRule {
  std::string_view target;
  WorkRule rule;
};

constexpr auto kTargets = std::to_array<TargetRule>({
    // Annotations and renamings.
    {"Sharding", freeWork},
    {"SPMDFullToShardShape", freeWork},
    {"SPMDShardToFullShape", freeWork},
    {"LayoutConstraint", freeWork},
    {"InspectSharding", freeWork},
    {"AllocateBuffer", freeWork},
    {"CreateBuffer", freeWork},
    {"Pin", freeWork},
    {"Unpin", freeWork},
    {"AssumeGatherIndicesInBound", freeWork},
    {"BarrierStart", freeWork},
    {"BarrierDone", freeWork},
    {"MoveToHost", freeWork},
    {"MoveToDevice", freeWork},
    {"annotate_device_placement", freeWork},
    {"shape_assertion", freeWork},
    {"stablehlo.shape_assertion", freeWork},
    {"xla.megascale.provide_metadata", freeWork},
    {"xla.sdy.FuncResultSharding", freeWork},
    {"xla.sdy.GlobalToLocalShape", freeWork},
    {"xla.sdy.LocalToGlobalShape", freeWork},
    {"xla.sdy.PropagationBarrier", freeWork},
    {"xla.sdy.Sharding", freeWork},
    {"xla.sdy.ShardingGroup", freeWork},
    {"sdy_testonly", freeWork},
    // 64-bit values as pairs of 32-bit ones.
    {"X64Combine", moveWork},
    {"X64SplitHigh", moveWork},
    {"X64SplitLow", moveWork},
    {"mhlo.erf", transcendentalWork},
    {"mhlo.erf_inv", transcendentalWork},
    {"mhlo.acos", transcendentalWork},
    {"mhlo.acosh", transcendentalWork},
    {"mhlo.asin", transcendentalWork},
    {"mhlo.asinh", transcendentalWork},
    {"mhlo.atanh", transcendentalWork},
    {"mhlo.cosh", transcendentalWork},
    {"mhlo.sinh", transcendentalWork},
    {"mhlo.tan", transcendentalWork},
    // The best k of each row.
    {"TopK", topKWork},
    {"mhlo.topk", topKWork},
    {"chlo.top_k", topKWork},
    {"ApproxTopK", topKWork},
    {"PartialReduce", topKWork},
    {"AggregateToTopK", topKWork},
    {"__gpu$TopK", topKWork},
    {"stablehlo.dynamic_top_k", topKWork},
    {"stablehlo.dynamic_approx_top_k", topKWork},
    {"stablehlo.dynamic_rng_bit_generator", randomBitsWork},
    {"mhlo.ragged_dot", raggedDotWork},
    // Matrix products of libraries.
    {"__cublas$gemm", gemmWork},
    {"__cublas$lt$matmul", gemmWork},
    {"__cublas$lt$matmul$f8", gemmWork},
    {"__cublas$legacy$gemm", gemmWork},
    // Factorisations of the TPU compiler.
    {"Cholesky", choleskyWork},
    {"CompactWyHelper", compactWyWork},
    {"Eigh", symmetricEigenWork},
    {"LuDecomposition", luWork},
    {"LuDecompositionBlock", luWork},
    {"ProductOfElementaryHouseholderReflectors", reflectorsWork},
    {"Qr", qrWork},
    {"QrDecompositionBlock", qrWork},
});

// LAPACK's names, without the letter of the type.
constexpr auto kLapack = std::to_array<TargetRule>({
    {"potrf", choleskyWork},
    {"getrf", luWork},
    {"geqrf", qrWork},
    {"geqp3", qrWork},
    {"orgqr", reflectorsWork},
    {"ungqr", reflectorsWork},
    {"ormqr", applyReflectorsWork},
    {"unmqr", applyReflectorsWork},
    {"sytrd", tridiagonaliseWork},
    {"hetrd", tridiagonaliseWork},
    {"gehrd", hessenbergWork},
    {"syevd", symmetricEigenWork},
    {"heevd", symmetricEigenWork},
    {"syevj", symmetricEigenWork},
    {"syev", symmetricEigenWork},
    {"geev", eigenWork},
    {"gees", eigenWork},
    {"gesdd", svdWork},
    {"gesvd", svdWork},
    {"gesvdj", svdWork},
    {"gesvdp", svdWork},
    {"trsm", triangularSolveWork},
    {"gtsv", tridiagonalSolveWork},
    {"gtsv2", tridiagonalSolveWork},
    {"lu_pivots_to_permutation", moveWork},
    {"threefry2x32", randomBitsWork},
});

constexpr auto kLibraries = std::to_array<std::string_view>(
    {"lapack_", "cusolver_", "hipsolver_", "rocsolver_", "cublas_", "hipblas_", "rocblas_",
     "cusparse_", "hipsparse_", "magma_", "cuda_", "cu_", "hip_", "blas_"});

constexpr auto kSuffixes = std::to_array<std::string_view>({"_ffi", "_batched", "_gpu"});

struct TargetTable {
  NameTable names;
  std::vector<WorkRule> rules;
};

template <size_t N>
TargetTable tableOf(const std::array<TargetRule, N>& entries) {
  std::vector<std::string> names;
  std::vector<WorkRule> rules;
  for (const TargetRule& entry : entries) {
    names.emplace_back(entry.target);
    rules.push_back(entry.rule);
  }
  return {NameTable(std::move(names)), std::move(rules)};
}

WorkRule lookUp(const TargetTable& table, std::string_view name) {
  uint32_t index = table.names.find(name);
  return index == NameTable::kNone ? nullptr : table.rules[index];
}

void dropSuffixes(std::string_view& name) {
  for (bool dropped = true; dropped;) {
    dropped = false;
    for (std::string_view suffix : kSuffixes)
      if (name.ends_with(suffix)) {
        name.remove_suffix(suffix.size());
        dropped = true;
      }
  }
}

// "lapack_dpotrf_ffi", "cusolver_syevd_ffi", "cublas_getrf_batched", "cu_threefry2x32", ...
WorkRule libraryRule(std::string_view target) {
  static const TargetTable kTable = tableOf(kLapack);
  for (std::string_view library : kLibraries) {
    if (!target.starts_with(library))
      continue;
    std::string_view name = target.substr(library.size());
    dropSuffixes(name);
    if (WorkRule rule = lookUp(kTable, name))
      return rule;
    if (!name.empty() && std::string_view("sdcz").find(name[0]) != std::string_view::npos)
      return lookUp(kTable, name.substr(1));
    return nullptr;
  }
  return nullptr;
}

// "stablehlo.dynamic_reduce_window" and the like: the operation of that name, without `dynamic_`.
WorkRule operationRule(std::string_view target) {
  constexpr std::string_view kDialect = "stablehlo.", kDynamic = "dynamic_";
  if (!target.starts_with(kDialect))
    return nullptr;
  if (WorkRule rule = findRule(target))
    return rule;
  std::string_view name = target.substr(kDialect.size());
  if (!name.starts_with(kDynamic))
    return nullptr;
  return findRule(std::string(kDialect) + std::string(name.substr(kDynamic.size())));
}

} // namespace

WorkRule findTargetRule(std::string_view target) {
  static const TargetTable kTable = tableOf(kTargets);
  if (WorkRule rule = lookUp(kTable, target))
    return rule;
  if (target.starts_with("check."))
    return freeWork;
  if (target.starts_with("__cudnn$conv"))
    return libraryConvolutionWork;
  if (WorkRule rule = libraryRule(target))
    return rule;
  return operationRule(target);
}

} // namespace nocturne
