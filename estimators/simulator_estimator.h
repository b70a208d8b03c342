// Matrix products by an external simulator, everything else as a roofline.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "estimators/program_runs.h"
#include "estimators/roofline_estimator.h"
#include "estimators/systolic_model.h"

namespace nocturne {

// What the estimators below share: contractions and convolutions are matrix products, and a program
// is asked once for each of them that is told apart by what the program is told.
class ProductSimulator : public RooflineEstimator {
protected:
  // How the program is asked about one product.
  struct Program {
    std::vector<std::string> command; // with placeholders
    std::string layer;                // the content of the layers file, with placeholders
    std::vector<std::string> links;   // what it expects in its working folder
    TimeSource time;
    bool transposeTall = false; // ask for the transposed product when that has fewer rows
    double largestExtent = 0x1p62;
  };

  // Declares what is common to the classes derived from this one.
  template <typename T>
  static void declare(EstimatorClass<T>& c);
  void setProgram(Program program);

  double arithmeticSeconds(const OpInfo& op, const OpResult& result) const override;

private:
  // One question: equal ones have equal answers.
  struct Question {
    std::vector<std::string> command; // its folders are still to be filled in
    std::string layer;
    std::string product;   // for messages
    double timesPerOp = 1; // how many times the answer is the time of the operation
    std::string key() const;
  };

  OpResult dot(const OpInfo& op);
  OpResult convolution(const OpInfo& op);
  OpResult simulated(const OpInfo& op, const Work& work);
  Question questionOf(const OpInfo& op, const MatrixProduct& product) const;
  double answerTo(const Question& question);
  double ask(const Question& question) const;
  void startCounting(const Module& module);
  Json describeSimulations(const ModuleResult& result);

  Program program_;
  bool saysBatch_ = false; // the program is told how many products there are
  double timeout_ = 600, largestOutput_ = 0;
  std::map<std::string, double> answers_; // seconds by Question::key, of this instance
  int64_t simulations_ = 0;               // of the run in progress or just finished
};

// What the options of `simulator` spell out.
class SimulatorEstimator : public ProductSimulator {
public:
  static void describe(EstimatorClass<SimulatorEstimator>& c);

private:
  void setUnit(const Json& value);
  void setUp();

  std::vector<std::string> command_, links_;
  std::string layer_, pattern_, pointer_;
  double secondsPerUnit_ = 1; // 0: cycles
  double frequency_ = 0;
  bool transposeTall_ = false;
};

// COCOSSim, a simulator of systolic arrays with their memory.
class CocossimEstimator : public ProductSimulator {
public:
  static void describe(EstimatorClass<CocossimEstimator>& c);

private:
  void setUp();

  std::string path_;
  double frequency_ = 0; // GHz
  int64_t chips_ = 1;
  bool transposeTall_ = true;
};

} // namespace nocturne
