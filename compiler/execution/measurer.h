// Measurements in processes of their own.
#pragma once

#include <mutex>
#include <string>

#include "engine/kernel_builder.h"

namespace nocturne::compiler {

// Builds and runs each module in a copy of the program `nocturne`, so that nothing that compiler or
// code may do reaches this process. Needs neither itself.
class ModuleMeasurer final : public KernelBuilder {
public:
  // `program` is a path of the command `nocturne`. Without one it is the first there is of: this
  // process, when it is that command; what the environment variable NOCTURNE_PROGRAM names; the
  // first `nocturne` in $PATH.
  explicit ModuleMeasurer(std::string program = {});

  // Where libraries are kept for requests that name no folder. Without one they are built for each
  // measurement anew.
  void keepIn(std::string folder);

  Measurement measure(const MeasureRequest& request) override;
  std::string environmentText() const override { return environment_; }

private:
  const std::string program_;
  const std::string environment_;
  std::mutex turn_; // one measurement at a time: they would disturb each other
  std::string folder_;
};

} // namespace nocturne::compiler
