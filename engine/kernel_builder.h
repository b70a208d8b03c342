// Modules as code of this computer: built, run and timed. The compiler implements the service;
// tests fake it.
#pragma once

#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

#include "engine/digest.h"

namespace nocturne {

// What to measure, and how. Everything down to `arch` may change the result.
struct MeasureRequest {
  std::string text;            // of the module
  std::string path{};          // its file, for messages
  std::string entry{};         // the function; "" for main, or else every public one in order
  int64_t warmup = 2;          // calls that are not timed
  int64_t repetitions = 10;    // samples at least
  double minSeconds = 0.1;     // and samples until they are so long together
  uint64_t seed = 0;           // of the arguments' random values
  std::string arch = "native"; // processor to compile for
  std::string folder{};        // where built libraries are kept; "" where the service has its own
  double timeoutSeconds = 600; // for building and running
  std::stop_token stop = {};   // ends it early
};

// Times are seconds of one call.
struct Measurement {
  double median = 0, least = 0, mean = 0;
  double spread = 0; // median of the samples' distances from the median
  uint64_t samples = 0;
  uint64_t callsPerSample = 1; // short functions are called several times for one sample
  std::string processor{};     // "AMD EPYC 7763 64-Core Processor"
  double buildSeconds = 0;     // of compiling and linking, or of finding what was built
  bool built = false;          // false: the library was there
  Digest library{};            // of its bytes
};

// Fills in median, least, mean, spread and their number; the order of the samples has no influence.
// There is at least one.
void setTimes(Measurement& measurement, std::vector<double> samples);

// Thread-safe; measurements of one process come one after the other.
class KernelBuilder {
public:
  virtual ~KernelBuilder() = default;
  // Throws ItemError: unreadable, unsupported_op with its place, bad_config, timed_out, crashed
  // (the code or the compiler died), tool_failed.
  virtual Measurement measure(const MeasureRequest& request) = 0;
  // What every measurement rests on and no option says: processor, its features, toolchain, way of
  // measuring. Part of the keys of results.
  virtual std::string environmentText() const = 0;
};

} // namespace nocturne
