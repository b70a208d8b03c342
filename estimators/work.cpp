#include "estimators/work.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "estimators/rules.h"

namespace nocturne {

namespace {

constexpr size_t kKinds = 64;

// Larger: preferred as the type of the work.
std::array<int, kKinds> makeRanks() {
  std::array<int, kKinds> ranks{};
  for (size_t i = 0; i < kKinds; ++i) {
    auto kind = static_cast<ElementKind>(i);
    if (kind > ElementKind::Index || kind == ElementKind::None || kind == ElementKind::Token)
      continue;
    ElementKind component = componentKind(kind);
    ranks[i] = static_cast<int>(widthInBits(component)) * 256 + (isFloat(component) ? 128 : 0) +
               (100 - static_cast<int>(component));
  }
  return ranks;
}

const std::array<int, kKinds> kRanks = makeRanks();

int rankOf(ElementKind kind) {
  return kRanks[static_cast<size_t>(kind) % kKinds];
}

} // namespace

Work freeWork(const OpInfo&) {
  return {};
}

Work moveWork(const OpInfo& op) {
  Work work;
  work.bytes = op.operandBytes() + op.resultBytes();
  return work;
}

Work perElementWork(const OpInfo& op, double perElement) {
  Work work = moveWork(op);
  work.flops = resultOf(op, 0).elementCount() * perElement;
  work.type = workType(op);
  return work;
}

ElementKind workType(const OpInfo& op) {
  ElementKind best = ElementKind::None;
  int bestRank = 0;
  auto consider = [&](const TensorType& type) {
    int rank = rankOf(type.element.kind);
    if (rank > bestRank) {
      bestRank = rank;
      best = type.element.kind;
    }
  };
  for (const TensorType& type : op.operands)
    consider(type);
  for (const TensorType& type : op.results)
    consider(type);
  return componentKind(best);
}

ElementKind operandType(const TensorType& a, const TensorType& b) {
  ElementKind left = a.element.kind, right = b.element.kind;
  return componentKind(rankOf(right) > rankOf(left) ? right : left);
}

bool wantsFullPrecision(const std::vector<std::string>& precision) {
  return std::any_of(precision.begin(), precision.end(),
                     [](const std::string& text) { return text == "HIGH" || text == "HIGHEST"; });
}

const TensorType kNoTensor;

int ceilLog2(double value) {
  int power = 0;
  for (double reach = 1; reach < value && power < 1023; reach *= 2)
    ++power;
  return power;
}

double wholeRoot(double value) {
  if (!(value > 0))
    return 0;
  double root = std::sqrt(value); // exact to the last bit on every machine
  double down = static_cast<double>(static_cast<uint64_t>(root));
  return root - down >= 0.5 ? down + 1 : down;
}

double bodyFlops(const OpInfo& op, double least) {
  double sum = 0;
  for (const OpInfo& inner : op.nested)
    if (WorkRule rule = findRule(inner.name))
      sum += rule(inner).flops;
  return sum > least ? sum : least;
}

namespace {

// Number of positions o in [0, outputs) with first <= o * stride + offset <= last.
int64_t positionsBetween(int64_t outputs, int64_t stride, int64_t offset, int64_t first,
                         int64_t last) {
  int64_t from = offset >= first ? 0 : (first - offset + stride - 1) / stride;
  if (offset > last)
    return 0;
  int64_t to = (last - offset) / stride;
  return std::max<int64_t>(0, std::min(to, outputs - 1) - from + 1);
}

// The same, counting only positions where o * stride + offset is a multiple of `dilation`.
int64_t undilatedPositions(int64_t outputs, int64_t stride, int64_t offset, int64_t last,
                           int64_t dilation) {
  int64_t period = dilation / std::gcd(stride, dilation);
  for (int64_t o = 0; o < period && o < outputs; ++o) {
    if ((o * stride + offset) % dilation != 0)
      continue;
    // Every period-th position from here on.
    int64_t left = (outputs - o + period - 1) / period;
    return positionsBetween(left, stride * period, o * stride + offset, 0, last);
  }
  return 0;
}

constexpr int64_t kMaxTaps = 1 << 20;

template <typename T>
T entry(const std::vector<T>& list, size_t index, T otherwise) {
  return index < list.size() ? list[index] : otherwise;
}

} // namespace

double usefulTaps(double inputExtent, double outputExtent, const WindowAttributes& window,
                  size_t dimension) {
  auto input = static_cast<int64_t>(inputExtent), outputs = static_cast<int64_t>(outputExtent);
  int64_t taps = entry<int64_t>(window.sizes, dimension, 1);
  int64_t stride = std::max<int64_t>(1, entry<int64_t>(window.strides, dimension, 1));
  int64_t base = std::max<int64_t>(1, entry<int64_t>(window.baseDilations, dimension, 1));
  int64_t spread = std::max<int64_t>(1, entry<int64_t>(window.windowDilations, dimension, 1));
  int64_t low = entry(window.padding, dimension, {0, 0}).first;
  if (input <= 0 || outputs <= 0)
    return 0;
  // Beyond these extents positions no longer fit an integer; nothing real is that large.
  constexpr double kMaxExtent = 1e18;
  if (inputExtent * static_cast<double>(base) > kMaxExtent ||
      outputExtent * static_cast<double>(stride) > kMaxExtent ||
      static_cast<double>(taps) * static_cast<double>(spread) > kMaxExtent)
    return static_cast<double>(taps) * outputExtent;
  int64_t last = (input - 1) * base;
  // Only taps that meet the input from some output position need a look. A window of more than a
  // million of those is no window anybody slides: all its pairs are taken as useful.
  int64_t firstTap = std::max<int64_t>(0, (low - (outputs - 1) * stride) / spread);
  int64_t endTap = std::min(taps, (last + std::max<int64_t>(0, low)) / spread + 1);
  if (endTap - firstTap > kMaxTaps)
    return static_cast<double>(endTap - firstTap) * outputExtent;
  int64_t pairs = 0;
  for (int64_t tap = firstTap; tap < endTap; ++tap)
    pairs += base == 1 ? positionsBetween(outputs, stride, tap * spread - low, 0, last)
                       : undilatedPositions(outputs, stride, tap * spread - low, last, base);
  return static_cast<double>(pairs);
}

} // namespace nocturne
