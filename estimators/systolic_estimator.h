// A systolic array: contractions and convolutions by the cycles and the traffic of their folds,
// everything else as a roofline. docs/systolic.md derives the formulas.
#pragma once

#include <optional>
#include <string>

#include "estimators/roofline_estimator.h"
#include "estimators/systolic_model.h"

namespace nocturne {

class SystolicEstimator : public RooflineEstimator {
public:
  static void describe(EstimatorClass<SystolicEstimator>& c);

protected:
  double arithmeticSeconds(const OpInfo& op, const OpResult& result) const override;

private:
  OpResult dot(const OpInfo& op);
  OpResult convolution(const OpInfo& op);
  OpResult onArray(const OpInfo& op, const Work& work);
  double arraySeconds(const SystolicCost& cost) const;
  Json describeArray(const ModuleResult& result);
  void setDataflow(const Json& value);
  void setUp();

  int64_t rows_ = 0, columns_ = 0;
  double frequency_ = 0;                                         // Hz; 0: not given
  double inputBuffer_ = 0, weightBuffer_ = 0, outputBuffer_ = 0; // bytes
  bool frequencyDerived_ = false;
  SystolicArray array_;
};

// The product that the operation is on an array: a dot_general as it stands, a convolution by
// unrolling its windows. Nothing for other operations and for shapes that are not known.
std::optional<MatrixProduct> matrixProductOf(const OpInfo& op);

} // namespace nocturne
