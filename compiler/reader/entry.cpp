#include "compiler/reader/entry.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"

#include "compiler/reader/locations.h"

namespace nocturne::compiler {

namespace {

// Functions with a body, outer modules before the modules nested in them.
void collectFunctions(mlir::Operation* module, llvm::SmallVectorImpl<mlir::Operation*>& functions) {
  llvm::SmallVector<mlir::Operation*> level{module};
  while (!level.empty()) {
    llvm::SmallVector<mlir::Operation*> inner;
    for (mlir::Operation* op : level)
      for (mlir::Region& region : op->getRegions())
        for (mlir::Operation& child : region.getOps()) {
          if (mlir::isa<mlir::ModuleOp>(child))
            inner.push_back(&child);
          else if (isFunction(&child) && !child.getRegion(0).empty())
            functions.push_back(&child);
        }
    level = std::move(inner);
  }
}

std::string nearestName(llvm::ArrayRef<mlir::Operation*> functions, llvm::StringRef wanted) {
  llvm::StringRef best;
  unsigned bestDistance = ~0u;
  for (mlir::Operation* function : functions) {
    unsigned distance = functionName(function).edit_distance(wanted, true, bestDistance);
    if (distance < bestDistance) {
      best = functionName(function);
      bestDistance = distance;
    }
  }
  return best.str();
}

std::string placeOf(mlir::Operation* op) {
  std::optional<mlir::FileLineColLoc> place = fileLocation(op->getLoc());
  if (!place)
    return {};
  return place->getFilename().str() + ":" + std::to_string(place->getLine()) + ":" +
         std::to_string(place->getColumn());
}

mlir::Operation* findNamed(llvm::ArrayRef<mlir::Operation*> functions, llvm::StringRef name) {
  for (mlir::Operation* function : functions)
    if (functionName(function) == name)
      return function;
  return nullptr;
}

} // namespace

bool isFunction(mlir::Operation* op) {
  return mlir::isa<mlir::func::FuncOp>(op);
}

llvm::StringRef functionName(mlir::Operation* function) {
  return mlir::SymbolTable::getSymbolName(function).getValue();
}

mlir::LogicalResult findEntries(mlir::ModuleOp module, const std::string& wanted,
                                llvm::SmallVectorImpl<mlir::Operation*>& entries,
                                std::vector<Assumption>& assumptions, std::string& problem) {
  llvm::SmallVector<mlir::Operation*> functions;
  collectFunctions(module, functions);
  if (functions.empty()) {
    problem = "the module has no function with a body";
    return mlir::failure();
  }
  if (mlir::Operation* entry = findNamed(functions, wanted.empty() ? "main" : wanted)) {
    entries.push_back(entry);
    return mlir::success();
  }
  if (!wanted.empty()) {
    problem = "the module has no function '" + wanted + "' with a body; did you mean '" +
              nearestName(functions, wanted) + "'?";
    return mlir::failure();
  }
  for (mlir::Operation* function : functions)
    if (mlir::SymbolTable::getSymbolVisibility(function) == mlir::SymbolTable::Visibility::Public)
      entries.push_back(function);
  if (entries.empty()) {
    problem = "the module has neither 'main' nor a public function; name the one to start from, '" +
              functionName(functions.front()).str() + "' for example";
    return mlir::failure();
  }
  if (entries.size() > 1)
    for (mlir::Operation* entry : entries)
      assumptions.push_back({"entry", functionName(entry).str(), placeOf(entry)});
  return mlir::success();
}

} // namespace nocturne::compiler
