#include "ops.h"

#include <array>
#include <cstdio>
#include <sstream>

namespace nocturne::test {

TensorType type(const std::string& text) {
  TensorType out;
  size_t at = 0;
  for (size_t next; (next = text.find('x', at)) != std::string::npos; at = next + 1) {
    std::string part = text.substr(at, next - at);
    if (part.find_first_not_of("0123456789?") != std::string::npos)
      break;
    out.dims.push_back(part == "?" ? kDynamic : std::stoll(part));
  }
  std::optional<ElementKind> kind = elementKindFromName(text.substr(at));
  REQUIRE_MESSAGE(kind, text);
  out.element.kind = *kind;
  return out;
}

std::vector<TensorType> types(const std::string& text) {
  std::vector<TensorType> out;
  std::istringstream words(text);
  for (std::string word; words >> word;)
    out.push_back(type(word));
  return out;
}

OpInfo op(const std::string& name, const std::string& operands, const std::string& results,
          OpAttributes attributes, std::vector<OpInfo> nested) {
  OpInfo out;
  out.name = name;
  out.operands = types(operands);
  out.results = types(results);
  out.attributes = std::move(attributes);
  out.nested = std::move(nested);
  return out;
}

OpInfo customCall(const std::string& target, const std::string& operands,
                  const std::string& results) {
  return op("stablehlo.custom_call", operands, results, CustomCallAttributes{target, false, ""});
}

std::vector<OpInfo> addBody(const std::string& element) {
  return {op("stablehlo.add", element + ' ' + element, element),
          op("stablehlo.return", element, "")};
}

Json unitMachine() {
  return {{"peak_flops", 1e12}, {"memory_bandwidth", 1e12}};
}

std::unique_ptr<Estimator> make(const std::string& name, const Json& machine, const Json& options) {
  EstimatorRegistry registry;
  registerBuiltins(registry);
  const EstimatorDescription* description = registry.find(name);
  REQUIRE(description != nullptr);
  return registry.create(name, resolveOptions(description->options, options, machine, ""));
}

EstimatorResult cost(const OpInfo& info, const Json& options, const std::string& estimator) {
  return make(estimator, unitMachine(), options)->getEstimate(moduleOf({info}));
}

double flopsOf(const OpInfo& info) {
  return cost(info).flops;
}
double bytesOf(const OpInfo& info) {
  return cost(info).bytes;
}

Module moduleOf(const std::vector<OpInfo>& ops) {
  ModuleBuilder builder("test.mlir");
  for (const OpInfo& one : ops)
    builder.add(one);
  return builder.build();
}

std::string sixDigits(double value) {
  std::array<char, 64> buffer;
  std::snprintf(buffer.data(), buffer.size(), "%.6g", value);
  return buffer.data();
}

} // namespace nocturne::test
