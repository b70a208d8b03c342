// Configuration files of hespas, as `nocturne run` takes them.
#pragma once

#include <string>
#include <vector>

#include "engine/json.h"

namespace nocturne::tools {

// What such a file asks for, in our words.
struct HespasConfig {
  std::string mlirFile, outputDir; // relative ones to the current folder, as there; "" when absent
  std::string method;              // our estimator; "" when absent
  Json hardware = Json::object();  // options of the estimator
  std::vector<std::string> notes;  // what is accepted without an effect, and why
};

// Reads a file of strict JSON, for our estimator `asked`; when that is empty, for the one of the
// file's method. `hespasNumbers`: the method "roofline" is our roofline_hespas rather than our
// roofline. Throws UsageError with file, line and column, or file and JSON pointer.
HespasConfig readHespasConfig(const std::string& path, const std::string& asked,
                              bool hespasNumbers);

// Our estimator for one of hespas' methods, which are not case-sensitive. Throws UsageError for a
// method that has none; our own names stand for themselves.
std::string estimatorForMethod(std::string method, bool hespasNumbers);

} // namespace nocturne::tools
