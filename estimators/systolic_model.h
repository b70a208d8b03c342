// Cycles and memory traffic of a matrix product on a systolic array: arithmetic alone, without
// machines or operations. Derived, with worked numbers, in docs/systolic.md.
#pragma once

#include <cstdint>

namespace nocturne {

// Which operand rests in the array while the others stream through it.
enum class Dataflow : uint8_t { WeightStationary, OutputStationary, InputStationary };

struct SystolicArray {
  double rows = 0, columns = 0; // multiply-add elements
  Dataflow dataflow = Dataflow::WeightStationary;
  // Bytes of the on-chip memories, both halves: one feeds the array while the other is filled.
  double inputBuffer = 0, weightBuffer = 0, outputBuffer = 0;
  double bytesPerCycle = 1; // of the memory behind them
};

// `products` independent products [m, k] x [k, n] -> [m, n]. Bytes are those of all products
// together, as the tensors take them in memory.
struct MatrixProduct {
  double m = 0, k = 0, n = 0, products = 1;
  double inputBytes = 0, weightBytes = 0, outputBytes = 0;
  double accumulatorBytes = 4; // of one partial sum
};

struct SystolicCost {
  double cycles = 0;      // of the array
  double utilisation = 0; // multiply-adds per element and cycle, 0 to 1
  double bytes = 0;       // to and from memory
  double firstBytes = 0;  // what the first fold waits for
  double lastBytes = 0;   // what the last fold leaves to be written
};
// The fastest of the schedules that docs/systolic.md lists.
SystolicCost costOf(const SystolicArray& array, const MatrixProduct& product);

} // namespace nocturne
