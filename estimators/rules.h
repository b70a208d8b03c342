// The rules of the roofline model by operation name, family by family.
#pragma once

#include <string_view>

#include "estimators/roofline_estimator.h"

namespace nocturne {

// Takes the rules of the families: into a declaration, or into the table behind findRule.
class RuleSink {
public:
  explicit RuleSink(EstimatorClass<RooflineEstimator>* declaration) : declaration_(declaration) {}

  template <WorkRule Rule>
  void add(const std::vector<std::string>& names) {
    if (declaration_ != nullptr)
      declaration_->opHandler(names, &RooflineEstimator::charged<Rule>);
    for (const std::string& name : names) {
      names_.push_back(name);
      rules_.push_back(Rule);
    }
  }
  const std::vector<std::string>& names() const { return names_; }
  const std::vector<WorkRule>& rules() const { return rules_; }

private:
  EstimatorClass<RooflineEstimator>* declaration_;
  std::vector<std::string> names_;
  std::vector<WorkRule> rules_;
};

// The full names: withDialect("stablehlo", {"add"}) is {"stablehlo.add"}.
std::vector<std::string> withDialect(const std::string& dialect,
                                     const std::vector<std::string>& names);

void addElementwiseRules(RuleSink& sink);
void addContractionRules(RuleSink& sink);
void addConvolutionRules(RuleSink& sink);
void addDataMovementRules(RuleSink& sink);
void addReductionRules(RuleSink& sink);
void addIndexingRules(RuleSink& sink);
void addLinearAlgebraRules(RuleSink& sink);
void addControlRules(RuleSink& sink);
void addAllRules(RuleSink& sink);

// nullptr for names that have no rule (among them fusions and custom calls, which need the
// machine).
WorkRule findRule(std::string_view name);

// The rule for a custom call's target, nullptr when it is not covered.
WorkRule findTargetRule(std::string_view target);

// Rules that several families or custom calls share.
Work dotWork(const OpInfo& op);
Work gemmWork(const OpInfo& op);
Work raggedDotWork(const OpInfo& op);
Work convolutionWork(const OpInfo& op);
Work libraryConvolutionWork(const OpInfo& op);
Work topKWork(const OpInfo& op);
Work choleskyWork(const OpInfo& op);
Work triangularSolveWork(const OpInfo& op);
Work randomBitsWork(const OpInfo& op);
Work transcendentalWork(const OpInfo& op);

} // namespace nocturne
