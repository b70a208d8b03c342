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

// The value in decimal notation with `decimals` places, zeros at the end left out.
std::string rounded(double value, int decimals) {
  std::array<char, 400> buffer;
  auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                           std::chars_format::fixed, decimals);
  std::string out(buffer.data(), end.ptr);
  if (out.find('.') != std::string::npos) {
    out.erase(out.find_last_not_of('0') + 1);
    if (out.back() == '.')
      out.pop_back();
  }
  return out == "-0" ? "0" : out;
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

const Json& field(const Json& json, const char* key) {
  auto place = json.find(key);
  if (place == json.end())
    malformed(std::string("no \"") + key + '"');
  return *place;
}

template <typename T>
T read(const Json& json, const char* key) {
  try {
    return field(json, key).get<T>();
  } catch (const Json::exception&) {
    malformed(std::string("\"") + key + "\" has the wrong type");
  }
}

template <typename T>
T readOr(const Json& json, const char* key, T otherwise) {
  return json.contains(key) ? read<T>(json, key) : otherwise;
}

ExactSum readSum(const Json& json, const char* key) {
  return ExactSum::deserialise(read<std::string>(json, key));
}

std::optional<double> readOptional(const Json& json, const char* key) {
  return json.contains(key) ? std::optional<double>(read<double>(json, key)) : std::nullopt;
}

using Sample = std::pair<SamplePlace, double>;

Json sampleToJson(const Sample& sample) {
  return Json::array({sample.first.planIndex, sample.first.sequence, sample.second});
}

Sample sampleFromJson(const Json& json) {
  if (!json.is_array() || json.size() != 3 || !json[0].is_number_unsigned() ||
      !json[1].is_number_unsigned() || !json[2].is_number())
    malformed("a sample is not [plan index, sequence, number]");
  return {{json[0].get<uint64_t>(), json[1].get<uint64_t>()}, json[2].get<double>()};
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

StatisticKind kindFromName(const std::string& text) {
  for (size_t i = 0; i < kKindNames.size(); ++i)
    if (kKindNames[i] == text)
      return static_cast<StatisticKind>(i);
  malformed("no kind \"" + text + '"');
}

StatisticFormat formatFromJson(const Json& json) {
  StatisticFormat how;
  how.title = readOr<std::string>(json, "title", "");
  how.unit = readOr<std::string>(json, "unit", "");
  how.prefix = readOr<std::string>(json, "prefix", "");
  how.normalise = readOr(json, "normalise", false);
  how.decimals = readOr(json, "decimals", StatisticFormat{}.decimals);
  prefixIndex(how.prefix);
  if (how.decimals < 0 || how.decimals > 17)
    malformed("\"decimals\" is out of range");
  return how;
}

void writeFormat(Json& json, const StatisticFormat& how) {
  if (!how.title.empty())
    json["title"] = how.title;
  if (!how.unit.empty())
    json["unit"] = how.unit;
  if (!how.prefix.empty())
    json["prefix"] = how.prefix;
  if (how.normalise)
    json["normalise"] = true;
  if (how.decimals != StatisticFormat{}.decimals)
    json["decimals"] = how.decimals;
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

Json Statistic::toJson(bool withIntervals) const {
  Json json = {{"kind", toString(kind())}};
  writeFormat(json, format);
  writeState(json, withIntervals);
  return json;
}

std::unique_ptr<Statistic> Statistic::fromJson(const Json& json) {
  if (!json.is_object())
    malformed("a statistic is not an object");
  std::unique_ptr<Statistic> made = makeStatistic(kindFromName(read<std::string>(json, "kind")));
  made->format = formatFromJson(json);
  made->readState(json);
  return made;
}

// Sum

void SumStatistic::mergeSame(const Statistic& other) {
  sum_.merge(static_cast<const SumStatistic&>(other).sum_);
}
std::unique_ptr<Statistic> SumStatistic::clone() const {
  return std::make_unique<SumStatistic>(*this);
}
void SumStatistic::writeState(Json& json, bool) const {
  json["sum"] = sum_.serialise();
}
void SumStatistic::readState(const Json& json) {
  sum_ = readSum(json, "sum");
}

// Count

void CountStatistic::mergeSame(const Statistic& other) {
  count_ += static_cast<const CountStatistic&>(other).count_;
}
std::unique_ptr<Statistic> CountStatistic::clone() const {
  return std::make_unique<CountStatistic>(*this);
}
void CountStatistic::writeState(Json& json, bool) const {
  json["count"] = count_;
}
void CountStatistic::readState(const Json& json) {
  count_ = read<int64_t>(json, "count");
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
void IntervalStatistic::writeState(Json& json, bool) const {
  if (start_)
    json["start"] = *start_;
  if (end_)
    json["end"] = *end_;
}
void IntervalStatistic::readState(const Json& json) {
  start_ = readOptional(json, "start");
  end_ = readOptional(json, "end");
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
std::unique_ptr<Statistic> RatioStatistic::clone() const {
  return std::make_unique<RatioStatistic>(*this);
}
void RatioStatistic::writeState(Json& json, bool) const {
  json["numerator"] = numerator_.serialise();
  json["denominator"] = denominator_.serialise();
}
void RatioStatistic::readState(const Json& json) {
  numerator_ = readSum(json, "numerator");
  denominator_ = readSum(json, "denominator");
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
void ValueStatistic::writeState(Json& json, bool) const {
  if (latest_)
    json["latest"] = sampleToJson(*latest_);
}
void ValueStatistic::readState(const Json& json) {
  latest_.reset();
  if (json.contains("latest"))
    latest_ = sampleFromJson(json["latest"]);
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
void AggregateStatistic::writeState(Json& json, bool) const {
  Json& list = json["samples"] = Json::array();
  for (const Sample& one : samples_)
    list.push_back(sampleToJson(one));
}
void AggregateStatistic::readState(const Json& json) {
  const Json& list = field(json, "samples");
  if (!list.is_array())
    malformed("\"samples\" is not a list");
  samples_.clear();
  for (const Json& one : list)
    samples_.push_back(sampleFromJson(one));
  std::sort(samples_.begin(), samples_.end());
}

} // namespace nocturne
