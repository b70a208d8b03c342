#include <doctest/doctest.h>

#include <atomic>

#include "compiler/tuning/benchmark.h"

namespace nocturne::test {

using namespace compiler;

TEST_CASE("median and quartiles fall between samples where they have to") {
  const Timing odd = timingOf({5, 1, 3, 2, 4});
  CHECK(odd.median == 3);
  CHECK(odd.lower == 2);
  CHECK(odd.upper == 4);
  CHECK(odd.spread() == doctest::Approx(2.0 / 3));
  const Timing even = timingOf({4, 1, 2, 3});
  CHECK(even.median == 2.5);
  CHECK(even.lower == 1.75);
  CHECK(timingOf({7}).upper == 7);
}

TEST_CASE("one outlier does not move the median") {
  CHECK(timingOf({1, 1, 1, 1, 1000}).median == 1);
}

TEST_CASE("the fastest is the first of those that tie with the smallest median") {
  std::vector<Timing> timings(3);
  timings[0].median = 1.005;
  timings[1].median = 1.2;
  timings[2].median = 1;
  CHECK(fastest(timings, 0.01) == 0);
  CHECK(fastest(timings, 0.001) == 2);
}

TEST_CASE("calls are timed in turns, and more often within a sample the shorter they are") {
  int firstCalls = 0, secondCalls = 0;
  std::atomic<int> kept = 0; // which no compiler leaves out
  const std::vector<std::function<void()>> calls = {[&] { ++firstCalls; },
                                                    [&] {
                                                      ++secondCalls;
                                                      for (int i = 0; i < 20'000; ++i)
                                                        kept.store(i, std::memory_order_relaxed);
                                                    }};
  const std::vector<Timing> timings = timeCalls(calls, {1e-4, 1e-4, 7, 1});
  REQUIRE(timings.size() == 2);
  CHECK(timings[0].samples == 7);
  CHECK(timings[1].samples == 7);
  CHECK(timings[0].callsPerSample > timings[1].callsPerSample);
  CHECK(timings[1].median > timings[0].median);
  CHECK(uint64_t(firstCalls) >= 7 * timings[0].callsPerSample);
  CHECK(secondCalls >= 8);
}

TEST_CASE("a processor has a name") {
  CHECK(processorIdentity().find("features") != std::string::npos);
  CHECK(processorIdentity() == processorIdentity());
}

} // namespace nocturne::test
