#include "compiler/codegen/inline_calls.h"

#include <optional>

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"

#include "compiler/dialect/StablehloOps.h"

namespace nocturne::compiler {

using namespace mlir;

namespace {

// Calls in the branches and loops of a function stay calls.
bool isInAppliedFunction(func::CallOp call) {
  Operation* parent = call->getParentOp();
  return !isa<func::FuncOp, stablehlo::WhileOp, stablehlo::IfOp, stablehlo::CaseOp>(parent);
}

// How many operations came in; nothing when the call stays.
std::optional<size_t> inlineCall(func::CallOp call, ModuleOp module) {
  auto callee = module.lookupSymbol<func::FuncOp>(call.getCallee());
  if (!callee || callee.isExternal() || !callee.getBody().hasOneBlock())
    return std::nullopt;
  OpBuilder builder(call);
  IRMapping values;
  Block& body = callee.getBody().front();
  values.map(body.getArguments(), call.getOperands());
  size_t count = 0;
  for (Operation& op : body.without_terminator()) {
    builder.clone(op, values);
    ++count;
  }
  for (auto [result, operand] : llvm::zip(call.getResults(), body.getTerminator()->getOperands()))
    result.replaceAllUsesWith(values.lookupOrDefault(operand));
  call.erase();
  return count;
}

} // namespace

void inlineRegionCalls(ModuleOp module) {
  // The depth of calls, and the operations that come in: a function that calls itself must end
  // somewhere, and one that does so twice doubles with every round.
  constexpr int kRounds = 32;
  constexpr size_t kMostOperations = 1'000'000;
  size_t inlined = 0;
  for (int round = 0; round < kRounds; ++round) {
    llvm::SmallVector<func::CallOp> calls;
    module.walk([&](func::CallOp call) {
      if (isInAppliedFunction(call))
        calls.push_back(call);
    });
    bool changed = false;
    for (func::CallOp call : calls) {
      if (inlined > kMostOperations)
        return;
      const std::optional<size_t> count = inlineCall(call, module);
      inlined += count.value_or(0);
      changed |= count.has_value();
    }
    if (!changed)
      return;
  }
}

} // namespace nocturne::compiler
