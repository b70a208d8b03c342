#include "compiler/execution/split.h"

#include <set>

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

#include "compiler/codegen/entry_points.h"
#include "compiler/dialect/StablehloOps.h"
#include "compiler/lowering/diagnostics.h"

namespace nocturne::compiler {

using namespace mlir;

namespace {

[[noreturn]] void fail(Location location, const std::string& message) {
  Failure failure{FailureKind::Unreadable, message, "", 0, 0};
  setPlace(failure, location);
  throw ItemError(failure);
}

func::FuncOp findEntry(ModuleOp module) {
  if (auto main = module.lookupSymbol<func::FuncOp>("main"))
    return main;
  func::FuncOp only;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (!function.isPublic() || function.isExternal())
      continue;
    if (only)
      fail(module.getLoc(), "the module has several public functions and none of them is @main");
    only = function;
  }
  if (!only)
    fail(module.getLoc(), "the module has no function that could be run");
  return only;
}

// "check.expect_eq", "" for what is no check. Checks are operations of their own or custom calls.
llvm::StringRef checkName(Operation* op) {
  llvm::StringRef name = op->getName().getStringRef();
  if (auto call = dyn_cast<stablehlo::CustomCallOp>(op))
    if (auto target = dyn_cast_or_null<StringAttr>(op->getAttr("call_target_name")))
      name = target.getValue();
  return name.starts_with("check.") ? name : llvm::StringRef();
}

uint64_t readUlps(Operation* op, llvm::StringRef name, uint64_t otherwise) {
  auto value = op->getAttrOfType<IntegerAttr>(name);
  return value ? value.getValue().getZExtValue() : otherwise;
}

Expectation readExpectation(Operation* op, llvm::StringRef name) {
  using Kind = Expectation::Kind;
  name.consume_back("_const");
  auto kind = llvm::StringSwitch<std::optional<Kind>>(name)
                  .Cases({"check.expect_eq", "check.eq"}, Kind::Equal)
                  .Case("check.expect_almost_eq", Kind::AlmostEqual)
                  .Case("check.expect_close", Kind::Close)
                  .Default(std::nullopt);
  if (!kind || op->getNumOperands() != 2 || op->getNumResults() != 0)
    fail(op->getLoc(), "the check '" + name.str() + "' is not known in this form");
  Expectation expectation;
  expectation.kind = *kind;
  // StableHLO's interpreter is more lenient with custom calls than with the operation.
  expectation.tolerance = isa<stablehlo::CustomCallOp>(op) ? 1e-3 : 1e-4;
  if (auto tolerance = op->getAttrOfType<FloatAttr>("tolerance"))
    expectation.tolerance = tolerance.getValueAsDouble();
  expectation.minUlps = readUlps(op, "min_ulp_difference", expectation.minUlps);
  expectation.maxUlps = readUlps(op, "max_ulp_difference", expectation.maxUlps);
  return expectation;
}

// Gives a check whose expected value is its attribute (check.expect_eq_const) an operand for it.
void addExpectedOperand(Operation* op, llvm::StringRef name) {
  auto expected = op->getAttrOfType<ElementsAttr>("value");
  if (!name.ends_with("_const") || !expected || op->getNumOperands() != 1)
    return;
  OpBuilder builder(op);
  OperationState state(op->getLoc(), stablehlo::ConstantOp::getOperationName());
  state.addAttribute("value", expected);
  state.addTypes(expected.getType());
  op->insertOperands(1, builder.create(state)->getResult(0));
}

class Splitter {
public:
  explicit Splitter(ModuleOp module) : module_(module), entry_(findEntry(module)) {
    if (!entry_.getBody().hasOneBlock())
      fail(entry_.getLoc(), "the entry function has no body, or one of several blocks");
  }

  SplitProgram run() {
    program_.function = entry_.getSymName().str();
    program_.ownArguments = argumentCount(entry_.getArgumentTypes());
    program_.ownResults = argumentCount(entry_.getResultTypes());
    replaceSources();
    replaceChecks();
    updateSignature();
    setVisibilities();
    collectOperations();
    return std::move(program_);
  }

private:
  Block& body() { return entry_.getBody().front(); }

  void replaceSources() {
    for (auto call : llvm::make_early_inc_range(body().getOps<func::CallOp>())) {
      auto callee = module_.lookupSymbol<func::FuncOp>(call.getCallee());
      if (!callee || callee.isExternal() || callee == entry_ || call.getNumOperands() != 0)
        continue;
      sources_.insert(callee);
      for (OpResult result : call.getResults()) {
        program_.sources.push_back({callee.getSymName().str(), result.getResultNumber()});
        result.replaceAllUsesWith(body().addArgument(result.getType(), call.getLoc()));
      }
      call.erase();
    }
  }

  void replaceChecks() {
    llvm::SmallVector<Operation*> checks;
    entry_.walk([&](Operation* op) {
      if (!checkName(op).empty())
        checks.push_back(op);
    });
    for (Operation* op : checks) {
      if (op->getBlock() != &body())
        fail(op->getLoc(), "a check inside of a region cannot be run");
      llvm::StringRef name = checkName(op);
      addExpectedOperand(op, name);
      const Expectation expectation = readExpectation(op, name);
      if (op->getOperand(0).getType() != op->getOperand(1).getType())
        fail(op->getLoc(), "the check '" + name.str() + "' compares values of different types");
      Failure place;
      setPlace(place, op->getLoc());
      ProgramCheck check{expectation, value(op->getOperand(0)), value(op->getOperand(1)),
                         name.str()};
      if (place.line != 0)
        check.text += " at line " + std::to_string(place.line);
      program_.checks.push_back(check);
      op->erase();
    }
  }

  CheckedValue value(Value checked) {
    auto before = [](TypeRange types, unsigned index) {
      return argumentCount(types.take_front(index));
    };
    if (auto argument = dyn_cast<BlockArgument>(checked))
      return {true, before(body().getArgumentTypes(), argument.getArgNumber())};
    Operation* end = body().getTerminator();
    for (OpOperand& operand : end->getOpOperands())
      if (operand.get() == checked)
        return {false, before(end->getOperandTypes(), operand.getOperandNumber())};
    end->insertOperands(end->getNumOperands(), checked);
    return {false, before(end->getOperandTypes(), end->getNumOperands() - 1)};
  }

  void updateSignature() {
    // They speak of frameworks, and their number would be wrong.
    entry_.removeArgAttrsAttr();
    entry_.removeResAttrsAttr();
    entry_.setFunctionType(FunctionType::get(module_.getContext(), body().getArgumentTypes(),
                                             body().getTerminator()->getOperandTypes()));
  }

  void setVisibilities() {
    for (auto function : module_.getOps<func::FuncOp>()) {
      bool used = function == entry_ || sources_.contains(function);
      function.setVisibility(used ? SymbolTable::Visibility::Public
                                  : SymbolTable::Visibility::Private);
    }
  }

  void collectOperations() {
    std::set<std::string> names;
    module_.walk<WalkOrder::PreOrder>([&](Operation* op) {
      if (sources_.contains(op))
        return WalkResult::skip();
      llvm::StringRef dialect = op->getName().getDialectNamespace();
      if (dialect != "builtin" && dialect != "func" && !op->hasTrait<OpTrait::IsTerminator>())
        names.insert(op->getName().getStringRef().str());
      return WalkResult::advance();
    });
    program_.operations.assign(names.begin(), names.end());
  }

  ModuleOp module_;
  func::FuncOp entry_;
  llvm::DenseSet<Operation*> sources_;
  SplitProgram program_;
};

} // namespace

SplitProgram splitProgram(ModuleOp module) {
  return Splitter(module).run();
}

} // namespace nocturne::compiler
