// Estimators that run an external program for each module and read the time from its output.
#pragma once

#include <string>
#include <vector>

#include "estimators/compute_estimator.h"
#include "estimators/program_runs.h"

namespace nocturne {

// Seconds of the runs in a report of Google Benchmark, without aggregates. Throws ItemError as
// timesIn.
std::vector<double> benchmarkTimes(const std::string& output);

enum class SampleSummary : uint8_t { Mean, Median, Least };
// Seconds from samples; the first of several is dropped when `dropFirst`: it warms up.
double summarised(std::vector<double> samples, bool dropFirst, SampleSummary how);

// What the options of `command` spell out.
class CommandEstimator : public ComputeEstimator {
public:
  static void describe(EstimatorClass<CommandEstimator>& c);

protected:
  ModuleResult wholeModuleResult(const Module& module, const ModuleSource& source) override;

private:
  void setSummary(const Json& value);
  void setUnit(const Json& value);
  void checkSource();

  std::vector<std::string> prepare_, command_;
  std::string pattern_, pointer_;
  double secondsPerUnit_ = 1, timeout_ = 600, largestOutput_ = 0;
  int64_t repetitions_ = 1;
  bool dropFirst_ = true;
  SampleSummary summary_ = SampleSummary::Mean;
};

// XLA's own tools: xla-translate to HLO text, hlo_runner_main to run and time it.
class XlaEstimator : public ComputeEstimator {
public:
  static void describe(EstimatorClass<XlaEstimator>& c);

protected:
  ModuleResult wholeModuleResult(const Module& module, const ModuleSource& source) override;

private:
  std::string translate_, runner_;
  double timeout_ = 600;
  int64_t repetitions_ = 5;
};

// IREE's compiler and benchmark program.
class IreeEstimator : public ComputeEstimator {
public:
  static void describe(EstimatorClass<IreeEstimator>& c);

protected:
  ModuleResult wholeModuleResult(const Module& module, const ModuleSource& source) override;

private:
  std::string compiler_, benchmark_, backend_, device_, function_;
  std::vector<std::string> compilerArguments_, benchmarkArguments_;
  double timeout_ = 600;
  int64_t repetitions_ = 3;
};

} // namespace nocturne
