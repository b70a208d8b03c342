#include "estimators/rules.h"

#include "estimators/name_table.h"

namespace nocturne {

std::vector<std::string> withDialect(const std::string& dialect,
                                     const std::vector<std::string>& names) {
  std::vector<std::string> out;
  for (const std::string& name : names)
    out.push_back(dialect + '.' + name);
  return out;
}

void addAllRules(RuleSink& sink) {
  addElementwiseRules(sink);
  addContractionRules(sink);
  addConvolutionRules(sink);
  addDataMovementRules(sink);
  addReductionRules(sink);
  addIndexingRules(sink);
  addLinearAlgebraRules(sink);
  addControlRules(sink);
}

WorkRule findRule(std::string_view name) {
  struct Table {
    NameTable names;
    std::vector<WorkRule> rules;
  };
  static const Table kTable = [] {
    RuleSink sink(nullptr);
    addAllRules(sink);
    return Table{NameTable(sink.names()), sink.rules()};
  }();
  uint32_t index = kTable.names.find(name);
  return index == NameTable::kNone ? nullptr : kTable.rules[index];
}

} // namespace nocturne
