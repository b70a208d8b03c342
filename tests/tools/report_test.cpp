#include "tools/report/report.h"

#include <sstream>

#include <doctest/doctest.h>

#include "storage/run_record.h"
#include "tests/support/scratch_dir.h"
#include "tools/report/summary_json.h"
#include "tools/report/summary_text.h"

using namespace nocturne;
using namespace nocturne::test;
using namespace nocturne::tools;

namespace {

std::vector<std::string> linesOf(const std::string& path) {
  std::vector<std::string> lines;
  std::istringstream in(readText(path));
  for (std::string line; std::getline(in, line);)
    lines.push_back(line);
  return lines;
}

// Modules on one machine with an axis of so many values.
SweepPlan makePlan(size_t modules, int values) {
  SweepPlan plan;
  for (size_t i = 0; i < modules; ++i)
    plan.modules.push_back({"/m/" + std::to_string(i), "m" + std::to_string(i) + ".mlir"});
  EstimatorEntry estimator;
  estimator.name = "roofline";
  plan.estimators = {estimator};
  HardwareEntry machine;
  machine.base.name = "box";
  machine.base.values = {{"memory_capacity", 1000}, {"source", "a label on the box"}};
  machine.nameTemplate = "box-{memory_bandwidth}";
  Axis axis;
  axis.path = "memory_bandwidth";
  for (int i = 1; i <= values; ++i)
    axis.values.push_back(i * 1e9);
  machine.grid = {axis};
  plan.hardware = {machine};
  plan.index();
  return plan;
}

ItemRecord makeItem(uint64_t module, uint64_t point) {
  ItemRecord item;
  item.point = point;
  item.result.key = hashBytes(std::to_string(module * 1000 + point));
  if (module == 1) {
    item.status = ItemStatus::Failed;
    item.failure = Failure{FailureKind::UnsupportedOp, "no rule", "/m/1", 2, 3};
    return item;
  }
  item.status = ItemStatus::Ok;
  item.result.success = true;
  item.result.runtime = 0.25 / static_cast<double>(point + 1);
  item.result.flops = 100;
  item.result.coveredRuns = 1;
  item.result.totalRuns = 2;
  item.result.notes = R"({"uncovered":[["stablehlo.sort",1]]})";
  return item;
}

void putShard(RunRecord& record, uint64_t module, uint64_t first, uint64_t points) {
  ShardRecord shard;
  shard.module = module;
  shard.firstPoint = first;
  ModuleFacts facts;
  facts.contentHash = facts.fingerprint = hashBytes(std::to_string(module));
  facts.peakBytes = 500;
  shard.facts = facts;
  for (uint64_t point = first; point < first + points; ++point)
    shard.items.push_back(makeItem(module, point));
  StatisticsTree statistics;
  statistics.root().count("estimates").add(static_cast<int64_t>(points));
  statistics.root().interval("estimation_time").sampleStart(1);
  statistics.root().interval("estimation_time").sampleEnd(1 + static_cast<double>(module));
  shard.statistics = statistics.serialise(true);
  record.putShard(shard);
}

std::string provenance() {
  Provenance made;
  made.inputs["estimators"] = {{{"name", "roofline"}, {"confined_to_one_actor", true}}};
  made.process["jobs"] = 4;
  return toText(made);
}

} // namespace

TEST_CASE("a half-finished run is reported with a row for everything that was not run") {
  const ScratchDir scratch;
  const SweepPlan plan = makePlan(3, 2);
  const OpenedRun run = openRunRecord(scratch.path(), plan, "0.1.0", provenance());
  putShard(*run.record, 0, 0, 2);
  putShard(*run.record, 1, 0, 2);
  RunReader reader(scratch.path());
  const Report report = writeReport(reader, scratch.path());

  const std::vector<std::string> csv = linesOf(report.files.csv);
  REQUIRE(csv.size() == 7);
  CHECK(csv[1].starts_with("m0.mlir," + hashBytes("0").hex() + ",roofline,box-"));
  CHECK(csv[1].find(",1000000000,ok,0.25,100,0,0,0,0.5,yes,") != std::string::npos);
  CHECK(csv[4].ends_with(",unsupported_op,/m/1:2:3: no rule"));
  CHECK(csv[6].ends_with(",2000000000,not_run,,,,,,,unknown,,,"));
  const std::vector<std::string> jsonl = linesOf(report.files.jsonl);
  REQUIRE(jsonl.size() == 6);
  CHECK(Json::parse(jsonl[5])["status"] == "not_run");

  const Json summary = Json::parse(readText(report.files.summary));
  CHECK(summary["total"]["ok"] == 2);
  CHECK(summary["total"]["failures"]["unsupported_op"] == 2);
  CHECK(summary["total"]["not_run"] == 2);
  REQUIRE(summary["per_point"].size() == 2);
  CHECK(summary["per_point"][0]["fastest"]["module"] == "m0.mlir");
  CHECK(summary["per_point"][1]["runtime_s"] == 0.125);
  CHECK(summary["per_point"][0]["coverage"]["min"] == 0.5);
  CHECK(summary["uncovered"] ==
        Json::parse(R"([{"name":"stablehlo.sort","modules":1,"results":2}])"));
  CHECK(summary["statistics"]["estimates"] == 4);
  CHECK_FALSE(summary["statistics"].contains("estimation_time"));
  CHECK(summary["provenance"]["machines"][0]["source"] == "a label on the box");

  const Json timing = Json::parse(readText(report.files.timing));
  CHECK(timing["jobs"] == 4);
  CHECK(timing["intervals_s"]["estimation_time"] == 1);
  CHECK(timing["outcome"].is_null());

  const std::string text = summaryText(report);
  CHECK(text.find("2 ok, 2 failed, 2 not run") != std::string::npos);
  CHECK(text.find("confined to one actor") != std::string::npos);
  CHECK(text.find("/m/1:2:3: no rule") != std::string::npos);
}

TEST_CASE("a summary of very many points stays short and says so") {
  const ScratchDir scratch;
  const SweepPlan plan = makePlan(1, 1500);
  const OpenedRun run = openRunRecord(scratch.path(), plan);
  for (uint64_t first = 0; first < 1500; first += kShardPoints)
    putShard(*run.record, 0, first, std::min<uint64_t>(kShardPoints, 1500 - first));
  RunReader reader(scratch.path());
  const Report report = writeReport(reader, scratch.path());
  CHECK(linesOf(report.files.csv).size() == 1501);
  const Json summary = Json::parse(readText(report.files.summary));
  CHECK(summary["per_point"].size() == 1000);
  CHECK(summary["points_omitted"] == 500);
  CHECK(summary["total"]["ok"] == 1500);
  const std::string text = summaryText(report);
  CHECK(std::count(text.begin(), text.end(), '\n') <= 40);
  CHECK(text.find("the fastest 20 of 1,500") != std::string::npos);
}

TEST_CASE("a report made twice has the same bytes") {
  const ScratchDir scratch;
  const OpenedRun run = openRunRecord(scratch.path(), makePlan(2, 3));
  putShard(*run.record, 0, 0, 3);
  putShard(*run.record, 1, 0, 3);
  RunReader reader(scratch.path());
  const Report first = writeReport(reader, scratch.path());
  const std::string csv = readText(first.files.csv), summary = readText(first.files.summary);
  writeReport(reader, scratch.path());
  CHECK(readText(first.files.csv) == csv);
  CHECK(readText(first.files.summary) == summary);
}

TEST_CASE("a plan is printed with its size") {
  const std::string text = planText(makePlan(12, 300), 2);
  CHECK(text.find("12: m0.mlir") != std::string::npos);
  CHECK(text.find("2 more") != std::string::npos);
  CHECK(text.find("memory_bandwidth[300]") != std::string::npos);
  CHECK(text.find("3,600") != std::string::npos);
  CHECK(text.find("24 of up to 256 points") != std::string::npos);
}
