// Statistics as a tree of named values that merges: each actor has its own tree, and the run's is
// their merge, the same for every number of actors and every order of merging.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/byte_stream.h"
#include "engine/exact_sum.h"
#include "engine/json.h"

namespace nocturne {

enum class StatisticKind : uint8_t { Sum, Count, Interval, Ratio, Value, Aggregate, Container };
std::string_view toString(StatisticKind kind);

// How a value is shown; it has no influence on what is stored.
struct StatisticFormat {
  std::string title{};    // for people; the member's name when empty
  std::string unit{};     // "s", "B", "FLOP/s", "J", ...
  std::string prefix{};   // SI prefix that values are shown with: "", "u", "m", "k", "G", ...
  bool normalise = false; // choose the prefix by the size of the value
  int decimals = 3;
  bool operator==(const StatisticFormat&) const = default;
};

class Statistic {
public:
  explicit Statistic(StatisticFormat how = {}) : format(std::move(how)) {}
  virtual ~Statistic() = default;
  virtual StatisticKind kind() const = 0;
  virtual std::optional<double> value() const = 0; // nothing: never sampled
  // `other` is of the same kind.
  virtual void mergeSame(const Statistic& other) = 0;
  virtual std::unique_ptr<Statistic> clone() const = 0;
  virtual void writeState(ByteWriter& out, bool withIntervals) const = 0;
  // `depth`: how many containers may still be nested. Throws Error.
  virtual void readState(ByteReader& in, int depth) = 0;
  // The value with prefix and unit; "-" when there is none.
  virtual std::string text() const;

  void merge(const Statistic& other); // throws Error when the kinds differ
  // Kind, format and state.
  void write(ByteWriter& out, bool withIntervals) const;
  static std::unique_ptr<Statistic> read(ByteReader& in, int depth); // throws Error

  StatisticFormat format;
};

// A sum of doubles, rounded once.
class SumStatistic final : public Statistic {
public:
  using Statistic::Statistic;
  void add(double amount) { sum_.add(amount); }
  void addProduct(double amount, double times) { sum_.addProduct(amount, times); }
  void add(const ExactSum& amount) { sum_.merge(amount); }
  const ExactSum& sum() const { return sum_; }

  StatisticKind kind() const override { return StatisticKind::Sum; }
  std::optional<double> value() const override { return sum_.value(); }
  void mergeSame(const Statistic& other) override;
  std::unique_ptr<Statistic> clone() const override;
  void writeState(ByteWriter& out, bool withIntervals) const override;
  void readState(ByteReader& in, int depth) override;

private:
  ExactSum sum_;
};

// An exact integer.
class CountStatistic final : public Statistic {
public:
  using Statistic::Statistic;
  void add(int64_t amount = 1) { count_ += amount; }
  int64_t count() const { return count_; }

  StatisticKind kind() const override { return StatisticKind::Count; }
  std::optional<double> value() const override { return static_cast<double>(count_); }
  std::string text() const override; // without decimals
  void mergeSame(const Statistic& other) override;
  std::unique_ptr<Statistic> clone() const override;
  void writeState(ByteWriter& out, bool withIntervals) const override;
  void readState(ByteReader& in, int depth) override;

private:
  int64_t count_ = 0;
};

// From the earliest start to the latest end, in seconds of wall-clock: outside equality.
class IntervalStatistic final : public Statistic {
public:
  using Statistic::Statistic;
  void sampleStart(double seconds);
  void sampleEnd(double seconds);

  StatisticKind kind() const override { return StatisticKind::Interval; }
  std::optional<double> value() const override;
  void mergeSame(const Statistic& other) override;
  std::unique_ptr<Statistic> clone() const override;
  void writeState(ByteWriter& out, bool withIntervals) const override;
  void readState(ByteReader& in, int depth) override;

private:
  std::optional<double> start_, end_;
};

// Sum of numerators over sum of denominators; 0 when the denominator is 0.
class RatioStatistic final : public Statistic {
public:
  using Statistic::Statistic;
  void add(double numerator, double denominator);
  void add(const ExactSum& numerator, const ExactSum& denominator);
  // "0.333 (1.0/3.0)"
  std::string text() const override;
  double numerator() const { return numerator_.value(); }
  double denominator() const { return denominator_.value(); }

  StatisticKind kind() const override { return StatisticKind::Ratio; }
  std::optional<double> value() const override;
  void mergeSame(const Statistic& other) override;
  std::unique_ptr<Statistic> clone() const override;
  void writeState(ByteWriter& out, bool withIntervals) const override;
  void readState(ByteReader& in, int depth) override;

private:
  ExactSum numerator_, denominator_;
};

// Where in a run a sample was taken; decides which of two samples is the later one.
struct SamplePlace {
  uint64_t planIndex = 0, sequence = 0;
  auto operator<=>(const SamplePlace&) const = default;
};

// The latest sample; of two with the same place the larger.
class ValueStatistic final : public Statistic {
public:
  using Statistic::Statistic;
  void sample(double amount, SamplePlace place = {});

  StatisticKind kind() const override { return StatisticKind::Value; }
  std::optional<double> value() const override;
  void mergeSame(const Statistic& other) override;
  std::unique_ptr<Statistic> clone() const override;
  void writeState(ByteWriter& out, bool withIntervals) const override;
  void readState(ByteReader& in, int depth) override;

private:
  std::optional<std::pair<SamplePlace, double>> latest_;
};

// All samples, kept in the order of their places; its value is their sum.
class AggregateStatistic final : public Statistic {
public:
  using Statistic::Statistic;
  void sample(double amount, SamplePlace place = {});
  std::vector<double> samples() const;

  StatisticKind kind() const override { return StatisticKind::Aggregate; }
  std::optional<double> value() const override;
  void mergeSame(const Statistic& other) override;
  std::unique_ptr<Statistic> clone() const override;
  void writeState(ByteWriter& out, bool withIntervals) const override;
  void readState(ByteReader& in, int depth) override;

private:
  std::vector<std::pair<SamplePlace, double>> samples_;
};

// Named members, in bytewise order of their names. Pointers to members stay valid.
class ContainerStatistic final : public Statistic {
public:
  using Statistic::Statistic;
  ContainerStatistic(const ContainerStatistic& other);
  ContainerStatistic& operator=(const ContainerStatistic& other);
  ContainerStatistic(ContainerStatistic&&) = default;
  ContainerStatistic& operator=(ContainerStatistic&&) = default;

  // The member of this name, made when it is missing. Throws Error when it is of another kind.
  SumStatistic& sum(std::string_view name, const StatisticFormat& how = {});
  CountStatistic& count(std::string_view name, const StatisticFormat& how = {});
  IntervalStatistic& interval(std::string_view name, const StatisticFormat& how = {});
  RatioStatistic& ratio(std::string_view name, const StatisticFormat& how = {});
  ValueStatistic& valueMember(std::string_view name, const StatisticFormat& how = {});
  AggregateStatistic& aggregate(std::string_view name, const StatisticFormat& how = {});
  ContainerStatistic& container(std::string_view name, const StatisticFormat& how = {});

  const Statistic* find(std::string_view name) const; // nullptr when there is none
  bool empty() const { return members_.empty(); }
  const std::map<std::string, std::unique_ptr<Statistic>, std::less<>>& members() const {
    return members_;
  }
  // Shows members by falling value, then by name.
  bool sortByValue = false;

  StatisticKind kind() const override { return StatisticKind::Container; }
  std::optional<double> value() const override { return std::nullopt; }
  void mergeSame(const Statistic& other) override;
  std::unique_ptr<Statistic> clone() const override;
  void writeState(ByteWriter& out, bool withIntervals) const override;
  void readState(ByteReader& in, int depth) override;
  std::string text() const override;
  // Lines "name: value", names padded, nested ones indented. With a filter only the members that it
  // names, in its order.
  std::string lines(const std::vector<std::string>& filter, unsigned indent) const;

private:
  template <typename T>
  T& member(std::string_view name, const StatisticFormat& how);
  std::map<std::string, std::unique_ptr<Statistic>, std::less<>> members_;
};

// The root of a tree.
class StatisticsTree {
public:
  ContainerStatistic& root() { return root_; }
  const ContainerStatistic& root() const { return root_; }
  // "per_op/stablehlo.add/runtime"; nullptr when there is none.
  const Statistic* find(std::string_view path) const;
  bool empty() const { return root_.empty(); }

  void merge(const StatisticsTree& other);
  // Lossless, for storage and messages; without intervals two runs of the same work give the same
  // bytes.
  std::string serialise(bool withIntervals) const;
  static StatisticsTree deserialise(std::string_view bytes); // throws Error
  bool equalIgnoringIntervals(const StatisticsTree& other) const;
  // Bare numbers in nested objects, null for what was never sampled.
  Json values() const;
  std::string toText(const std::vector<std::string>& filter = {}) const;

private:
  ContainerStatistic root_;
};

} // namespace nocturne
