#include "compiler/reader/flatten.h"

#include <algorithm>
#include <cmath>

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include "compiler/reader/entry.h"
#include "compiler/reader/locations.h"
#include "engine/number_text.h"

namespace nocturne::compiler {

namespace {

constexpr uint32_t kMaxShort = 65535;

uint16_t saturate(uint32_t value) {
  return static_cast<uint16_t>(std::min(value, kMaxShort));
}

double bytesOf(const std::vector<TensorType>& types) {
  double bytes = 0;
  for (const TensorType& type : types)
    bytes += type.bytes();
  return bytes;
}

} // namespace

Flattener::Flattener(mlir::ModuleOp source, const ReaderOptions& options, Module& module)
    : source_(source), options_(options), module_(module), calls_(kinds_), distinct_(kinds_),
      trips_(kinds_, calls_), branches_(kinds_, calls_, distinct_, trips_, options) {}

mlir::LogicalResult Flattener::run(Failure& failure) {
  failure_ = &failure;
  llvm::SmallVector<mlir::Operation*> entries;
  std::string problem;
  if (mlir::failed(findEntries(source_, options_.entry, entries, module_.assumptions, problem)))
    return fail(nullptr, problem);
  mlir::Operation* failedAt = nullptr;
  if (mlir::failed(calls_.build(entries, problem, failedAt)))
    return fail(failedAt, problem);
  if (mlir::failed(branches_.checkSizes(failedAt)))
    return fail(failedAt, "with all calls expanded the module has more than " +
                              std::to_string(kMaxRows) + " operations or " +
                              std::to_string(kMaxValueIds) + " operands");
  if (mlir::failed(buildTables(entries)))
    return mlir::failure();
  renumberOps();
  assumeDimensions();
  return mlir::success();
}

mlir::LogicalResult Flattener::fail(mlir::Operation* op, std::string message) {
  *failure_ = {FailureKind::Unreadable, std::move(message), module_.path};
  if (std::optional<mlir::FileLineColLoc> place = op ? fileLocation(op->getLoc()) : std::nullopt) {
    failure_->file = place->getFilename().str();
    failure_->line = place->getLine();
    failure_->column = place->getColumn();
  }
  return mlir::failure();
}

//===----------------------------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------------------------===//

uint16_t Flattener::fileIndex(mlir::StringAttr name) {
  auto [entry, isNew] = fileIndices_.try_emplace(name.getAsOpaquePointer(), 0);
  if (!isNew || name.getValue() == module_.files.front())
    return entry->second;
  // A place in one of more files than can be numbered is told without its file.
  if (module_.files.size() <= kMaxShort) {
    entry->second = static_cast<uint16_t>(module_.files.size());
    module_.files.push_back(name.str());
  }
  return entry->second;
}

void Flattener::setPlace(mlir::Operation* op, OpRow& row) {
  std::optional<mlir::FileLineColLoc> place = fileLocation(op->getLoc());
  if (!place)
    return;
  row.file = fileIndex(place->getFilename());
  row.line = place->getLine();
  row.column = place->getColumn();
}

std::string Flattener::placeOf(mlir::Operation* op) {
  OpRow row;
  setPlace(op, row);
  return module_.place(row);
}

void Flattener::assume(std::string kind, std::string value, mlir::Operation* op) {
  module_.assumptions.push_back({std::move(kind), std::move(value), placeOf(op)});
}

void Flattener::assumeDimensions() {
  if (mlir::Operation* op = distinct_.firstBounded())
    assume("dynamic_dimension", "bound", op);
  if (mlir::Operation* op = distinct_.firstUnknown())
    assume("dynamic_dimension", "1", op);
}

//===----------------------------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------------------------===//

mlir::LogicalResult Flattener::buildTables(llvm::ArrayRef<mlir::Operation*> entries) {
  for (mlir::Operation* function : calls_.calleesFirst()) {
    callsLeft_[function] = branches_.callsTaken(function);
    if (callsLeft_[function] == 0)
      continue;
    Table table;
    table_ = &table;
    if (mlir::failed(addFunction(function, /*isEntry=*/false)))
      return mlir::failure();
    tables_[function] = std::move(table);
  }
  Table table;
  table_ = &table;
  for (mlir::Operation* entry : entries)
    if (mlir::failed(addEntry(entry)))
      return mlir::failure();
  module_.rows = std::move(table.rows);
  module_.valueIds = std::move(table.valueIds);
  life_.loops = std::move(table.loops);
  life_.uses = std::move(table.uses);
  life_.valueCount = table.valueCount;
  life_.heldBytes += bytesOf(module_.arguments);
  return mlir::success();
}

mlir::LogicalResult Flattener::takeSignature(mlir::Operation* function) {
  auto signature = mlir::cast<mlir::func::FuncOp>(function).getFunctionType();
  auto take = [&](mlir::TypeRange types, std::vector<TensorType>& out) {
    for (mlir::Type type : types) {
      const FlatType* flat = distinct_.types().of(type);
      if (!flat)
        return false;
      out.insert(out.end(), flat->parts.begin(), flat->parts.end());
    }
    return true;
  };
  if (take(signature.getInputs(), module_.arguments) &&
      take(signature.getResults(), module_.results))
    return mlir::success();
  return fail(function, "a type of this function has too many parts");
}

mlir::LogicalResult Flattener::addEntry(mlir::Operation* function) {
  uint32_t first = table_->valueCount;
  if (mlir::failed(takeSignature(function)) || mlir::failed(addFunction(function, true)))
    return mlir::failure();
  for (uint32_t i = 0; i < function->getRegion(0).getNumArguments(); ++i)
    life_.arguments.push_back(first + i);
  return mlir::success();
}

mlir::LogicalResult Flattener::addFunction(mlir::Operation* function, bool isEntry) {
  ids_.clear();
  mlir::Region& body = function->getRegion(0);
  Ids arguments, results;
  for (unsigned i = 0; i < body.getNumArguments(); ++i)
    arguments.push_back(table_->valueCount++);
  table_->argumentCount = body.getNumArguments();
  Context context;
  context.isEntry = isEntry;
  context.isFunction = true;
  if (mlir::failed(addRegion(body, context, arguments, results)))
    return mlir::failure();
  table_->results.assign(results.begin(), results.end());
  return mlir::success();
}

mlir::LogicalResult Flattener::addCall(mlir::Operation* op, mlir::Operation* callee,
                                       const Context& context) {
  Table& from = tables_[callee];
  llvm::SmallVector<uint32_t> numbers;
  numbers.reserve(from.valueCount);
  for (uint32_t i = 0; i < from.argumentCount && i < op->getNumOperands(); ++i)
    numbers.push_back(idOf(op->getOperand(i)));
  while (numbers.size() < from.valueCount)
    numbers.push_back(table_->valueCount++);
  append(from, context, numbers);
  Ids results;
  for (uint32_t id : from.results)
    results.push_back(numbers[id]);
  bindResults(op, results);
  if (--callsLeft_[callee] == 0)
    tables_.erase(callee);
  return mlir::success();
}

void Flattener::append(Table& from, const Context& context, llvm::ArrayRef<uint32_t> numbers) {
  auto firstRow = static_cast<uint32_t>(table_->rows.size());
  auto firstId = static_cast<uint32_t>(table_->valueIds.size());
  for (OpRow row : from.rows) {
    row.multiplicity *= context.multiplicity;
    row.callDepth = saturate(row.callDepth + 1u);
    row.loopDepth = saturate(row.loopDepth + context.loopDepth);
    row.firstOperand += firstId;
    row.topLevel = topLevel_;
    table_->rows.push_back(row);
  }
  for (uint32_t id : from.valueIds)
    table_->valueIds.push_back(numbers[id]);
  for (LifeFacts::Loop loop : from.loops)
    table_->loops.push_back({loop.begin + firstRow, loop.end + firstRow});
  for (LifeFacts::Use use : from.uses)
    table_->uses.push_back({use.row + firstRow, numbers[use.value]});
}

//===----------------------------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------------------------===//

uint32_t Flattener::idOf(mlir::Value value) {
  auto [entry, isNew] = ids_.try_emplace(value, table_->valueCount);
  table_->valueCount += isNew;
  return entry->second;
}

void Flattener::bindResults(mlir::Operation* op, llvm::ArrayRef<uint32_t> ids) {
  for (mlir::OpResult result : op->getResults())
    if (result.getResultNumber() < ids.size())
      ids_[result] = ids[result.getResultNumber()];
}

void Flattener::useAtEnd(llvm::ArrayRef<uint32_t> ids, size_t firstRow) {
  if (table_->rows.size() == firstRow)
    return;
  auto last = static_cast<uint32_t>(table_->rows.size() - 1);
  for (uint32_t id : ids)
    table_->uses.push_back({last, id});
}

mlir::LogicalResult Flattener::addRegion(mlir::Region& region, const Context& context,
                                         llvm::ArrayRef<uint32_t> arguments, Ids& yielded) {
  if (region.empty())
    return mlir::success();
  if (!region.hasOneBlock())
    assume("control_flow", "each block once", region.getParentOp());
  for (mlir::BlockArgument argument : region.getArguments())
    if (argument.getArgNumber() < arguments.size())
      ids_[argument] = arguments[argument.getArgNumber()];
  for (mlir::Operation& op : region.getOps()) {
    if (mlir::failed(addOp(&op, context, yielded)))
      return mlir::failure();
    topLevel_ += context.isEntry && context.isFunction;
  }
  return mlir::success();
}

mlir::LogicalResult Flattener::addOp(mlir::Operation* op, const Context& context, Ids& yielded) {
  Treatment treatment = kinds_.of(op).treatment;
  switch (treatment) {
  case Treatment::RegionEnd:
  case Treatment::FunctionEnd:
    yielded.clear();
    for (mlir::Value value : op->getOperands())
      yielded.push_back(idOf(value));
    if (treatment == Treatment::FunctionEnd && context.isEntry)
      return addRow(op, context);
    return mlir::success();
  case Treatment::While:
    return addWhile(op, context);
  case Treatment::Branch:
    return addBranch(op, context);
  case Treatment::Inline:
    return addInline(op, context);
  case Treatment::Call:
  case Treatment::Composite:
    if (mlir::Operation* callee = calls_.callee(op))
      return addCall(op, callee, context);
    return addRow(op, context);
  case Treatment::Constant:
  case Treatment::Row:
    return addRow(op, context);
  }
  return mlir::success();
}

mlir::LogicalResult Flattener::addRow(mlir::Operation* op, const Context& context) {
  std::optional<uint32_t> index = distinct_.indexOf(op, !context.isEntry);
  if (!index || op->getNumOperands() > kMaxShort || op->getNumResults() > kMaxShort)
    return fail(op, "this operation has more operands or results than can be counted");
  if (!std::isfinite(context.multiplicity))
    return fail(op, "this operation runs more often than a number can say");
  OpRow row;
  row.op = *index;
  row.multiplicity = context.multiplicity;
  setPlace(op, row);
  row.loopDepth = saturate(context.loopDepth);
  row.firstOperand = static_cast<uint32_t>(table_->valueIds.size());
  row.operandCount = static_cast<uint16_t>(op->getNumOperands());
  row.resultCount = static_cast<uint16_t>(op->getNumResults());
  row.topLevel = topLevel_;
  table_->rows.push_back(row);
  for (mlir::Value operand : op->getOperands())
    table_->valueIds.push_back(idOf(operand));
  for (mlir::Value result : op->getResults())
    table_->valueIds.push_back(idOf(result));
  if (kinds_.of(op).treatment == Treatment::Constant)
    life_.heldBytes += distinct_.ops()[*index].resultBytes();
  return mlir::success();
}

double Flattener::tripCountOf(mlir::Operation* op) {
  if (std::optional<double> trips = trips_.of(op))
    return *trips;
  assume("trip_count", shortest(options_.tripCount), op);
  return options_.tripCount;
}

mlir::LogicalResult Flattener::addWhile(mlir::Operation* op, const Context& context) {
  if (mlir::failed(addRow(op, context)))
    return mlir::failure();
  double trips = tripCountOf(op);
  // The carried values live in one place from before the loop until after it.
  Ids carried, condition, next;
  for (mlir::Value result : op->getResults())
    carried.push_back(idOf(result));
  size_t first = table_->rows.size();
  Context inner = context;
  inner.isFunction = false;
  ++inner.loopDepth;
  for (unsigned i = 0; i < op->getNumRegions(); ++i) {
    inner.multiplicity = context.multiplicity * (i == 0 ? trips + 1 : trips);
    size_t begin = table_->rows.size();
    if (mlir::failed(addRegion(op->getRegion(i), inner, carried, i == 0 ? condition : next)))
      return mlir::failure();
    useAtEnd(i == 0 ? condition : next, begin);
  }
  useAtEnd(carried, first);
  if (table_->rows.size() > first)
    table_->loops.push_back(
        {static_cast<uint32_t>(first), static_cast<uint32_t>(table_->rows.size())});
  return mlir::success();
}

mlir::LogicalResult Flattener::addBranch(mlir::Operation* op, const Context& context) {
  if (mlir::failed(addRow(op, context)))
    return mlir::failure();
  if (op->getNumRegions() > 1) {
    constexpr const char* kPolicies[] = {"largest", "first", "mean"};
    assume("branch", kPolicies[static_cast<size_t>(options_.branch)], op);
  }
  llvm::SmallVector<mlir::Region*, 2> regions = branches_.taken(op);
  Context inner = context;
  inner.isFunction = false;
  ++inner.loopDepth;
  inner.multiplicity = context.multiplicity / static_cast<double>(regions.size());
  for (mlir::Region* region : regions) {
    Ids yielded;
    size_t begin = table_->rows.size();
    if (mlir::failed(addRegion(*region, inner, {}, yielded)))
      return mlir::failure();
    useAtEnd(yielded, begin);
  }
  return mlir::success();
}

mlir::LogicalResult Flattener::addInline(mlir::Operation* op, const Context& context) {
  Context inner = context;
  inner.isFunction = false;
  Ids arguments, results;
  for (mlir::Value operand : op->getOperands())
    arguments.push_back(idOf(operand));
  for (mlir::Region& region : op->getRegions())
    if (mlir::failed(addRegion(region, inner, arguments, results)))
      return mlir::failure();
  bindResults(op, results);
  return mlir::success();
}

// Functions were flattened before their callers and some operations only looked at; the table's
// operations are those that have rows, in the order of these.
void Flattener::renumberOps() {
  constexpr uint32_t kNone = ~uint32_t{0};
  std::vector<OpInfo>& all = distinct_.ops();
  std::vector<uint32_t> numbers(all.size(), kNone);
  for (OpRow& row : module_.rows) {
    uint32_t& number = numbers[row.op];
    if (number == kNone) {
      number = static_cast<uint32_t>(module_.ops.size());
      module_.ops.push_back(std::move(all[row.op]));
    }
    row.op = number;
  }
  // Thousands of tables are kept at a time: none pays for the growth of its vectors.
  module_.ops.shrink_to_fit();
  module_.rows.shrink_to_fit();
}

} // namespace nocturne::compiler
