#include "engine/statistics.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "engine/error.h"
#include "engine/number_text.h"

namespace nocturne {

namespace {

constexpr std::array<std::string_view, 7> kKindNames = {"sum",   "count",     "interval", "ratio",
                                                        "value", "aggregate", "container"};

constexpr int kMostDecimals = 17;

struct Prefix {
  std::string_view text;
  double factor;
};
// Rising; the one without text is in the middle.
constexpr std::array<Prefix, 21> kPrefixes = {{
    {"q", 1e-30}, {"r", 1e-27}, {"y", 1e-24}, {"z", 1e-21}, {"a", 1e-18}, {"f", 1e-15},
    {"p", 1e-12}, {"n", 1e-9},  {"u", 1e-6},  {"m", 1e-3},  {"", 1.0},    {"k", 1e3},
    {"M", 1e6},   {"G", 1e9},   {"T", 1e12},  {"P", 1e15},  {"E", 1e18},  {"Z", 1e21},
    {"Y", 1e24},  {"R", 1e27},  {"Q", 1e30},
}};

size_t prefixIndex(std::string_view text) {
  for (size_t i = 0; i < kPrefixes.size(); ++i)
    if (kPrefixes[i].text == text)
      return i;
  throw Error("no SI prefix \"" + std::string(text) + "\"");
}

// The value in decimal notation with `decimals` places; zeros at the end are left out, but for one
// that tells a number from a count.
std::string rounded(double value, int decimals) {
  std::array<char, 400> buffer;
  auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                           std::chars_format::fixed, decimals);
  std::string out(buffer.data(), end.ptr);
  if (out.find('.') != std::string::npos) {
    out.erase(out.find_last_not_of('0') + 1);
    if (out.back() == '.')
      out += '0';
  }
  return out == "-0" || out == "-0.0" ? out.substr(1) : out;
}

// A part of a ratio: as above, but one that this would make nothing of in digits that say
// something.
std::string partText(double value, int decimals) {
  const std::string text = rounded(value, decimals);
  if (value == 0 || parseNumber(text).value_or(0) != 0)
    return text;
  std::array<char, 64> buffer;
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                 std::chars_format::scientific, std::max(decimals, 0));
  return {buffer.data(), end.ptr};
}

double magnitude(const std::string& text) {
  return std::abs(parseNumber(text).value_or(0));
}

// The prefix with which the rounded value has one to three digits before the point.
std::string normalised(double value, size_t prefix, const StatisticFormat& how) {
  std::string text = rounded(value / kPrefixes[prefix].factor, how.decimals);
  if (value == 0 || value - value != 0)
    return text + ' ' + how.unit;
  while (prefix + 1 < kPrefixes.size() && magnitude(text) >= 1000)
    text = rounded(value / kPrefixes[++prefix].factor, how.decimals);
  while (prefix > 0 && std::abs(value) < kPrefixes[prefix].factor) {
    std::string smaller = rounded(value / kPrefixes[prefix - 1].factor, how.decimals);
    if (magnitude(smaller) >= 1000)
      break;
    text = smaller;
    --prefix;
  }
  return text + ' ' + std::string(kPrefixes[prefix].text) + how.unit;
}

std::string valueText(double value, const StatisticFormat& how) {
  size_t prefix = prefixIndex(how.prefix);
  if (how.normalise)
    return normalised(value, prefix, how);
  std::string text = rounded(value / kPrefixes[prefix].factor, how.decimals);
  return how.unit.empty() && how.prefix.empty() ? text : text + ' ' + how.prefix + how.unit;
}

[[noreturn]] void malformed(const std::string& what) {
  throw Error("malformed statistics: " + what);
}

void writeOptional(ByteWriter& out, const std::optional<double>& value) {
  out.byte(value ? 1 : 0);
  if (value)
    out.real(*value);
}

std::optional<double> readOptional(ByteReader& in) {
  return in.flag() ? std::optional<double>(in.real()) : std::nullopt;
}

using Sample = std::pair<SamplePlace, double>;
constexpr size_t kLeastSample = 10; // bytes of a stored one

void writeSample(ByteWriter& out, const Sample& sample) {
  out.number(sample.first.planIndex);
  out.number(sample.first.sequence);
  out.real(sample.second);
}

Sample readSample(ByteReader& in) {
  SamplePlace place;
  place.planIndex = in.number();
  place.sequence = in.number();
  return {place, in.real()};
}

std::unique_ptr<Statistic> makeStatistic(StatisticKind kind) {
  switch (kind) {
  case StatisticKind::Sum:
    return std::make_unique<SumStatistic>();
  case StatisticKind::Count:
    return std::make_unique<CountStatistic>();
  case StatisticKind::Interval:
    return std::make_unique<IntervalStatistic>();
  case StatisticKind::Ratio:
    return std::make_unique<RatioStatistic>();
  case StatisticKind::Value:
    return std::make_unique<ValueStatistic>();
  case StatisticKind::Aggregate:
    return std::make_unique<AggregateStatistic>();
  case StatisticKind::Container:
    return std::make_unique<ContainerStatistic>();
  }
  malformed("no such kind");
}

void writeFormat(ByteWriter& out, const StatisticFormat& how) {
  out.text(how.title);
  out.text(how.unit);
  out.text(how.prefix);
  out.byte(how.normalise ? 1 : 0);
  out.signedNumber(how.decimals);
}

StatisticFormat readFormat(ByteReader& in) {
  StatisticFormat how;
  how.title = in.text();
  how.unit = in.text();
  how.prefix = in.text();
  how.normalise = in.flag();
  const int64_t decimals = in.signedNumber();
  prefixIndex(how.prefix);
  if (decimals < 0 || decimals > kMostDecimals)
    malformed("too many decimals");
  how.decimals = static_cast<int>(decimals);
  return how;
}

} // namespace

std::string_view toString(StatisticKind kind) {
  return kKindNames[static_cast<size_t>(kind)];
}

std::string Statistic::text() const {
  std::optional<double> now = value();
  return now ? valueText(*now, format) : "-";
}

void Statistic::merge(const Statistic& other) {
  if (kind() != other.kind())
    throw Error("cannot merge a statistic of kind " + std::string(toString(other.kind())) +
                " into one of kind " + std::string(toString(kind())));
  mergeSame(other);
}

void Statistic::write(ByteWriter& out, bool withIntervals) const {
  out.byte(static_cast<uint8_t>(kind()));
  writeFormat(out, format);
  writeState(out, withIntervals);
}

std::unique_ptr<Statistic> Statistic::read(ByteReader& in, int depth) {
  std::unique_ptr<Statistic> made = makeStatistic(static_cast<StatisticKind>(in.byte()));
  made->format = readFormat(in);
  made->readState(in, depth);
  return made;
}

// Sum

void SumStatistic::mergeSame(const Statistic& other) {
  sum_.merge(static_cast<const SumStatistic&>(other).sum_);
}
std::unique_ptr<Statistic> SumStatistic::clone() const {
  return std::make_unique<SumStatistic>(*this);
}
void SumStatistic::writeState(ByteWriter& out, bool) const {
  sum_.write(out);
}
void SumStatistic::readState(ByteReader& in, int) {
  sum_ = ExactSum::read(in);
}

// Count

void CountStatistic::mergeSame(const Statistic& other) {
  count_ += static_cast<const CountStatistic&>(other).count_;
}
std::string CountStatistic::text() const {
  StatisticFormat whole = format;
  whole.decimals = 0;
  return valueText(static_cast<double>(count_), whole);
}
std::unique_ptr<Statistic> CountStatistic::clone() const {
  return std::make_unique<CountStatistic>(*this);
}
void CountStatistic::writeState(ByteWriter& out, bool) const {
  out.signedNumber(count_);
}
void CountStatistic::readState(ByteReader& in, int) {
  count_ = in.signedNumber();
}

// Interval

void IntervalStatistic::sampleStart(double seconds) {
  start_ = start_ ? std::min(*start_, seconds) : seconds;
}
void IntervalStatistic::sampleEnd(double seconds) {
  end_ = end_ ? std::max(*end_, seconds) : seconds;
}
std::optional<double> IntervalStatistic::value() const {
  return start_ && end_ ? std::optional<double>(*end_ - *start_) : std::nullopt;
}
void IntervalStatistic::mergeSame(const Statistic& other) {
  const auto& interval = static_cast<const IntervalStatistic&>(other);
  if (interval.start_)
    sampleStart(*interval.start_);
  if (interval.end_)
    sampleEnd(*interval.end_);
}
std::unique_ptr<Statistic> IntervalStatistic::clone() const {
  return std::make_unique<IntervalStatistic>(*this);
}
void IntervalStatistic::writeState(ByteWriter& out, bool) const {
  writeOptional(out, start_);
  writeOptional(out, end_);
}
void IntervalStatistic::readState(ByteReader& in, int) {
  start_ = readOptional(in);
  end_ = readOptional(in);
}

// Ratio

void RatioStatistic::add(double numerator, double denominator) {
  numerator_.add(numerator);
  denominator_.add(denominator);
}
void RatioStatistic::add(const ExactSum& numerator, const ExactSum& denominator) {
  numerator_.merge(numerator);
  denominator_.merge(denominator);
}
std::optional<double> RatioStatistic::value() const {
  return denominator_.isZero() ? 0.0 : numerator_.value() / denominator_.value();
}
void RatioStatistic::mergeSame(const Statistic& other) {
  const auto& ratio = static_cast<const RatioStatistic&>(other);
  add(ratio.numerator_, ratio.denominator_);
}
std::string RatioStatistic::text() const {
  return Statistic::text() + " (" + partText(numerator(), format.decimals) + '/' +
         partText(denominator(), format.decimals) + ')';
}
std::unique_ptr<Statistic> RatioStatistic::clone() const {
  return std::make_unique<RatioStatistic>(*this);
}
void RatioStatistic::writeState(ByteWriter& out, bool) const {
  numerator_.write(out);
  denominator_.write(out);
}
void RatioStatistic::readState(ByteReader& in, int) {
  numerator_ = ExactSum::read(in);
  denominator_ = ExactSum::read(in);
}

// Value

void ValueStatistic::sample(double amount, SamplePlace place) {
  Sample next{place, amount};
  latest_ = latest_ ? std::max(*latest_, next) : next;
}
std::optional<double> ValueStatistic::value() const {
  return latest_ ? std::optional<double>(latest_->second) : std::nullopt;
}
void ValueStatistic::mergeSame(const Statistic& other) {
  if (const auto& latest = static_cast<const ValueStatistic&>(other).latest_)
    sample(latest->second, latest->first);
}
std::unique_ptr<Statistic> ValueStatistic::clone() const {
  return std::make_unique<ValueStatistic>(*this);
}
void ValueStatistic::writeState(ByteWriter& out, bool) const {
  out.byte(latest_ ? 1 : 0);
  if (latest_)
    writeSample(out, *latest_);
}
void ValueStatistic::readState(ByteReader& in, int) {
  latest_.reset();
  if (in.flag())
    latest_ = readSample(in);
}

// Aggregate

void AggregateStatistic::sample(double amount, SamplePlace place) {
  Sample next{place, amount};
  samples_.insert(std::upper_bound(samples_.begin(), samples_.end(), next), next);
}
std::vector<double> AggregateStatistic::samples() const {
  std::vector<double> out;
  out.reserve(samples_.size());
  for (const Sample& one : samples_)
    out.push_back(one.second);
  return out;
}
std::optional<double> AggregateStatistic::value() const {
  if (samples_.empty())
    return std::nullopt;
  ExactSum sum;
  for (const Sample& one : samples_)
    sum.add(one.second);
  return sum.value();
}
void AggregateStatistic::mergeSame(const Statistic& other) {
  const auto& more = static_cast<const AggregateStatistic&>(other).samples_;
  std::vector<Sample> merged(samples_.size() + more.size());
  std::merge(samples_.begin(), samples_.end(), more.begin(), more.end(), merged.begin());
  samples_ = std::move(merged);
}
std::unique_ptr<Statistic> AggregateStatistic::clone() const {
  return std::make_unique<AggregateStatistic>(*this);
}
void AggregateStatistic::writeState(ByteWriter& out, bool) const {
  out.number(samples_.size());
  for (const Sample& one : samples_)
    writeSample(out, one);
}
void AggregateStatistic::readState(ByteReader& in, int) {
  samples_.resize(in.count(kLeastSample));
  for (Sample& one : samples_)
    one = readSample(in);
  std::sort(samples_.begin(), samples_.end());
}

} // namespace nocturne
