#include "tools/report/row_text.h"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

using namespace nocturne;
using namespace nocturne::tools;

namespace {

ModuleFacts someFacts() {
  ModuleFacts facts;
  facts.fingerprint = hashBytes("module");
  facts.collectives = 2;
  facts.collectiveBytes = 4096;
  facts.peakBytes = 100;
  facts.assumptions = {{"trip_count", "1", "a.mlir:3:4"},
                       {"branch", "largest", "a.mlir:9:1"},
                       {"trip_count", "1", "a.mlir:7:4"}};
  return facts;
}

Point somePoint() {
  Point point;
  point.estimator = "roofline";
  point.hardware = "H100, tuned";
  point.axes = {{"rows", 64}};
  point.memoryCapacity = 1000;
  return point;
}

ItemRecord okItem() {
  ItemRecord item;
  item.status = ItemStatus::Ok;
  item.result.success = true;
  item.result.runtime = 0.1;
  item.result.flops = 1e12;
  item.result.bytes = 2e9;
  item.result.coveredRuns = 3;
  item.result.totalRuns = 4;
  return item;
}

ItemRecord failedItem() {
  ItemRecord item;
  item.status = ItemStatus::Failed;
  item.failure = Failure{FailureKind::UnsupportedOp, "no rule for \"x\", sorry", "a.mlir", 3, 7};
  return item;
}

const std::vector<std::string> kAxes = {"rows", "memory_bandwidth"};

std::string csvRow(const ModuleFacts* facts, const ItemRecord* item, const Notes& notes = {}) {
  std::string out;
  appendCsvRow(out, moduleText("a.mlir", facts), pointText(somePoint(), kAxes), item, notes);
  return out;
}

Json jsonRow(const ModuleFacts* facts, const ItemRecord* item, const Notes& notes = {}) {
  std::string out;
  appendJsonRow(out, moduleText("a.mlir", facts), pointText(somePoint(), kAxes), item, notes);
  CHECK(out.ends_with('\n'));
  return Json::parse(out);
}

} // namespace

TEST_CASE("the header has one column per axis and no blank") {
  const std::string header = csvHeader(kAxes);
  CHECK(header == "module,fingerprint,estimator,hardware,rows,memory_bandwidth,status,runtime_s,"
                  "flops,bytes,collectives,collective_bytes,coverage,fits_memory,assumptions,"
                  "failure,message\n");
}

TEST_CASE("a result's row has its numbers in their shortest form") {
  const ModuleFacts facts = someFacts();
  const ItemRecord item = okItem();
  CHECK(csvRow(&facts, &item) ==
        "a.mlir," + facts.fingerprint.hex() +
            ",roofline,\"H100, tuned\",64,,ok,0.1,1000000000000,2000000000,2,4096,0.75,yes,"
            "trip_count=1 (x2);branch=largest,,\n");
}

TEST_CASE("a failed row has kind and place instead of numbers") {
  const ModuleFacts facts = someFacts();
  const ItemRecord item = failedItem();
  CHECK(csvRow(&facts, &item)
            .ends_with(",failed,,,,2,4096,,yes,trip_count=1 (x2);branch=largest,unsupported_op,"
                       "\"a.mlir:3:7: no rule for \"\"x\"\", sorry\"\n"));
}

TEST_CASE("what was not run has a row as well, also without the module's facts") {
  CHECK(csvRow(nullptr, nullptr) ==
        "a.mlir,,roofline,\"H100, tuned\",64,,not_run,,,,,,,unknown,,,\n");
}

TEST_CASE("a supposed rate is an assumption of its row") {
  const ModuleFacts facts = someFacts();
  const ItemRecord item = okItem();
  Notes notes;
  notes.assumedRates = {"f8E4M3FN"};
  CHECK(csvRow(&facts, &item, notes)
            .ends_with("trip_count=1 (x2);branch=largest;datatype_rate=f8E4M3FN,,\n"));
  const Json json = jsonRow(&facts, &item, notes);
  REQUIRE(json["assumptions"].size() == 3);
  CHECK(json["assumptions"][2]["kind"] == "datatype_rate");
}

TEST_CASE("the JSON row says the same under the same names") {
  const ModuleFacts facts = someFacts();
  const ItemRecord item = okItem();
  const Json json = jsonRow(&facts, &item);
  CHECK(json["module"] == "a.mlir");
  CHECK(json["fingerprint"] == facts.fingerprint.hex());
  CHECK(json["rows"] == 64);
  CHECK(json["memory_bandwidth"].is_null());
  CHECK(json["runtime_s"] == 0.1);
  CHECK(json["coverage"] == 0.75);
  CHECK(json["fits_memory"] == "yes");
  CHECK(json["failure"].is_null());
  CHECK(json["assumptions"][0] ==
        Json{{"kind", "trip_count"}, {"value", "1"}, {"location", "a.mlir:3:4"}, {"count", 2}});
  std::string header = csvHeader(kAxes);
  header.pop_back();
  size_t names = 0;
  for (size_t start = 0; start <= header.size(); ++names) {
    const size_t end = std::min(header.find(',', start), header.size());
    CHECK(json.contains(header.substr(start, end - start)));
    start = end + 1;
  }
  CHECK(json.size() == names);
}

TEST_CASE("the JSON row of a failure has an object") {
  const ItemRecord item = failedItem();
  const Json json = jsonRow(nullptr, &item);
  CHECK(json["status"] == "failed");
  CHECK(json["runtime_s"].is_null());
  CHECK(json["failure"]["kind"] == "unsupported_op");
  CHECK(json["failure"]["line"] == 3);
  CHECK(json["message"] == "a.mlir:3:7: no rule for \"x\", sorry");
}

TEST_CASE("memory that is not known does not fit or fail to fit") {
  ModuleFacts facts = someFacts();
  CHECK((fitsMemory(&facts, 99) == FitsMemory::No));
  CHECK((fitsMemory(&facts, 100) == FitsMemory::Yes));
  CHECK((fitsMemory(&facts, 0) == FitsMemory::Unknown));
  CHECK((fitsMemory(nullptr, 100) == FitsMemory::Unknown));
}

TEST_CASE("notes are parsed once and refused when damaged") {
  NotesReader reader;
  const std::string text = R"({"uncovered":[["custom_call:f",2]],"assumed_rates":["i4"]})";
  const Notes& notes = reader.read(text);
  CHECK(notes.uncovered == std::vector<Uncovered>{{"custom_call:f", 2}});
  CHECK(notes.assumedRates == std::vector<std::string>{"i4"});
  CHECK(&reader.read(text) == &notes);
  CHECK(reader.read("").uncovered.empty());
  CHECK_THROWS_AS(reader.read("{"), Error);
}
