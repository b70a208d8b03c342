// A code generator whose modules are lines of words.
#pragma once

#include <atomic>
#include <string>

#include "compiler/drivers/code_generator.h"

namespace nocturne::test {

// Words of a line:
//   entry NAME FACTOR   multiplies four f32 (required; one per module; at most 16 letters)
//   bad                 generate() throws ItemError
//   throw               generate() throws what is no Error of ours
//   needs               calls nobody_has_this(), which no library has
//   feature NAME        of the processor
// Other lines are comments. With a `countFile`, each call of generate() adds a byte to it.
class FakeGenerator : public compiler::CodeGenerator {
public:
  explicit FakeGenerator(std::string version = "fake 1", std::string countFile = {});

  compiler::GeneratedCode generate(const compiler::ModuleSource& source,
                                   const compiler::Target& target,
                                   const compiler::GenerateOptions& options) override;
  std::string version() const override { return version_; }
  compiler::Target resolve(const compiler::Target& target) const override;
  int calls() const { return calls_; }

private:
  const std::string version_, countFile_;
  std::atomic<int> calls_ = 0;
};

compiler::ModuleSource scaleModule(const std::string& entry, int factor,
                                   const std::string& more = {});

} // namespace nocturne::test
