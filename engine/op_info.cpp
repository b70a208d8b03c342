#include "engine/op_info.h"

#include <algorithm>
#include <string_view>

namespace nocturne {

namespace {

constexpr std::string_view kCollectives[] = {
    "sdy.all_gather",
    "sdy.all_reduce",
    "sdy.all_to_all",
    "sdy.collective_permute",
    "sdy.reduce_scatter",
    "stablehlo.all_gather",
    "stablehlo.all_reduce",
    "stablehlo.all_to_all",
    "stablehlo.collective_broadcast",
    "stablehlo.collective_permute",
    "stablehlo.collective_reduce",
    "stablehlo.cross-replica-sum",
    "stablehlo.recv",
    "stablehlo.reduce_scatter",
    "stablehlo.send",
};
static_assert(std::is_sorted(std::begin(kCollectives), std::end(kCollectives)));

double totalBytes(const std::vector<TensorType>& types) {
  double total = 0;
  for (const TensorType& type : types)
    total += type.bytes();
  return total;
}

} // namespace

double OpInfo::operandBytes() const {
  return totalBytes(operands);
}
double OpInfo::resultBytes() const {
  return totalBytes(results);
}

bool isCollective(const std::string& opName) {
  return std::binary_search(std::begin(kCollectives), std::end(kCollectives),
                            std::string_view(opName));
}

} // namespace nocturne
