// Events that estimators tell: named points in time. Written as a counter stream, which is read
// back without loss, as a trace for Perfetto, or as JSON lines.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/json.h"

namespace nocturne {

struct Event {
  std::string name{};
  double timestamp = 0;
  std::string timeunit{}; // "s", "ms", "us", "ns", "cycles", ...; "" for an order without a scale
  Json metadata = Json::object();
  bool operator==(const Event&) const = default;
};

enum class EventFormat : uint8_t {
  CounterStream, // {"version": "0.0.1", "metadata": {}, "events": [{"event_name", "timestamp",
                 // "timeunit", "metadata"}, ...]}
  Perfetto,      // Chrome's trace events: an instant each, in microseconds
  JsonLines,     // one event of the counter stream a line
};

class EventStream {
public:
  static constexpr const char* kVersion = "0.0.1";

  // Throws Error for an empty name, a timestamp that is no number, or metadata that is no object.
  void add(Event event);
  const std::vector<Event>& events() const { return events_; }
  bool empty() const { return events_.empty(); }
  // Applies to all events.
  Json metadata = Json::object();
  // Events of `other` come after those that are here.
  void append(const EventStream& other);

  std::string text(EventFormat format) const;
  // The same as a file, complete or not at all. Throws Error.
  void write(const std::string& path, EventFormat format) const;
  // Reads a counter stream. A newer version is read as far as it is known; every field of every
  // event has to be there. Throws Error with a JSON pointer.
  static EventStream parse(std::string_view text);

private:
  std::vector<Event> events_;
};

} // namespace nocturne
