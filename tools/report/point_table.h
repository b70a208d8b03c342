// The text of every point of a plan, made when first needed.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tools/report/row_text.h"

namespace nocturne::tools {

class PointTable {
public:
  // Beyond this many points texts are made anew each time, so that memory does not grow with them.
  static constexpr uint64_t kKept = 1u << 12;

  // Keeps a reference to the plan.
  explicit PointTable(const SweepPlan& plan);

  const std::vector<std::string>& axisColumns() const { return axisColumns_; }
  // Valid until the next call.
  const PointText& at(uint64_t index);

private:
  const SweepPlan& plan_;
  const std::vector<std::string> axisColumns_;
  std::vector<PointText> texts_; // empty where not made yet
  PointText scratch_;
};

} // namespace nocturne::tools
