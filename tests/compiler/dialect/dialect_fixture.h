// Parsing, printing and bytecode for the tests of the dialect.

#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <string>
#include <vector>

namespace nocturne::test {

class DialectFixture {
public:
  DialectFixture();

  // Null where the text is refused; errors() then says why, as "line:column: message".
  mlir::OwningOpRef<mlir::ModuleOp> parse(llvm::StringRef text);
  // A function with the given operations; `%a`, `%b` are tensor<4x4xf32>, `%i` is tensor<i32>.
  mlir::OwningOpRef<mlir::ModuleOp> parseBody(llvm::StringRef body);

  const std::vector<std::string>& errors() const { return errors_; }
  // The first error, or nothing.
  std::string error() const { return errors_.empty() ? "" : errors_.front(); }

  static std::string print(mlir::ModuleOp module, bool generic = false);
  static std::string bytecode(mlir::ModuleOp module);

  // Whether text, its generic form and its bytecode all come back as the same module.
  bool survivesRoundTrip(llvm::StringRef text);

  mlir::MLIRContext& context() { return context_; }

private:
  mlir::MLIRContext context_;
  std::vector<std::string> errors_;
};

} // namespace nocturne::test
