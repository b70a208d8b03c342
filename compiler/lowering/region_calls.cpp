#include "compiler/lowering/region_calls.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"

#include "compiler/dialect/StablehloOps.h"

namespace nocturne::compiler {

using namespace mlir;

namespace {

// Calls in functions and in branches and loops stay calls.
bool isInElementRegion(Operation* op) {
  return op->getParentOfType<stablehlo::ReduceOp>() ||
         op->getParentOfType<stablehlo::ReduceWindowOp>() ||
         op->getParentOfType<stablehlo::SelectAndScatterOp>() ||
         op->getParentOfType<stablehlo::ScatterOp>() || op->getParentOfType<stablehlo::SortOp>() ||
         op->getParentOfType<stablehlo::MapOp>();
}

// More calls inside of each other than this are a function that calls itself.
constexpr unsigned kDeepest = 100;

LogicalResult inlineCall(func::CallOp call, SymbolTable& symbols, unsigned depth) {
  auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
  if (!callee || !callee.getBody().hasOneBlock())
    return call.emitError("calls '") << call.getCallee() << "', which has no body";
  if (depth > kDeepest)
    return call.emitError("calls '") << call.getCallee() << "', which calls itself";
  Block& body = callee.getBody().front();
  IRMapping values;
  values.map(body.getArguments(), call.getOperands());
  OpBuilder builder(call);
  SmallVector<func::CallOp> further;
  for (Operation& op : body.without_terminator())
    builder.clone(op, values)->walk([&](func::CallOp inner) { further.push_back(inner); });
  for (auto [result, returned] : llvm::zip(call.getResults(), body.getTerminator()->getOperands()))
    result.replaceAllUsesWith(values.lookupOrDefault(returned));
  call.erase();
  for (func::CallOp inner : further)
    if (failed(inlineCall(inner, symbols, depth + 1)))
      return failure();
  return success();
}

} // namespace

LogicalResult inlineRegionCalls(ModuleOp module) {
  SymbolTable symbols(module);
  SmallVector<func::CallOp> calls;
  module.walk([&](func::CallOp call) {
    if (isInElementRegion(call))
      calls.push_back(call);
  });
  for (func::CallOp call : calls)
    if (failed(inlineCall(call, symbols, 0)))
      return failure();
  return success();
}

} // namespace nocturne::compiler
