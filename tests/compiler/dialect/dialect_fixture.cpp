#include "tests/compiler/dialect/dialect_fixture.h"

#include "compiler/dialect/Register.h"
#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"

namespace nocturne::test {

static mlir::DialectRegistry readableDialects() {
  mlir::DialectRegistry registry;
  registerReadableDialects(registry);
  return registry;
}

DialectFixture::DialectFixture()
    : context_(readableDialects(), mlir::MLIRContext::Threading::DISABLED) {
  context_.allowUnregisteredDialects();
}

mlir::OwningOpRef<mlir::ModuleOp> DialectFixture::parse(llvm::StringRef text) {
  errors_.clear();
  mlir::ScopedDiagnosticHandler handler(&context_, [&](mlir::Diagnostic& diagnostic) {
    std::string message;
    if (auto place = mlir::dyn_cast<mlir::FileLineColLoc>(diagnostic.getLocation()))
      message = std::to_string(place.getLine()) + ":" + std::to_string(place.getColumn()) + ": ";
    errors_.push_back(message + diagnostic.str());
  });
  return mlir::parseSourceString<mlir::ModuleOp>(text, mlir::ParserConfig(&context_));
}

mlir::OwningOpRef<mlir::ModuleOp> DialectFixture::parseBody(llvm::StringRef body) {
  return parse(("func.func @f(%a: tensor<4x4xf32>, %b: tensor<4x4xf32>, %i: tensor<i32>) {\n" +
                body + "\nreturn }")
                   .str());
}

std::string DialectFixture::print(mlir::ModuleOp module, bool generic) {
  std::string text;
  llvm::raw_string_ostream out(text);
  module->print(out, mlir::OpPrintingFlags().printGenericOpForm(generic));
  return text;
}

std::string DialectFixture::bytecode(mlir::ModuleOp module) {
  std::string bytes;
  llvm::raw_string_ostream out(bytes);
  return mlir::succeeded(mlir::writeBytecodeToFile(module, out)) ? bytes : "";
}

bool DialectFixture::survivesRoundTrip(llvm::StringRef text) {
  mlir::OwningOpRef<mlir::ModuleOp> module = parse(text);
  if (!module)
    return false;
  const std::string printed = print(*module), generic = print(*module, /*generic=*/true);
  for (const std::string& form : {printed, generic, bytecode(*module)}) {
    mlir::OwningOpRef<mlir::ModuleOp> again = parse(form);
    if (!again || print(*again) != printed || print(*again, /*generic=*/true) != generic)
      return false;
  }
  return true;
}

} // namespace nocturne::test
