#include "tools/human.h"

#include <sstream>

#include <doctest/doctest.h>

#include "tools/progress_line.h"

using namespace nocturne;
using namespace nocturne::tools;

TEST_CASE("times and amounts have four digits and the largest unit that fits") {
  CHECK(humanTime(0) == "0 s");
  CHECK(humanTime(1.5) == "1.500 s");
  CHECK(humanTime(1.23456e-3) == "1.235 ms");
  CHECK(humanTime(55.0637e-6) == "55.06 us");
  CHECK(humanTime(3e-10) == "0.300 ns");
  CHECK(humanBytes(12) == "12 B");
  CHECK(humanBytes(8e10) == "80.00 GB");
  CHECK(humanCount(24) == "24");
  CHECK(humanCount(2.5) == "2.500");
  CHECK(humanCount(1.7e13) == "17.00 T");
  CHECK(humanPercent(0.9876) == "98.8 %");
  CHECK(humanDuration(5) == "5 s");
  CHECK(humanDuration(200) == "3 min 20 s");
  CHECK(humanDuration(3720) == "1 h 02 min");
  CHECK(withCommas(0) == "0");
  CHECK(withCommas(999) == "999");
  CHECK(withCommas(1234567) == "1,234,567");
}

TEST_CASE("a table is as wide as its cells and has no blanks at the ends of lines") {
  TextTable table({{"name"}, {"time", TextTable::Align::Right}});
  table.row({"a", "1 s"});
  table.row({"µ-long", "12.5 s"});
  CHECK(table.text() == "name      time\n"
                        "a          1 s\n"
                        "µ-long  12.5 s\n");
}

TEST_CASE("long text keeps its beginning and its end") {
  CHECK(shortened("short", 10) == "short");
  CHECK(shortened("a-very-long-module-name.mlir", 13) == "a-v...me.mlir");
  CHECK(shortened("a-very-long-module-name.mlir", 13).size() == 13);
}

TEST_CASE("progress says rate, hits, failures and what is left") {
  Progress progress;
  progress.itemsDone = 1000;
  progress.itemsTotal = 4000;
  progress.itemsFailed = 3;
  progress.cacheHits = 800;
  progress.elapsed = 2;
  CHECK(progressText(progress, {}) ==
        "[1,000/4,000] 25 %, 500/s, 800 from the cache, 3 failed, 6 s left");
  CHECK(progressText({}, {}) == "[0/0]");
}

TEST_CASE("the rate of a run that goes on leaves out what was done before") {
  Progress first, now;
  first.itemsDone = 900;
  first.elapsed = 1;
  now.itemsDone = 1000;
  now.itemsTotal = 1100;
  now.elapsed = 3;
  CHECK(progressText(now, first) == "[1,000/1,100] 90 %, 50/s, 2 s left");
}

TEST_CASE("words are joined by commas") {
  CHECK(joined({}).empty());
  CHECK(joined({"a"}) == "a");
  CHECK(joined({"a", "b", "c"}) == "a, b, c");
}

TEST_CASE("a status line is never torn by a line of text") {
  std::ostringstream stream;
  Terminal terminal(stream, true);
  terminal.status("50 %");
  terminal.line("warning");
  terminal.clearStatus();
  CHECK(stream.str() == "50 %\r\033[Kwarning\n50 %\r\033[K");
  std::ostringstream plain;
  Terminal(plain, false).status("50 %");
  CHECK(plain.str().empty());
}
