#include "tools/report/point_table.h"

#include <algorithm>

namespace nocturne::tools {

PointTable::PointTable(const SweepPlan& plan)
    : plan_(plan), axisColumns_(plan.axisColumns()), texts_(std::min(plan.pointCount(), kKept)) {}

const PointText& PointTable::at(uint64_t index) {
  PointText& text = index < texts_.size() ? texts_[index] : scratch_;
  if (&text == &scratch_ || text.csv.empty())
    text = pointText(plan_.pointNames(index), axisColumns_);
  return text;
}

} // namespace nocturne::tools
