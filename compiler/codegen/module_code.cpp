#include "compiler/codegen/module_code.h"

#include <chrono>
#include <optional>
#include <utility>

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/raw_ostream.h"

#include "compiler/codegen/check_calls.h"
#include "compiler/codegen/entry_points.h"
#include "compiler/codegen/lower_module.h"
#include "compiler/codegen/object.h"
#include "compiler/codegen/pipeline.h"
#include "compiler/codegen/registry.h"
#include "compiler/codegen/schedule.h"
#include "compiler/lowering/diagnostics.h"

namespace nocturne::compiler {

using namespace mlir;

namespace {

// The stages of one compilation, each with its time and, if wanted, what it made.
class Compilation {
public:
  Compilation(ModuleOp module, const CompileOptions& options, ModuleCode& code, Failure& failure)
      : module_(module), options_(options), code_(code), failure_(failure) {}

  LogicalResult run() {
    if (failed(checkCalls(module_, failure_)) ||
        failed(readEntryPoints(module_, options_.symbolPrefix, code_.entries, failure_)))
      return failure();
    return success(
        succeeded(lower()) && succeeded(optimise()) &&
        succeeded(transform("buffers",
                            [&](OpPassManager& passes) { addBufferPipeline(passes, options_); })) &&
        succeeded(options_.schedule.empty() ? success()
                                            : transform("vectors", addVectorPipeline)) &&
        succeeded(transform("llvm", addLlvmPipeline)) && succeeded(emit()));
  }

private:
  using Clock = std::chrono::steady_clock;

  LogicalResult lower() {
    Clock::time_point start = Clock::now();
    if (failed(lowerModule(module_, code_.entries, options_.generateWeights, failure_)))
      return failure();
    finish("linalg", start);
    return success();
  }

  LogicalResult optimise() {
    const bool usual = !options_.plain && options_.schedule.empty();
    if (failed(transform("tensors", usual ? addTensorPipeline : addInliningPipeline)))
      return failure();
    if (options_.schedule.empty())
      return success();
    Clock::time_point start = Clock::now();
    if (failed(applySchedule(module_, options_.schedule, failure_)))
      return failure();
    finish("scheduled", start);
    return success();
  }

  template <typename Add>
  LogicalResult transform(const char* name, Add add) {
    Clock::time_point start = Clock::now();
    FirstError errors(*module_.getContext());
    PassManager passes(module_.getContext());
    // After each stage, which is enough for passes of ours; a schedule may be anybody's.
    passes.enableVerifier(!options_.schedule.empty());
    add(passes);
    if (failed(passes.run(module_)) || failed(verify(module_))) {
      failure_ = errors.failure(FailureKind::Internal,
                                std::string("code generation failed in its stage \"") + name + '"');
      return failure();
    }
    finish(name, start);
    return success();
  }

  LogicalResult emit() {
    Clock::time_point start = Clock::now();
    FirstError errors(*module_.getContext());
    if (failed(rejectLeftovers()) || failed(emitEntryPoints(module_, code_.entries, failure_)))
      return failure();
    EmittedObject emitted;
    ObjectOptions options{options_.target, options_.level, options_.keepStages};
    if (failed(emitObject(module_, options, emitted, failure_))) {
      failure_ = errors.failure(FailureKind::Internal, failure_.message);
      return failure();
    }
    code_.object = std::move(emitted.bytes);
    code_.times.push_back({"object", secondsSince(start)});
    if (options_.keepStages)
      code_.stages.emplace_back("ll", std::move(emitted.llvmIr));
    return success();
  }

  // The passes leave alone what they do not know, and the translation's words for it are obscure.
  LogicalResult rejectLeftovers() {
    WalkResult walked = module_.walk([&](Operation* op) {
      if (isa<ModuleOp>(op) || isa<LLVM::LLVMDialect>(op->getDialect()))
        return WalkResult::advance();
      failure_ = {FailureKind::Internal,
                  "no machine code can be made for '" + op->getName().getStringRef().str() + "'",
                  "", 0, 0};
      setPlace(failure_, op->getLoc());
      return WalkResult::interrupt();
    });
    return failure(walked.wasInterrupted());
  }

  static double secondsSince(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
  }

  void finish(const char* name, Clock::time_point start) {
    code_.times.push_back({name, secondsSince(start)});
    if (!options_.keepStages)
      return;
    std::string text;
    llvm::raw_string_ostream stream(text);
    module_.print(stream, OpPrintingFlags().elideLargeElementsAttrs(64));
    code_.stages.emplace_back(name, std::move(text));
  }

  ModuleOp module_;
  const CompileOptions& options_;
  ModuleCode& code_;
  Failure& failure_;
};

} // namespace

LogicalResult compileModule(ParsedModule& parsed, const CompileOptions& options, ModuleCode& code,
                            Failure& failure) {
  registerCodegen(*parsed.context);
  return Compilation(*parsed.module, options, code, failure).run();
}

LogicalResult compileText(std::string text, const std::string& path, const CompileOptions& options,
                          ModuleCode& code, Failure& failure) {
  ParsedModule parsed;
  if (failed(scanAndParse(std::move(text), path, parsed, failure)))
    return mlir::failure();
  return compileModule(parsed, options, code, failure);
}

} // namespace nocturne::compiler
