#include "engine/event_stream.h"

#include <array>
#include <cerrno>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <optional>
#include <system_error>
#include <utility>

#include <nlohmann/json.hpp>
#include <unistd.h>

#include "engine/error.h"
#include "engine/json_text.h"
#include "engine/number_text.h"

namespace nocturne {

namespace {

using OrderedJson = nlohmann::ordered_json;

// A unit's seconds. Units without a scale, such as cycles, are shown as microseconds: what counts
// in a trace is then the order and the proportions.
double microsecondsPer(const std::string& unit) {
  constexpr std::array<std::pair<std::string_view, double>, 4> kUnits = {
      {{"s", 1e6}, {"ms", 1e3}, {"us", 1}, {"ns", 1e-3}}};
  for (const auto& [name, factor] : kUnits)
    if (unit == name)
      return factor;
  return 1;
}

// Whole numbers without a fraction, as they were given.
OrderedJson numberJson(double value) {
  constexpr double kExact = 9007199254740992.0; // 2^53
  if (std::trunc(value) == value && std::fabs(value) <= kExact)
    return static_cast<int64_t>(value);
  return value;
}

OrderedJson toJson(const Event& event) {
  OrderedJson json;
  json["event_name"] = event.name;
  json["timestamp"] = numberJson(event.timestamp);
  json["timeunit"] = event.timeunit;
  json["metadata"] = OrderedJson::parse(event.metadata.dump());
  return json;
}

OrderedJson toTraceEvent(const Event& event) {
  OrderedJson json;
  json["name"] = event.name;
  json["ph"] = "i"; // an instant
  json["s"] = "t";  // of its thread
  json["ts"] = numberJson(event.timestamp * microsecondsPer(event.timeunit));
  json["pid"] = 1;
  json["tid"] = 1;
  json["args"] = OrderedJson::parse(event.metadata.dump());
  if (!event.timeunit.empty())
    json["args"]["timeunit"] = event.timeunit;
  return json;
}

std::string dumped(const OrderedJson& json) {
  return json.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
}

const Json& memberOf(const Json& object, const char* key, const std::string& pointer) {
  if (!object.is_object())
    throw Error(pointer + ": expected an object, not " + excerpt(object));
  const auto place = object.find(key);
  if (place == object.end())
    throw Error(pointer + ": there is no \"" + key + '"');
  return *place;
}

std::string textOf(const Json& value, const std::string& pointer) {
  if (!value.is_string())
    throw Error(pointer + ": expected a text, not " + excerpt(value));
  return value.get<std::string>();
}

// A text that is a number counts as one.
double numberOf(const Json& value, const std::string& pointer) {
  if (value.is_number())
    return value.get<double>();
  if (value.is_string())
    if (const std::optional<double> number = parseNumber(value.get<std::string>()))
      return *number;
  throw Error(pointer + ": expected a number, not " + excerpt(value));
}

void checkVersion(const Json& value) {
  const std::string text = textOf(value, "/version");
  size_t parts = 1, digits = 0;
  bool wellFormed = true;
  for (const char c : text) {
    if (c == '.') {
      wellFormed = wellFormed && digits > 0;
      ++parts;
      digits = 0;
    } else {
      wellFormed = wellFormed && c >= '0' && c <= '9';
      ++digits;
    }
  }
  if (!wellFormed || parts != 3 || digits == 0)
    throw Error("/version: expected three numbers such as " + std::string(EventStream::kVersion) +
                ", not " + excerpt(value));
}

} // namespace

void EventStream::add(Event event) {
  if (event.name.empty())
    throw Error("an event needs a name");
  if (!std::isfinite(event.timestamp))
    throw Error("the timestamp of event \"" + event.name + "\" is no number");
  if (!event.metadata.is_object())
    throw Error("the metadata of event \"" + event.name + "\" is no object");
  events_.push_back(std::move(event));
}

void EventStream::append(const EventStream& other) {
  events_.insert(events_.end(), other.events_.begin(), other.events_.end());
  metadata.update(other.metadata, true);
}

std::string EventStream::text(EventFormat format) const {
  std::string out;
  if (format == EventFormat::JsonLines) {
    for (const Event& event : events_)
      out += dumped(toJson(event)) + '\n';
    return out;
  }
  const bool trace = format == EventFormat::Perfetto;
  OrderedJson json;
  if (trace) {
    json["displayTimeUnit"] = "ns";
    json["otherData"] = OrderedJson::parse(metadata.dump());
  } else {
    json["version"] = kVersion;
    json["metadata"] = OrderedJson::parse(metadata.dump());
  }
  OrderedJson& list = json[trace ? "traceEvents" : "events"] = OrderedJson::array();
  for (const Event& event : events_)
    list.push_back(trace ? toTraceEvent(event) : toJson(event));
  return dumped(json) + '\n';
}

void EventStream::write(const std::string& path, EventFormat format) const {
  const std::string draft = path + ".draft-" + std::to_string(::getpid());
  std::error_code error;
  std::ofstream file(draft, std::ios::binary);
  file << text(format) << std::flush;
  if (!file) {
    error.assign(errno, std::generic_category());
    std::error_code ignored;
    std::filesystem::remove(draft, ignored);
  } else {
    std::filesystem::rename(draft, path, error);
  }
  if (error)
    throw Error(path + ": the events cannot be written: " + error.message());
}

EventStream EventStream::parse(std::string_view text) {
  const Json json = parseJsonText(text, "event stream").value; // not too deep, else UsageError
  checkVersion(memberOf(json, "version", ""));
  EventStream stream;
  stream.metadata = memberOf(json, "metadata", "");
  if (!stream.metadata.is_object())
    throw Error("/metadata: expected an object, not " + excerpt(stream.metadata));
  const Json& events = memberOf(json, "events", "");
  if (!events.is_array())
    throw Error("/events: expected an array, not " + excerpt(events));
  for (size_t i = 0; i < events.size(); ++i) {
    const std::string pointer = childPointer("/events", i);
    const auto at = [&](const char* key) { return childPointer(pointer, key); };
    Event event;
    event.name = textOf(memberOf(events[i], "event_name", pointer), at("event_name"));
    event.timestamp = numberOf(memberOf(events[i], "timestamp", pointer), at("timestamp"));
    event.timeunit = textOf(memberOf(events[i], "timeunit", pointer), at("timeunit"));
    event.metadata = memberOf(events[i], "metadata", pointer);
    try {
      stream.add(std::move(event));
    } catch (const Error& error) {
      throw Error(pointer + ": " + error.what());
    }
  }
  return stream;
}

} // namespace nocturne
