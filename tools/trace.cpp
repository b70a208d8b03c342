#include "tools/trace.h"

#include <vector>

#include "tools/report/escape.h"

namespace nocturne::tools {

namespace {

constexpr double kMicroseconds = 1e6; // in a second

std::string shortName(const std::string& name) {
  const size_t dot = name.find('.');
  return dot == std::string::npos ? name : name.substr(dot + 1);
}

void appendMember(std::string& out, const char* key, double value) {
  out += std::string(",\"") + key + "\":";
  appendJsonNumber(out, value);
}

// {"name":...,"ph":"X","pid":1,"tid":1,"ts":...,"dur":...,"args":{...}}
void appendSlice(std::string& out, const Module& module, const OpRow& row,
                 const OperationCost& cost, double start, double duration) {
  out += "{\"name\":";
  appendJsonText(out, shortName(module.ops[row.op].name));
  out += ",\"ph\":\"X\",\"pid\":1,\"tid\":1";
  appendMember(out, "ts", start * kMicroseconds);
  appendMember(out, "dur", duration * kMicroseconds);
  out += ",\"args\":{\"place\":";
  appendJsonText(out, module.place(row));
  out += ",\"bound\":";
  appendJsonText(out, toString(cost.bound));
  appendMember(out, "runs", row.multiplicity);
  appendMember(out, "flops", cost.flops * row.multiplicity);
  appendMember(out, "bytes", cost.bytes * row.multiplicity);
  out += "}},\n";
}

void appendName(std::string& out, const char* what, const std::string& name) {
  out += std::string("{\"name\":\"") + what +
         "\",\"ph\":\"M\",\"pid\":1,\"tid\":1,\"args\":{\"name\":";
  appendJsonText(out, name);
  out += "}}";
}

} // namespace

Trace traceOf(const EstimateReport& report, size_t limit) {
  Trace trace;
  trace.json = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n";
  double now = 0;
  if (report.module) {
    const Module& module = *report.module;
    std::vector<const OperationCost*> costs(module.ops.size());
    for (const OperationCost& cost : report.operations)
      costs[cost.op] = &cost;
    trace.operations = module.rows.size();
    for (const OpRow& row : module.rows) {
      const OperationCost* cost = costs[row.op];
      const double duration = cost == nullptr ? 0 : cost->runtime.value_or(0) * row.multiplicity;
      if (duration == 0) {
        ++trace.shown;
        continue;
      }
      if (limit-- == 0)
        break;
      appendSlice(trace.json, module, row, *cost, now, duration);
      now += duration;
      ++trace.shown;
    }
  }
  if (trace.shown < trace.operations) {
    trace.json += "{\"name\":";
    appendJsonText(trace.json, "cut: " + std::to_string(trace.operations - trace.shown) +
                                   " more operations follow");
    trace.json += ",\"ph\":\"i\",\"s\":\"g\",\"pid\":1,\"tid\":1";
    appendMember(trace.json, "ts", now * kMicroseconds);
    trace.json += "},\n";
  }
  appendName(trace.json, "process_name",
             report.name + ": " + report.point.estimator + " on " + report.point.hardware);
  trace.json += ",\n";
  appendName(trace.json, "thread_name", "operations");
  trace.json += "\n]}\n";
  return trace;
}

} // namespace nocturne::tools
