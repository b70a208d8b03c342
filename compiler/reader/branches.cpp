#include "compiler/reader/branches.h"

#include <algorithm>

namespace nocturne::compiler {

namespace {

double extent(const TensorType& type, int64_t dim) {
  if (dim < 0 || static_cast<size_t>(dim) >= type.dims.size())
    return 1;
  int64_t value = type.dims[static_cast<size_t>(dim)];
  return value == kDynamic ? 1 : static_cast<double>(value);
}

// Multiplications and additions per element of the result, 1 for anything but contractions.
double flopsPerElement(const OpInfo& info) {
  double flops = 2;
  if (const auto* dot = info.get<DotAttributes>()) {
    if (info.operands.empty())
      return 1;
    for (int64_t dim : dot->lhsContracting)
      flops *= extent(info.operands[0], dim);
    return flops;
  }
  if (const auto* conv = info.get<ConvolutionAttributes>()) {
    if (info.operands.size() < 2)
      return 1;
    for (int64_t dim : conv->rhsSpatial)
      flops *= extent(info.operands[1], dim);
    return flops * extent(info.operands[1], conv->rhsInputFeature);
  }
  return 1;
}

} // namespace

Branches::Work Branches::workOfRow(mlir::Operation* op) {
  std::optional<uint32_t> index = distinct_.indexOf(op, false);
  if (!index)
    return {};
  const OpInfo& info = distinct_.ops()[*index];
  if (kinds_.of(op).treatment == Treatment::Constant)
    return {};
  double elements = 0;
  for (const TensorType& result : info.results)
    elements += result.elementCount();
  return {elements * flopsPerElement(info), info.operandBytes() + info.resultBytes()};
}

Branches::Work Branches::workOf(mlir::Operation* op) {
  if (mlir::Operation* callee = calls_.callee(op))
    return workOf(callee->getRegion(0));
  Work work;
  auto add = [&](mlir::Region& region, double times) {
    Work inner = workOf(region);
    work.flops += inner.flops * times;
    work.bytes += inner.bytes * times;
  };
  switch (kinds_.of(op).treatment) {
  case Treatment::While: {
    double trips = trips_.of(op).value_or(options_.tripCount);
    for (unsigned i = 0; i < op->getNumRegions(); ++i)
      add(op->getRegion(i), i == 0 ? trips + 1 : trips);
    return work;
  }
  case Treatment::Branch: {
    llvm::SmallVector<mlir::Region*, 2> regions = taken(op);
    for (mlir::Region* region : regions)
      add(*region, 1.0 / static_cast<double>(regions.size()));
    return work;
  }
  case Treatment::Inline:
    for (mlir::Region& region : op->getRegions())
      add(region, 1);
    return work;
  case Treatment::RegionEnd:
    return work;
  default:
    return workOfRow(op);
  }
}

Branches::Work Branches::workOf(mlir::Region& region) {
  auto known = work_.find(&region);
  if (known != work_.end())
    return known->second;
  Work work;
  for (mlir::Operation& op : region.getOps()) {
    Work one = workOf(&op);
    work.flops += one.flops;
    work.bytes += one.bytes;
  }
  return work_[&region] = work;
}

llvm::SmallVector<mlir::Region*, 2> Branches::taken(mlir::Operation* branch) {
  llvm::SmallVector<mlir::Region*, 2> regions;
  for (mlir::Region& region : branch->getRegions())
    regions.push_back(&region);
  if (regions.size() < 2 || options_.branch == ReaderOptions::Branch::Mean)
    return regions;
  if (options_.branch == ReaderOptions::Branch::First)
    return {regions.front()};
  // The first of the largest.
  return {*std::max_element(regions.begin(), regions.end(), [&](mlir::Region* a, mlir::Region* b) {
    return workOf(*a) < workOf(*b);
  })};
}

bool Branches::addSize(mlir::Region& region, Size& size, mlir::Operation*& failedAt) {
  for (mlir::Operation& op : region.getOps()) {
    if (mlir::Operation* callee = calls_.callee(&op)) {
      ++callsTaken_[callee];
      const Size& inner = sizes_[callee];
      // Sizes of callees are within the limits, so that sums cannot overflow.
      size.rows += inner.rows;
      size.valueIds += inner.valueIds;
    } else {
      Treatment treatment = kinds_.of(&op).treatment;
      size.rows += treatment != Treatment::RegionEnd && treatment != Treatment::Inline;
      size.valueIds += op.getNumOperands() + op.getNumResults();
      llvm::SmallVector<mlir::Region*, 2> inner;
      if (treatment == Treatment::Branch)
        inner = taken(&op);
      else if (treatment == Treatment::While || treatment == Treatment::Inline)
        for (mlir::Region& part : op.getRegions())
          inner.push_back(&part);
      for (mlir::Region* part : inner)
        if (!addSize(*part, size, failedAt))
          return false;
    }
    if (size.tooLarge()) {
      failedAt = &op;
      return false;
    }
  }
  return true;
}

mlir::LogicalResult Branches::checkSizes(mlir::Operation*& failedAt) {
  Size entries;
  for (mlir::Operation* function : calls_.calleesFirst()) {
    // Callees come first here too, so that no chain of calls is followed in depth.
    if (calls_.hasBranches() && options_.branch == ReaderOptions::Branch::Largest)
      workOf(function->getRegion(0));
    Size size;
    if (!addSize(function->getRegion(0), size, failedAt))
      return mlir::failure();
    sizes_[function] = size;
    if (!calls_.isEntry(function))
      continue;
    entries.rows += size.rows;
    entries.valueIds += size.valueIds;
    if (entries.tooLarge()) {
      failedAt = function;
      return mlir::failure();
    }
  }
  return mlir::success();
}

} // namespace nocturne::compiler
