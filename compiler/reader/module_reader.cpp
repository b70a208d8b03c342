#include "compiler/reader/module_reader.h"

namespace nocturne::compiler {

ReaderOptions readerOptions(const Assumptions& assumptions) {
  using Branch = ReaderOptions::Branch;
  ReaderOptions options;
  options.tripCount = assumptions.tripCount;
  options.entry = assumptions.entry;
  options.branch = assumptions.branch == "first"  ? Branch::First
                   : assumptions.branch == "mean" ? Branch::Mean
                                                  : Branch::Largest;
  return options;
}

} // namespace nocturne::compiler
