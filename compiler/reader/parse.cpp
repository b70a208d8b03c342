#include "compiler/reader/parse.h"

#include <optional>

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

#include "compiler/dialect/Register.h"
#include "compiler/reader/locations.h"
#include "compiler/reader/scan.h"

namespace nocturne::compiler {

namespace {

// Built once and only read afterwards, so that all threads may share it.
const mlir::DialectRegistry& readableDialects() {
  static const mlir::DialectRegistry registry = [] {
    mlir::DialectRegistry made;
    registerReadableDialects(made);
    return made;
  }();
  return registry;
}

// "Dialect `util' not found for custom op 'util.global' ": MLIR's message speaks to its
// programmers.
std::string explain(const std::string& message) {
  size_t found = message.find("not found for custom op '");
  if (found == std::string::npos)
    return message;
  size_t start = message.find('\'', found) + 1;
  std::string operation = message.substr(start, message.find('\'', start) - start);
  std::string dialect = operation.substr(0, operation.find('.'));
  return "operation '" + operation + "': the dialect '" + dialect +
         "' is not known here, so its short form cannot be read (its generic form can)";
}

// A message may quote the file, and a file may be one line of any length.
std::string shortened(std::string message) {
  constexpr size_t kMaxMessage = 600, kEnd = 100;
  if (message.size() <= kMaxMessage)
    return message;
  return message.substr(0, kMaxMessage - kEnd) + " ... " + message.substr(message.size() - kEnd);
}

// Keeps the first error of a context and keeps everything else quiet.
class ErrorCatcher {
public:
  ErrorCatcher(mlir::MLIRContext& context, const std::string& path)
      : handler_(&context, [this](mlir::Diagnostic& diagnostic) { take(diagnostic); }),
        path_(path) {}

  Failure failure() const {
    return first_ ? *first_ : Failure{FailureKind::Unreadable, "cannot be parsed", path_};
  }

private:
  void take(mlir::Diagnostic& diagnostic) {
    if (first_ || diagnostic.getSeverity() != mlir::DiagnosticSeverity::Error)
      return;
    Failure failure{FailureKind::Unreadable, explain(diagnostic.str()), path_};
    if (std::optional<mlir::FileLineColLoc> place = fileLocation(diagnostic.getLocation())) {
      failure.file = place->getFilename().str();
      failure.line = place->getLine();
      failure.column = place->getColumn();
    }
    for (mlir::Diagnostic& note : diagnostic.getNotes()) {
      std::string text = note.str();
      // Lists everything that is registered, and prints whole operations over many lines.
      if (text.starts_with("Available dialects") || text.starts_with("see current operation"))
        continue;
      failure.message += "; " + text;
    }
    failure.message = shortened(std::move(failure.message));
    first_ = std::move(failure);
  }

  mlir::ScopedDiagnosticHandler handler_;
  const std::string& path_;
  std::optional<Failure> first_;
};

} // namespace

mlir::LogicalResult parseModule(const std::string& text, const std::string& path,
                                ParsedModule& parsed, Failure& failure) {
  // One context per module: a reused one keeps every type and location it ever saw.
  parsed.context = std::make_unique<mlir::MLIRContext>(readableDialects(),
                                                       mlir::MLIRContext::Threading::DISABLED);
  parsed.context->allowUnregisteredDialects();
  parsed.context->printOpOnDiagnostic(false);
  ErrorCatcher errors(*parsed.context, path);
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(
      llvm::MemoryBuffer::getMemBuffer(text, path, /*RequiresNullTerminator=*/true), llvm::SMLoc());
  mlir::ParserConfig config(parsed.context.get(), /*verifyAfterParse=*/true);
  parsed.module = mlir::parseSourceFile<mlir::ModuleOp>(sources, config);
  if (parsed.module)
    return mlir::success();
  failure = errors.failure();
  return mlir::failure();
}

mlir::LogicalResult scanAndParse(std::string text, const std::string& path, ParsedModule& parsed,
                                 Failure& failure) {
  if (std::optional<Failure> problem = scanText(text, path)) {
    failure = *std::move(problem);
    return mlir::failure();
  }
  return parseModule(text, path, parsed, failure);
}

} // namespace nocturne::compiler
