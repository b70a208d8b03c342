#include "engine/event_stream.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <limits>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "engine/error.h"
#include "tests/engine/plan_fixture.h"

using namespace nocturne;

namespace {

EventStream sample() {
  EventStream stream;
  stream.metadata = {{"module", "m.mlir"}};
  stream.add({"start", 0, "us", {{"op", "stablehlo.add"}}});
  stream.add({"half", 12.5, "ns", Json::object()});
  stream.add({"order", 3, "", Json::object()});
  return stream;
}

} // namespace

TEST_CASE("a counter stream has the fields of hespas, whole numbers without a fraction") {
  EventStream stream;
  stream.add({"load", 3, "us", {{"bytes", 4}}});
  stream.add({"store", 4.5, "", Json::object()});
  CHECK(stream.text(EventFormat::CounterStream) ==
        "{\"version\":\"0.0.1\",\"metadata\":{},\"events\":["
        "{\"event_name\":\"load\",\"timestamp\":3,\"timeunit\":\"us\",\"metadata\":{\"bytes\":4}},"
        "{\"event_name\":\"store\",\"timestamp\":4.5,\"timeunit\":\"\",\"metadata\":{}}]}\n");
}

TEST_CASE("a counter stream reads back as it was") {
  const EventStream again = EventStream::parse(sample().text(EventFormat::CounterStream));
  CHECK((again.events() == sample().events()));
  CHECK(again.metadata == sample().metadata);
}

TEST_CASE("a trace has one instant an event, in microseconds") {
  const Json trace = Json::parse(sample().text(EventFormat::Perfetto));
  REQUIRE(trace.at("traceEvents").size() == 3);
  const Json& half = trace.at("traceEvents")[1];
  CHECK(half.at("ph") == "i");
  CHECK(half.at("ts") == 0.0125); // 12.5 ns
  CHECK(half.at("args").at("timeunit") == "ns");
  CHECK(trace.at("traceEvents")[2].at("ts") == 3);
}

TEST_CASE("JSON lines are one event each") {
  const std::string text = sample().text(EventFormat::JsonLines);
  const size_t end = text.find('\n');
  CHECK(Json::parse(text.substr(0, end)).at("event_name") == "start");
  CHECK(std::count(text.begin(), text.end(), '\n') == 3);
}

TEST_CASE("a file of events is complete or not there") {
  const test::ScratchDir folder;
  const std::string path = folder.path() + "/events.json";
  sample().write(path, EventFormat::CounterStream);
  std::ifstream stream(path);
  const std::string text((std::istreambuf_iterator<char>(stream)), {});
  CHECK((EventStream::parse(text).events() == sample().events()));
  CHECK_THROWS_WITH_AS(sample().write(folder.path() + "/none/e.json", EventFormat::JsonLines),
                       doctest::Contains("cannot be written"), Error);
}

TEST_CASE("appended streams keep their order and join their metadata") {
  EventStream one = sample(), other;
  other.metadata = {{"machine", "H100"}};
  other.add({"late", -1, "s", Json::object()});
  one.append(other);
  CHECK(one.events().back().name == "late");
  CHECK(one.metadata == Json{{"module", "m.mlir"}, {"machine", "H100"}});
}

TEST_CASE("events that say nothing are refused") {
  EventStream stream;
  CHECK_THROWS_AS(stream.add({"", 0, "", Json::object()}), Error);
  CHECK_THROWS_AS(stream.add({"x", std::numeric_limits<double>::infinity(), "", Json::object()}),
                  Error);
  CHECK_THROWS_AS(stream.add({"x", 0, "", Json::array()}), Error);
  CHECK(stream.empty());
}

TEST_CASE("a broken counter stream says where") {
  const auto problem = [](const std::string& text) {
    try {
      EventStream::parse(text);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  const std::string head = R"({"version": "0.0.1", "metadata": {}, "events": )";
  CHECK(problem("{").starts_with("event stream:1:2: "));
  CHECK(problem("{\"events\": " + std::string(100'000, '[')).find("nested") != std::string::npos);
  CHECK(problem("[]").starts_with(": expected an object"));
  CHECK(problem(R"({"version": "1.x.3", "metadata": {}, "events": []})").starts_with("/version: "));
  CHECK(problem(R"({"version": "1.2", "metadata": {}, "events": []})").starts_with("/version: "));
  CHECK(problem(R"({"version": "9.9.9", "metadata": {}, "events": []})") == "accepted");
  CHECK(problem(head + "3}").starts_with("/events: "));
  CHECK(problem(head + R"([{"event_name": "a", "timestamp": 1, "timeunit": ""}]})") ==
        "/events/0: there is no \"metadata\"");
  CHECK(
      problem(head + R"([{"event_name": "a", "timestamp": "x", "timeunit": "", "metadata": {}}]})")
          .starts_with("/events/0/timestamp: "));
  CHECK(problem(head + R"([{"event_name": "a", "timestamp": "7", "timeunit": "",
                           "metadata": {}}]})") == "accepted");
}
