// Reading a module against what MLIR alone needs to parse and verify the same text.
// usage: reader_bench FILE...   prints one line per file: bytes, parse seconds, read seconds, ratio
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"

#include "compiler/dialect/Register.h"
#include "compiler/reader/reader.h"

namespace {

double bestOf(int repetitions, const std::function<void()>& work) {
  double best = 1e300;
  for (int i = 0; i < repetitions; ++i) {
    const auto start = std::chrono::steady_clock::now();
    work();
    best = std::min(
        best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return best;
}

} // namespace

int main(int argc, char** argv) {
  mlir::DialectRegistry registry;
  nocturne::registerReadableDialects(registry);
  for (int i = 1; i < argc; ++i) {
    std::stringstream buffer;
    buffer << std::ifstream(argv[i], std::ios::binary).rdbuf();
    const std::string text = buffer.str();
    const int repetitions = text.size() > 1'000'000 ? 7 : 25;
    const double parse = bestOf(repetitions, [&] {
      mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
      context.allowUnregisteredDialects();
      mlir::ParserConfig config(&context, /*verifyAfterParse=*/true);
      if (!mlir::parseSourceString<mlir::ModuleOp>(text, config))
        std::fprintf(stderr, "%s: does not parse\n", argv[i]);
    });
    const double read = bestOf(repetitions, [&] {
      nocturne::compiler::readModuleText(text, argv[i], nocturne::compiler::ReaderOptions{});
    });
    std::printf("%s\t%zu\t%.6f\t%.6f\t%.3f\n", argv[i], text.size(), parse, read, read / parse);
  }
  return 0;
}
