#include "compiler/tuning/candidates.h"

#include <algorithm>
#include <array>

#include "compiler/codegen/flags.h"
#include "engine/error.h"

namespace nocturne::compiler {

namespace {

// Of each table the first few are the small search space.

// Tiles that fill sixteen or thirty-two registers in different shapes, then other caches.
constexpr size_t kFewSizes = 3;
constexpr std::array<ProductSizes, 10> kSizes = {{
    {8, 3, 0, 0},
    {6, 2, 0, 0},
    {0, 0, 32, 512},
    {4, 3, 0, 0},
    {14, 2, 0, 0},
    {6, 4, 0, 0},
    {0, 0, 16, 128},
    {0, 0, 48, 256},
    {0, 0, 24, 1024},
    {8, 3, 32, 512},
}};

// Blocks of 64 to 512 keep what is used again in the first or second cache without a copy.
constexpr size_t kFewTilings = 1;
constexpr std::array<ProductTiling, 6> kTilings = {{
    {64, 512, 64, 8, 32, 8},
    {64, 256, 64, 4, 16, 8},
    {512, 512, 64, 8, 32, 4},
    {64, 512, 32, 8, 16, 4},
    {32, 256, 128, 4, 32, 8},
    {64, 64, 64, 4, 16, 4},
}};

std::string sizes(bool batched, int rows, int columns, int sums) {
  return (batched ? "[1, " : "[") + std::to_string(rows) + ", " + std::to_string(columns) + ", " +
         std::to_string(sums) + "]";
}

constexpr const char *kAny = "!transform.any_op", *kLoop = "!transform.op<\"scf.for\">";

std::string match(const std::string& handle, const char* operation) {
  return "    " + handle + " = transform.structured.match ops{[\"" + operation +
         "\"]} in %module : (" + kAny + ") -> " + kAny + "\n";
}

std::string tile(const std::string& from, const std::string& to, const std::string& by, int loops) {
  std::string handles = kAny;
  for (int i = 0; i < loops; ++i)
    handles.append(", ").append(kLoop);
  return "    " + to + ", " + to + "_loops:" + std::to_string(loops) +
         " = transform.structured.tile_using_for " + from + " tile_sizes " + by + " : (" + kAny +
         ") -> (" + handles + ")\n";
}

// Cuts off what is left after the last whole tile, so that whole tiles need no masks. Innermost
// loops come first: what is cut off is a copy of what is inside. A loop that runs once has nothing
// to cut off, which MLIR calls a failure.
std::string peel(const std::string& tiles, int loops) {
  constexpr int dimensions = 3;
  std::string text;
  for (int loop = loops - 1; loop >= loops - dimensions; --loop)
    text += std::string("    transform.sequence %module : ") + kAny + " failures(suppress) {\n" +
            "    ^bb0(%same: " + kAny + "):\n      %whole, %rest = transform.loop.peel " + tiles +
            "_loops#" + std::to_string(loop) + " : (" + kLoop + ") -> (" + kAny + ", " + kAny +
            ")\n    }\n";
  return text;
}

// Tiles one kind of operation twice, for the caches and for the registers.
std::string tileProducts(const char* operation, const char* prefix, bool batched,
                         const ProductTiling& t) {
  const int loops = batched ? 4 : 3;
  const std::string name = std::string("%") + prefix, block = name + "_block",
                    inner = name + "_tile";
  return match(name, operation) +
         tile(name, block, sizes(batched, t.rows, t.columns, t.sums), loops) +
         tile(block, inner, sizes(batched, t.tileRows, t.tileColumns, t.tileSums), loops) +
         peel(inner, loops);
}

// Makes vectors of the inner tiles only: those of whole blocks would need more stack than there is.
std::string vectorise(const char* operation, const char* prefix, bool batched,
                      const ProductTiling& t) {
  const std::string name = std::string("%") + prefix + "_parts";
  return match(name, operation) + "    transform.structured.vectorize " + name + " vector_sizes " +
         sizes(batched, t.tileRows, t.tileColumns, t.tileSums) +
         " {create_named_contraction} : " + kAny + "\n";
}

constexpr const char* kScheduleStart =
    "module attributes {transform.with_named_sequence} {\n"
    "  transform.named_sequence @__transform_main(%module: !transform.any_op) {\n";

// Loops that run once disappear, and whole tiles get fixed sizes.
constexpr const char* kSimplify = R"(
    %functions = transform.structured.match ops{["func.func"]} in %module : (!transform.any_op) -> !transform.any_op
    transform.apply_patterns to %functions {
      transform.apply_patterns.scf.for_loop_canonicalization
      transform.apply_patterns.canonicalization
    } : !transform.any_op
    transform.apply_cse to %functions : !transform.any_op
)";

// Sums stay in registers while the loop over them runs; products of tiles become outer products.
constexpr const char* kScheduleEnd = R"(
    transform.apply_patterns to %functions {
      transform.apply_patterns.vector.lower_masked_transfers
      transform.apply_patterns.vector.transfer_permutation_patterns
      transform.apply_patterns.vector.cast_away_vector_leading_one_dim
      transform.apply_patterns.tensor.fold_tensor_subset_ops_into_vector_transfers
      transform.apply_patterns.canonicalization
    } : !transform.any_op
    %loops = transform.structured.match interface{LoopLikeInterface} in %module : (!transform.any_op) -> !transform.any_op
    transform.apply_licm to %loops : !transform.any_op
    transform.loop.hoist_loop_invariant_subsets %loops : !transform.any_op
    transform.apply_patterns to %functions {
      transform.apply_patterns.vector.lower_contraction lowering_strategy = "outerproduct"
      transform.apply_patterns.vector.transfer_permutation_patterns
      transform.apply_patterns.canonicalization
    } : !transform.any_op
    transform.apply_patterns to %functions {
      transform.apply_patterns.vector.lower_outerproduct
      transform.apply_patterns.vector.lower_transfer max_transfer_rank = 1
      transform.apply_patterns.vector.transfer_to_scf max_transfer_rank = 1 full_unroll = true
      transform.apply_patterns.canonicalization
    } : !transform.any_op
    transform.yield
  }
}
)";

std::string nameOf(const ProductTiling& t) {
  return "schedule " + std::to_string(t.rows) + "x" + std::to_string(t.columns) + "x" +
         std::to_string(t.sums) + " in " + std::to_string(t.tileRows) + "x" +
         std::to_string(t.tileColumns) + "x" + std::to_string(t.tileSums);
}

std::string valuesOf(const ProductSizes& sizes) {
  return std::to_string(sizes.tileRows) + ',' + std::to_string(sizes.tileVectors) + ',' +
         std::to_string(sizes.panelKib) + ',' + std::to_string(sizes.blockKib);
}

std::string nameOf(const ProductSizes& sizes) {
  std::string name;
  if (sizes.tileRows)
    name = "tiles " + std::to_string(sizes.tileRows) + " rows " +
           std::to_string(sizes.tileVectors) + " vectors";
  if (sizes.panelKib)
    name += std::string(name.empty() ? "" : " ") + "panels " + std::to_string(sizes.panelKib) +
            " KiB blocks " + std::to_string(sizes.blockKib) + " KiB";
  return name;
}

// Where a module has none, sizes and schedules for them would only give equal code.
bool has(const Task& task, const char* operation) {
  return task.payload.text.find(operation) != std::string::npos;
}

void addSearchSpace(const Task& task, std::vector<Candidate>& candidates) {
  if (task.searchSpace == SearchSpace::Default)
    return;
  const bool all = task.searchSpace == SearchSpace::Large;
  candidates.push_back({"plain", "", {std::string(kPlainFlag)}, {}});
  if (all)
    candidates.push_back({"level 2", "", {std::string(kLevelFlag) + "2"}, {}});
  const bool products = has(task, "stablehlo.dot");
  if (products || has(task, "stablehlo.convolution"))
    for (size_t i = 0; i < (all ? kSizes.size() : kFewSizes); ++i)
      candidates.push_back(
          {nameOf(kSizes[i]), "", {std::string(kProductsFlag) + valuesOf(kSizes[i])}, {}});
  if (products)
    for (size_t i = 0; i < (all ? kTilings.size() : kFewTilings); ++i)
      candidates.push_back({nameOf(kTilings[i]), productSchedule(kTilings[i]), {}, {}});
}

} // namespace

Candidate referenceCandidate() {
  return {"reference", "", {std::string(kPlainFlag)}, {}};
}

std::string productSchedule(const ProductTiling& tiling) {
  constexpr const char *plain = "linalg.matmul", *batched = "linalg.batch_matmul";
  return kScheduleStart + tileProducts(plain, "product", false, tiling) +
         tileProducts(batched, "batched", true, tiling) + kSimplify +
         vectorise(plain, "product", false, tiling) + vectorise(batched, "batched", true, tiling) +
         kScheduleEnd;
}

std::vector<Candidate> candidatesOf(const Task& task, const Target& target) {
  std::vector<Candidate> candidates = {{"usual", "", {}, {}}};
  const auto named = [&](const std::string& name) {
    return std::any_of(candidates.begin(), candidates.end(),
                       [&](const Candidate& candidate) { return candidate.name == name; });
  };
  for (const Candidate& candidate : task.candidates) {
    if (candidate.name.empty() || named(candidate.name))
      throw UsageError("task " + task.name + ": a candidate cannot have the name \"" +
                       candidate.name + '"');
    candidates.push_back(candidate);
  }
  if (target.name != "cpu")
    return candidates; // what is known of blocks holds for the caches of processors
  std::vector<Candidate> known;
  addSearchSpace(task, known);
  for (Candidate& candidate : known)
    if (!named(candidate.name))
      candidates.push_back(std::move(candidate));
  return candidates;
}

std::vector<std::string> flagsOf(const Candidate& candidate) {
  std::vector<std::string> flags = candidate.flags;
  if (!candidate.schedule.empty())
    flags.push_back(std::string(kScheduleFlag) + candidate.schedule);
  return flags;
}

} // namespace nocturne::compiler
