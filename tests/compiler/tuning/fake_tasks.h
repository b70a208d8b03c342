// Tasks whose candidates do what the test wants, built by a generator that needs no MLIR.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "compiler/drivers/code_generator.h"
#include "compiler/tuning/build_task.h"

namespace nocturne::test {

// Flags of a candidate:
//   --way=right|wrong|crash|hang|refuse|once   what its code does
//   --rounds=N                                 how often, so how long it takes (1 when absent)
//   --bad                                      cannot be built
//   --missing=FILE                             cannot be built as long as there is no such file
// All others are ignored. With a `countFile`, each call of generate() adds a byte to it.
class FakeWays : public compiler::CodeGenerator {
public:
  explicit FakeWays(std::string version = "ways 1", std::string countFile = {})
      : version_(std::move(version)), countFile_(std::move(countFile)) {}

  compiler::GeneratedCode generate(const compiler::ModuleSource& source,
                                   const compiler::Target& target,
                                   const compiler::GenerateOptions& options) override;
  std::string version() const override { return version_; }
  compiler::Target resolve(const compiler::Target& target) const override { return target; }

private:
  const std::string version_, countFile_;
};

// A candidate named like its flags.
compiler::Candidate way(const std::string& flag, const std::string& more = {});
compiler::Task taskOf(std::vector<compiler::Candidate> candidates);

// Times that are short; the worker is the probe of these tests when `isolated`.
compiler::TaskOptions quickly(const std::string& cacheDir, bool isolated = false);

} // namespace nocturne::test
