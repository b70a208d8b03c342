#include "compiler/reader/liveness.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace nocturne::compiler {

namespace {

enum class Sharing : uint8_t { Own, Operands, CarriedOperands, Held };

Sharing sharingOf(const OpInfo& op) {
  constexpr std::array<std::string_view, 8> kFree = {"stablehlo.reshape",
                                                     "stablehlo.tuple",
                                                     "stablehlo.get_tuple_element",
                                                     "stablehlo.optimization_barrier",
                                                     "mhlo.bitcast",
                                                     "func.return",
                                                     "stablehlo.dynamic_reshape",
                                                     "sdy.sharding_constraint"};
  if (std::find(kFree.begin(), kFree.end(), op.name) != kFree.end())
    return Sharing::Operands;
  if (op.name == "stablehlo.bitcast_convert")
    return op.operands.size() == 1 && op.results.size() == 1 &&
                   storageBits(op.operands[0].element.kind) ==
                       storageBits(op.results[0].element.kind)
               ? Sharing::Operands
               : Sharing::Own;
  if (op.name == "stablehlo.while")
    return Sharing::CarriedOperands;
  return op.name.ends_with(".constant") ? Sharing::Held : Sharing::Own;
}

constexpr uint32_t kNever = ~uint32_t{0};

class Lives {
public:
  Lives(const Module& module, const LifeFacts& facts)
      : module_(module), facts_(facts), definedAt_(facts.valueCount, 0),
        lastUse_(facts.valueCount, kNever), bytes_(facts.valueCount, 0),
        held_(facts.valueCount, false) {
    for (const OpInfo& op : module.ops)
      sharing_.push_back(sharingOf(op));
  }

  double peak() {
    for (uint32_t value : facts_.arguments)
      held_[value] = true;
    define();
    findLastUses();
    return sweep();
  }

private:
  uint32_t operand(const OpRow& row, uint32_t i) const {
    return module_.valueIds[row.firstOperand + i];
  }
  uint32_t result(const OpRow& row, uint32_t i) const {
    return module_.valueIds[row.firstOperand + row.operandCount + i];
  }
  double resultBytes(const OpRow& row, uint32_t i) const {
    const OpInfo& op = module_.ops[row.op];
    if (op.results.size() == row.resultCount)
      return op.results[i].bytes();
    // Tuples among the results: which part belongs to which result is not known here.
    return i == 0 ? op.resultBytes() : 0;
  }
  bool sharesOperand(const OpRow& row, uint32_t i) const {
    switch (sharing_[row.op]) {
    case Sharing::Operands:
      return true;
    case Sharing::CarriedOperands:
      // What is held may not be overwritten: the loop starts from a copy.
      return i < row.operandCount && !held_[operand(row, i)];
    default:
      return false;
    }
  }

  void define();
  void findLastUses();
  void use(uint32_t value, uint32_t row);
  double sweep() const;

  const Module& module_;
  const LifeFacts& facts_;
  std::vector<Sharing> sharing_;
  std::vector<uint32_t> definedAt_; // 0 also for arguments, which are held anyway
  std::vector<uint32_t> lastUse_;   // row, kNever if unused
  std::vector<double> bytes_;       // 0 where the memory is another value's
  std::vector<bool> held_;
  std::vector<LifeFacts::Loop> open_; // loops around the current row, outermost first
};

void Lives::define() {
  for (uint32_t at = 0; at < module_.rows.size(); ++at) {
    const OpRow& row = module_.rows[at];
    Sharing sharing = sharing_[row.op];
    bool allHeld = sharing == Sharing::Held;
    if (sharing == Sharing::Operands && row.operandCount > 0) {
      allHeld = true;
      for (uint32_t i = 0; i < row.operandCount; ++i)
        allHeld &= held_[operand(row, i)];
    }
    for (uint32_t i = 0; i < row.resultCount; ++i) {
      uint32_t value = result(row, i);
      definedAt_[value] = at;
      held_[value] = allHeld;
      bytes_[value] = allHeld || sharesOperand(row, i) ? 0 : resultBytes(row, i);
    }
  }
}

// A value from outside a loop is needed again in the next iteration.
void Lives::use(uint32_t value, uint32_t row) {
  for (const LifeFacts::Loop& loop : open_)
    if (definedAt_[value] < loop.begin) {
      row = loop.end - 1;
      break;
    }
  if (lastUse_[value] == kNever || lastUse_[value] < row)
    lastUse_[value] = row;
}

// Backwards, so that the life of a value is known before that of the value whose memory it shares.
void Lives::findLastUses() {
  std::vector<LifeFacts::Loop> loops = facts_.loops;
  std::sort(loops.begin(), loops.end(), [](const auto& a, const auto& b) {
    return a.end != b.end ? a.end < b.end : a.begin > b.begin;
  });
  std::vector<LifeFacts::Use> uses = facts_.uses;
  std::sort(uses.begin(), uses.end(), [](const auto& a, const auto& b) { return a.row < b.row; });
  for (uint32_t next = static_cast<uint32_t>(module_.rows.size()); next > 0; --next) {
    uint32_t at = next - 1;
    const OpRow& row = module_.rows[at];
    while (!open_.empty() && open_.back().begin > at)
      open_.pop_back();
    while (!loops.empty() && loops.back().end > at) {
      if (loops.back().begin <= at)
        open_.push_back(loops.back());
      loops.pop_back();
    }
    for (; !uses.empty() && uses.back().row >= at; uses.pop_back())
      use(uses.back().value, at);
    for (uint32_t i = 0; i < row.operandCount; ++i)
      use(operand(row, i), at);
    for (uint32_t i = 0; i < row.resultCount; ++i) {
      uint32_t value = result(row, i),
               last = std::max(lastUse_[value] == kNever ? at : lastUse_[value], at);
      lastUse_[value] = last;
      if (sharing_[row.op] == Sharing::CarriedOperands && sharesOperand(row, i))
        use(operand(row, i), last);
      else if (sharing_[row.op] == Sharing::Operands)
        for (uint32_t j = 0; j < row.operandCount; ++j)
          use(operand(row, j), last);
    }
  }
}

double Lives::sweep() const {
  // Sizes are whole bytes far below 2^53, so that sums and differences are exact.
  std::vector<double> ending(module_.rows.size() + 1, 0);
  double live = facts_.heldBytes, peak = live;
  for (uint32_t at = 0; at < module_.rows.size(); ++at) {
    const OpRow& row = module_.rows[at];
    for (uint32_t i = 0; i < row.resultCount; ++i) {
      uint32_t value = result(row, i);
      live += bytes_[value];
      ending[lastUse_[value]] += bytes_[value];
    }
    peak = std::max(peak, live);
    live -= ending[at];
  }
  return peak;
}

} // namespace

double peakBytesOf(const Module& module, const LifeFacts& facts) {
  return Lives(module, facts).peak();
}

} // namespace nocturne::compiler
