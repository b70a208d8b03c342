// Containers of statistics, and the tree that they make.
#include <algorithm>

#include "engine/error.h"
#include "engine/statistics.h"

namespace nocturne {

namespace {

constexpr int kMostNested = 64; // containers, when they are read back

// Members in the order in which they are shown.
std::vector<std::pair<std::string, const Statistic*>>
shownMembers(const ContainerStatistic& container, const std::vector<std::string>& filter) {
  std::vector<std::pair<std::string, const Statistic*>> out;
  if (!filter.empty()) {
    for (const std::string& name : filter)
      if (const Statistic* member = container.find(name))
        out.emplace_back(name, member);
    return out;
  }
  for (const auto& [name, member] : container.members())
    out.emplace_back(name, member.get());
  if (container.sortByValue)
    std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) {
      std::optional<double> left = a.second->value(), right = b.second->value();
      return left && right ? *left > *right : left.has_value() && !right.has_value();
    });
  return out;
}

Json bareValues(const ContainerStatistic& container) {
  Json out = Json::object();
  for (const auto& [name, member] : container.members()) {
    if (member->kind() == StatisticKind::Container)
      out[name] = bareValues(static_cast<const ContainerStatistic&>(*member));
    else if (member->kind() == StatisticKind::Count)
      out[name] = static_cast<const CountStatistic&>(*member).count();
    else if (std::optional<double> value = member->value())
      out[name] = *value;
    else
      out[name] = nullptr;
  }
  return out;
}

} // namespace

ContainerStatistic::ContainerStatistic(const ContainerStatistic& other)
    : Statistic(other.format), sortByValue(other.sortByValue) {
  for (const auto& [name, member] : other.members_)
    members_.emplace(name, member->clone());
}

ContainerStatistic& ContainerStatistic::operator=(const ContainerStatistic& other) {
  return *this = ContainerStatistic(other);
}

template <typename T>
T& ContainerStatistic::member(std::string_view name, const StatisticFormat& how) {
  auto place = members_.lower_bound(name);
  if (place == members_.end() || place->first != name)
    place = members_.emplace_hint(place, std::string(name), std::make_unique<T>(how));
  auto* typed = dynamic_cast<T*>(place->second.get());
  if (typed == nullptr)
    throw Error("statistic \"" + std::string(name) + "\" is of kind " +
                std::string(toString(place->second->kind())));
  return *typed;
}

SumStatistic& ContainerStatistic::sum(std::string_view name, const StatisticFormat& how) {
  return member<SumStatistic>(name, how);
}
CountStatistic& ContainerStatistic::count(std::string_view name, const StatisticFormat& how) {
  return member<CountStatistic>(name, how);
}
IntervalStatistic& ContainerStatistic::interval(std::string_view name, const StatisticFormat& how) {
  return member<IntervalStatistic>(name, how);
}
RatioStatistic& ContainerStatistic::ratio(std::string_view name, const StatisticFormat& how) {
  return member<RatioStatistic>(name, how);
}
ValueStatistic& ContainerStatistic::valueMember(std::string_view name, const StatisticFormat& how) {
  return member<ValueStatistic>(name, how);
}
AggregateStatistic& ContainerStatistic::aggregate(std::string_view name,
                                                  const StatisticFormat& how) {
  return member<AggregateStatistic>(name, how);
}
ContainerStatistic& ContainerStatistic::container(std::string_view name,
                                                  const StatisticFormat& how) {
  return member<ContainerStatistic>(name, how);
}

const Statistic* ContainerStatistic::find(std::string_view name) const {
  auto place = members_.find(name);
  return place == members_.end() ? nullptr : place->second.get();
}

void ContainerStatistic::mergeSame(const Statistic& other) {
  const auto& container = static_cast<const ContainerStatistic&>(other);
  sortByValue = sortByValue || container.sortByValue;
  auto place = members_.begin();
  for (const auto& [name, theirs] : container.members_) {
    while (place != members_.end() && place->first < name)
      ++place;
    if (place != members_.end() && place->first == name)
      place->second->merge(*theirs);
    else
      place = members_.emplace_hint(place, name, theirs->clone());
  }
}

std::unique_ptr<Statistic> ContainerStatistic::clone() const {
  return std::make_unique<ContainerStatistic>(*this);
}

void ContainerStatistic::writeState(ByteWriter& out, bool withIntervals) const {
  const auto kept = [withIntervals](const auto& entry) {
    return withIntervals || entry.second->kind() != StatisticKind::Interval;
  };
  out.byte(sortByValue ? 1 : 0);
  out.number(static_cast<uint64_t>(std::ranges::count_if(members_, kept)));
  for (const auto& entry : members_)
    if (kept(entry)) {
      out.text(entry.first);
      entry.second->write(out, withIntervals);
    }
}

void ContainerStatistic::readState(ByteReader& in, int depth) {
  if (depth == 0)
    throw Error("malformed statistics: containers are nested too deep");
  sortByValue = in.flag();
  members_.clear();
  for (size_t left = in.count(); left > 0; --left) {
    std::string name(in.text());
    members_.insert_or_assign(std::move(name), Statistic::read(in, depth - 1));
  }
}

std::string ContainerStatistic::text() const {
  return '\n' + lines({}, 0);
}

std::string ContainerStatistic::lines(const std::vector<std::string>& filter,
                                      unsigned indent) const {
  auto shown = shownMembers(*this, filter);
  auto nameOf = [](const auto& entry) {
    return entry.second->format.title.empty() ? entry.first : entry.second->format.title;
  };
  size_t width = 0;
  for (const auto& entry : shown)
    width = std::max(width, nameOf(entry).size());
  std::string out;
  for (const auto& entry : shown) {
    std::string name = nameOf(entry);
    out += std::string(indent, ' ') + name + ':';
    if (entry.second->kind() == StatisticKind::Container)
      out += '\n' + static_cast<const ContainerStatistic*>(entry.second)->lines({}, indent + 4);
    else
      out += std::string(width - name.size() + 1, ' ') + entry.second->text() + '\n';
  }
  return out;
}

const Statistic* StatisticsTree::find(std::string_view path) const {
  const Statistic* here = &root_;
  while (!path.empty()) {
    if (here->kind() != StatisticKind::Container)
      return nullptr;
    size_t end = std::min(path.find('/'), path.size());
    here = static_cast<const ContainerStatistic*>(here)->find(path.substr(0, end));
    if (here == nullptr)
      return nullptr;
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return here;
}

void StatisticsTree::merge(const StatisticsTree& other) {
  root_.merge(other.root_);
}

std::string StatisticsTree::serialise(bool withIntervals) const {
  std::string bytes;
  ByteWriter out(bytes);
  root_.write(out, withIntervals);
  return bytes;
}

StatisticsTree StatisticsTree::deserialise(std::string_view bytes) {
  ByteReader in(bytes);
  std::unique_ptr<Statistic> root = Statistic::read(in, kMostNested);
  in.expectEnd();
  if (root->kind() != StatisticKind::Container)
    throw Error("malformed statistics: the root is not a container");
  StatisticsTree tree;
  tree.root_ = std::move(static_cast<ContainerStatistic&>(*root));
  return tree;
}

bool StatisticsTree::equalIgnoringIntervals(const StatisticsTree& other) const {
  return serialise(false) == other.serialise(false);
}

Json StatisticsTree::values() const {
  return bareValues(root_);
}

std::string StatisticsTree::toText(const std::vector<std::string>& filter) const {
  return root_.lines(filter, 0);
}

} // namespace nocturne
