// nocturne-opt: reads StableHLO text or bytecode, verifies it and prints it again.

#include "compiler/dialect/Register.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/ToolOutputFile.h"
#include "llvm/Support/raw_ostream.h"

#include <string>

namespace {

constexpr llvm::StringLiteral kUsage =
    "usage: nocturne-opt FILE [-o OUT] [--no-verify] [--print-generic]\n";

struct Arguments {
  std::string input;
  std::string output = "-";
  bool verify = true;
  bool generic = false;
};

bool readArguments(int argc, char** argv, Arguments& arguments) {
  for (int i = 1; i < argc; ++i) {
    llvm::StringRef argument = argv[i];
    if (argument == "--no-verify")
      arguments.verify = false;
    else if (argument == "--print-generic")
      arguments.generic = true;
    else if (argument == "-o" && i + 1 < argc)
      arguments.output = argv[++i];
    else if (arguments.input.empty() && (argument == "-" || !argument.starts_with("-")))
      arguments.input = argument.str();
    else
      return false;
  }
  return !arguments.input.empty();
}

} // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  if (!readArguments(argc, argv, arguments)) {
    llvm::errs() << kUsage;
    return 2;
  }
  mlir::DialectRegistry registry;
  nocturne::registerReadableDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  context.allowUnregisteredDialects();

  std::string error;
  std::unique_ptr<llvm::MemoryBuffer> file = mlir::openInputFile(arguments.input, &error);
  std::unique_ptr<llvm::ToolOutputFile> out =
      file ? mlir::openOutputFile(arguments.output, &error) : nullptr;
  if (!out) {
    llvm::errs() << "nocturne-opt: " << error << '\n';
    return 1;
  }
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(file), llvm::SMLoc());
  mlir::SourceMgrDiagnosticHandler diagnostics(sources, &context);
  mlir::ParserConfig config(&context, arguments.verify);
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::parseSourceFile<mlir::ModuleOp>(sources, config);
  if (!module)
    return 1;
  mlir::OpPrintingFlags flags;
  flags.printGenericOpForm(arguments.generic);
  module->print(out->os(), flags);
  out->os() << '\n';
  out->keep();
  return 0;
}
