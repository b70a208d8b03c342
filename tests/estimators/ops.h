// Operations written down shortly.
#pragma once

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

#include "estimators/estimator.h"

namespace nocturne::test {

// "128x512xf32", "f32"; an extent of "?" is dynamic.
TensorType type(const std::string& text);
// Types separated by blanks.
std::vector<TensorType> types(const std::string& text);
OpInfo op(const std::string& name, const std::string& operands, const std::string& results,
          OpAttributes attributes = {}, std::vector<OpInfo> nested = {});
OpInfo customCall(const std::string& target, const std::string& operands,
                  const std::string& results);
// A reducer that adds, with its terminator, as the reader gives it.
std::vector<OpInfo> addBody(const std::string& element = "f32");

// 1 TFLOP/s and 1 TB/s, so that flops and bytes can be read off picoseconds.
Json unitMachine();
// The built-in estimator on a machine, its options set besides.
std::unique_ptr<Estimator> make(const std::string& name, const Json& machine,
                                const Json& options = Json::object());
// One operation on the roofline estimator of the unit machine.
EstimatorResult cost(const OpInfo& info, const Json& options = Json::object(),
                     const std::string& estimator = "roofline");
double flopsOf(const OpInfo& info);
double bytesOf(const OpInfo& info);
Module moduleOf(const std::vector<OpInfo>& ops);
// As "%.6g" prints it.
std::string sixDigits(double value);

} // namespace nocturne::test
