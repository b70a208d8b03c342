#include "estimators/systolic_model.h"

#include <algorithm>
#include <cmath>

namespace nocturne {

namespace {

// The extents of a product as the array sees them: a tile of rowExtent x columnExtent is held in
// it, and `steps` values stream past each element.
struct Mapping {
  double rowExtent, columnExtent, steps;
};

Mapping mappingOf(Dataflow dataflow, const MatrixProduct& product) {
  switch (dataflow) {
  case Dataflow::OutputStationary:
    return {product.m, product.n, product.k};
  case Dataflow::InputStationary:
    return {product.k, product.m, product.n};
  case Dataflow::WeightStationary:
    break;
  }
  return {product.k, product.n, product.m};
}

// What is read again in each of `passes` passes, unless it stays on the chip.
double repeated(double bytes, double passes, bool stays) {
  return stays ? bytes : bytes * passes;
}

// Partial sums that leave the chip between two folds of the shared extent are written and read
// back.
double spilled(double bytes, double folds, bool stays) {
  return stays ? 0 : 2 * bytes * (folds - 1);
}

// One operand of a product and the half of its buffer that is not being filled.
struct Operand {
  double bytes, room;
};

// What one schedule costs for one product.
struct Schedule {
  double cycles = 0, bytes = 0, firstBytes = 0, lastBytes = 0;
};

// `resting` is held in the array tile by tile; `streaming` runs past it in `blocks` pieces, so that
// the partial sums of a piece may wait on the chip. The product sums along the rows of the array.
Schedule restingSchedule(const SystolicArray& array, const MatrixProduct& product,
                         const Mapping& map, const Operand& resting, const Operand& streaming,
                         double blocks) {
  const double shared = std::ceil(map.rowExtent / array.rows);
  const double along = std::ceil(map.columnExtent / array.columns);
  const double outputRoom = array.outputBuffer / 2;
  const double output = product.outputBytes / product.products;
  const double piece = streaming.bytes / blocks;
  const double sums = product.m * product.n * product.accumulatorBytes / blocks;
  // All of the shared extent for one tile of the other: the sums of that tile wait.
  const double sharedInner = repeated(piece, along, piece <= streaming.room) +
                             spilled(sums, shared, sums / along <= outputRoom);
  // All tiles for one part of the shared extent: that part of the stream stays, all sums wait.
  const double sharedOuter = repeated(piece, along, piece / shared <= streaming.room) +
                             spilled(sums, shared, sums <= outputRoom);
  Schedule schedule;
  schedule.cycles = shared * along * (blocks * (2 * array.rows + array.columns - 2) + map.steps);
  schedule.bytes = repeated(resting.bytes, blocks, resting.bytes <= resting.room) +
                   blocks * std::min(sharedInner, sharedOuter) + output;
  schedule.firstBytes = std::min(resting.bytes / (shared * along), resting.room) +
                        std::min(piece / shared, streaming.room);
  schedule.lastBytes = std::min(output / (along * blocks), outputRoom);
  return schedule;
}

// Outputs rest and are written once; each fold needs a band of either operand.
Schedule outputSchedule(const SystolicArray& array, const MatrixProduct& product,
                        const Mapping& map, const Operand& input, const Operand& weight) {
  const double rowFolds = std::ceil(map.rowExtent / array.rows);
  const double columnFolds = std::ceil(map.columnExtent / array.columns);
  const double output = product.outputBytes / product.products;
  const double rowsOuter =
      repeated(input.bytes, columnFolds, input.bytes / rowFolds <= input.room) +
      repeated(weight.bytes, rowFolds, weight.bytes <= weight.room);
  const double columnsOuter =
      repeated(weight.bytes, rowFolds, weight.bytes / columnFolds <= weight.room) +
      repeated(input.bytes, columnFolds, input.bytes <= input.room);
  Schedule schedule;
  schedule.cycles = rowFolds * columnFolds * (2 * array.rows + array.columns - 2 + map.steps);
  schedule.bytes = std::min(rowsOuter, columnsOuter) + output;
  schedule.firstBytes = std::min(input.bytes / rowFolds, input.room) +
                        std::min(weight.bytes / columnFolds, weight.room);
  schedule.lastBytes = std::min(output / (rowFolds * columnFolds), array.outputBuffer / 2);
  return schedule;
}

// The fastest schedule, of equally fast ones that with the fewest blocks.
Schedule bestSchedule(const SystolicArray& array, const MatrixProduct& product,
                      const Mapping& map) {
  const Operand input{product.inputBytes / product.products, array.inputBuffer / 2};
  const Operand weight{product.weightBytes / product.products, array.weightBuffer / 2};
  if (array.dataflow == Dataflow::OutputStationary)
    return outputSchedule(array, product, map, input, weight);
  const bool weightRests = array.dataflow == Dataflow::WeightStationary;
  const Operand& resting = weightRests ? weight : input;
  const Operand& streaming = weightRests ? input : weight;
  const auto slower = [&](const Schedule& one) {
    return std::max(one.cycles, one.bytes / array.bytesPerCycle);
  };
  Schedule best = restingSchedule(array, product, map, resting, streaming, 1);
  for (double blocks = 2; blocks <= map.steps; blocks *= 2) {
    const Schedule next = restingSchedule(array, product, map, resting, streaming, blocks);
    if (slower(next) < slower(best))
      best = next;
  }
  return best;
}

} // namespace

SystolicCost costOf(const SystolicArray& array, const MatrixProduct& product) {
  SystolicCost cost;
  const double multiplyAdds = product.m * product.k * product.n * product.products;
  if (multiplyAdds == 0) {
    cost.bytes = product.inputBytes + product.weightBytes + product.outputBytes;
    return cost;
  }
  const Mapping map = mappingOf(array.dataflow, product);
  const Schedule schedule = bestSchedule(array, product, map);
  cost.cycles = schedule.cycles * product.products;
  cost.bytes = schedule.bytes * product.products;
  cost.firstBytes = schedule.firstBytes;
  cost.lastBytes = schedule.lastBytes;
  cost.utilisation = multiplyAdds / (cost.cycles * array.rows * array.columns);
  return cost;
}

} // namespace nocturne
