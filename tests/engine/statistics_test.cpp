#include <doctest/doctest.h>

#include "engine/error.h"
#include "engine/statistics.h"

using namespace nocturne;

namespace {

StatisticsTree sample() {
  StatisticsTree tree;
  ContainerStatistic& root = tree.root();
  root.sum("runtime", {"Runtime", "s", "u", false, 3}).add(1.5e-3);
  root.count("modules").add(3);
  root.interval("time", {"", "s", "", true, 3}).sampleStart(2);
  root.interval("time").sampleEnd(5);
  root.ratio("share", {"", "", "", false, 4}).add(1, 3);
  root.valueMember("last").sample(4, {1, 2});
  root.aggregate("all").sample(1, {0, 1});
  root.container("per_op").sum("b").add(0.1);
  root.container("per_op").sum("a").add(0.2);
  return tree;
}

std::string text(double value, const StatisticFormat& how) {
  SumStatistic sum(how);
  sum.add(value);
  return sum.text();
}

} // namespace

TEST_CASE("a tree survives storage bit by bit") {
  StatisticsTree tree = sample();
  tree.root().sum("runtime").add(0.1);
  StatisticsTree again = StatisticsTree::deserialise(tree.serialise(true));
  CHECK(again.serialise(true) == tree.serialise(true));
  CHECK(again.toText() == tree.toText());
  CHECK(again.values() == tree.values());
}

TEST_CASE("merging is the same in every order") {
  auto part = [](double amount, uint64_t place) {
    StatisticsTree tree;
    tree.root().sum("s").add(amount);
    tree.root().count("c").add(static_cast<int64_t>(place));
    tree.root().ratio("r").add(amount, 3);
    tree.root().valueMember("v").sample(amount, {place, 0});
    tree.root().aggregate("a").sample(amount, {place, 0});
    tree.root().container("p").sum("n" + std::to_string(place % 2)).add(amount);
    return tree;
  };
  StatisticsTree parts[] = {part(0.1, 1), part(1e16, 2), part(-1e16, 3), part(0.3, 4)};
  auto merged = [&](std::initializer_list<int> order) {
    StatisticsTree tree;
    for (int index : order)
      tree.merge(parts[index]);
    return tree;
  };
  StatisticsTree forwards = merged({0, 1, 2, 3});
  CHECK(forwards.serialise(true) == merged({3, 1, 0, 2}).serialise(true));
  CHECK(forwards.find("s")->value() == doctest::Approx(0.4).epsilon(1e-15));
  CHECK(forwards.find("c")->value() == 10);
  CHECK(forwards.find("v")->value() == 0.3);
  CHECK(forwards.find("p/n0")->value() == doctest::Approx(1e16));
  CHECK(static_cast<const AggregateStatistic*>(forwards.find("a"))->samples() ==
        std::vector<double>{0.1, 1e16, -1e16, 0.3});
}

TEST_CASE("intervals span from the first start to the last end, outside equality") {
  StatisticsTree a = sample(), b = sample();
  b.root().interval("time").sampleEnd(9);
  b.root().interval("time").sampleStart(1);
  CHECK(a.equalIgnoringIntervals(b));
  CHECK(a.serialise(true) != b.serialise(true));
  a.merge(b);
  CHECK(a.find("time")->value() == 8);
}

TEST_CASE("members of different kinds do not merge") {
  StatisticsTree a, b;
  a.root().sum("x").add(1);
  b.root().count("x").add(1);
  CHECK_THROWS_WITH_AS(a.merge(b), "cannot merge a statistic of kind count into one of kind sum",
                       Error);
  CHECK_THROWS_WITH_AS(a.root().count("x"), "statistic \"x\" is of kind sum", Error);
}

TEST_CASE("values are shown with SI prefixes") {
  CHECK(text(1.5e-3, {"", "s", "u", false, 3}) == "1500.0 us");
  CHECK(text(0, {"", "s", "", true, 3}) == "0.0 s");
  CHECK(text(1000, {"", "B", "", true, 3}) == "1.0 kB");
  CHECK(text(999.9996, {"", "B", "", true, 3}) == "1.0 kB");
  CHECK(text(0.001, {"", "s", "", true, 3}) == "1.0 ms");
  CHECK(text(0.0012345, {"", "s", "", true, 2}) == "1.23 ms");
  CHECK(text(2.5e-40, {"", "s", "", true, 3}) == "0.0 qs");
  CHECK(text(3e35, {"", "s", "", true, 0}) == "300000 Qs");
  CHECK(text(12.5, {}) == "12.5");
  CHECK(IntervalStatistic({"", "s", "", false, 3}).text() == "-");
}

TEST_CASE("a tree prints its members by name, or those of a filter in its order") {
  StatisticsTree tree;
  tree.root().count("modules").add(3);
  tree.root().sum("runtime", {"", "s", "u", false, 3}).add(1e-6);
  tree.root().container("per_op").sortByValue = true;
  tree.root().container("per_op").sum("a").add(1);
  tree.root().container("per_op").sum("bb").add(2);
  CHECK(tree.toText() == "modules: 3\n"
                         "per_op:\n"
                         "    bb: 2.0\n"
                         "    a:  1.0\n"
                         "runtime: 1.0 us\n");
  CHECK(tree.toText({"runtime", "modules", "nothing"}) == "runtime: 1.0 us\n"
                                                          "modules: 3\n");
}

TEST_CASE("a ratio shows what it is made of, and counts have no decimals") {
  RatioStatistic third;
  third.add(1, 3);
  CHECK(third.text() == "0.333 (1.0/3.0)");
  RatioStatistic small;
  small.add(1e-6, 4e-6);
  CHECK(small.text() == "0.25 (1.000e-06/4.000e-06)");
  CountStatistic count;
  count.add(12);
  CHECK(count.text() == "12");
}

TEST_CASE("ratios of nothing are zero") {
  RatioStatistic ratio;
  CHECK(ratio.value() == 0);
  ratio.add(1, 0);
  CHECK(ratio.value() == 0);
}

TEST_CASE("malformed trees are refused") {
  const std::string good = sample().serialise(true);
  for (size_t size = 0; size < good.size(); ++size) {
    CAPTURE(size);
    CHECK_THROWS_AS(StatisticsTree::deserialise(good.substr(0, size)), Error);
  }
  CHECK_THROWS_AS(StatisticsTree::deserialise(good + '\0'), Error);
  // Any other byte anywhere is read as something or refused, and never more.
  for (size_t place = 0; place < good.size(); ++place)
    for (int bit = 0; bit < 8; ++bit) {
      std::string bad = good;
      bad[place] = static_cast<char>(bad[place] ^ (1 << bit));
      try {
        StatisticsTree::deserialise(bad);
      } catch (const Error&) {
      }
    }
}

TEST_CASE("a tree whose root is a number, or that is nested without end, is refused") {
  std::string number, deep;
  ByteWriter numberOut(number), deepOut(deep);
  CountStatistic().write(numberOut, true);
  CHECK_THROWS_AS(StatisticsTree::deserialise(number), Error);
  for (int i = 0; i < 100000; ++i) {
    ContainerStatistic().write(deepOut, true);
    deep.back() = 1; // one member
    deepOut.text("x");
  }
  CHECK_THROWS_WITH_AS(StatisticsTree::deserialise(deep),
                       "malformed statistics: containers are nested too deep", Error);
}

TEST_CASE("copies are independent") {
  StatisticsTree a = sample();
  StatisticsTree b = a;
  b.root().count("modules").add(1);
  CHECK(a.find("modules")->value() == 3);
  CHECK(b.find("modules")->value() == 4);
}
