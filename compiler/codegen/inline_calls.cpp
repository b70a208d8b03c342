#include "compiler/codegen/inline_calls.h"

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

bool inlineCall(func::CallOp call, ModuleOp module) {
  auto callee = module.lookupSymbol<func::FuncOp>(call.getCallee());
  if (!callee || callee.isExternal() || !callee.getBody().hasOneBlock())
    return false;
  OpBuilder builder(call);
  IRMapping values;
  Block& body = callee.getBody().front();
  values.map(body.getArguments(), call.getOperands());
  for (Operation& op : body.without_terminator())
    builder.clone(op, values);
  for (auto [result, operand] : llvm::zip(call.getResults(), body.getTerminator()->getOperands()))
    result.replaceAllUsesWith(values.lookupOrDefault(operand));
  call.erase();
  return true;
}

} // namespace

void inlineRegionCalls(ModuleOp module) {
  // The depth of calls; one that calls itself must end somewhere.
  constexpr int kRounds = 32;
  for (int round = 0; round < kRounds; ++round) {
    llvm::SmallVector<func::CallOp> calls;
    module.walk([&](func::CallOp call) {
      if (isInAppliedFunction(call))
        calls.push_back(call);
    });
    bool changed = false;
    for (func::CallOp call : calls)
      changed |= inlineCall(call, module);
    if (!changed)
      return;
  }
}

} // namespace nocturne::compiler
