#include "compiler/codegen/entry_points.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

#include "compiler/lowering/diagnostics.h"

namespace nocturne::compiler {

using namespace mlir;

namespace {

// The functions of a module are called like functions of C often enough ("exp", "floor"), and
// calls of those must not end up in them. The dot cannot be in a name of C.
std::string innerName(const std::string& function) {
  return "module." + function;
}

std::string typeText(Type type) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << type;
  return text;
}

LogicalResult fail(Failure& failure, FailureKind kind, func::FuncOp function,
                   const std::string& message) {
  failure = {kind, "function @" + function.getSymName().str() + ": " + message, "", 0, 0};
  setPlace(failure, function.getLoc());
  return mlir::failure();
}

LogicalResult addArguments(func::FuncOp function, TypeRange types,
                           LibraryArgument::Direction direction, LibraryEntry& entry,
                           Failure& failure) {
  for (Type type : types) {
    if (auto tuple = dyn_cast<TupleType>(type)) {
      if (mlir::failed(addArguments(function, tuple.getTypes(), direction, entry, failure)))
        return mlir::failure();
      continue;
    }
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || !tensor.hasStaticShape() ||
        !(tensor.getElementType().isIntOrIndexOrFloat() ||
          isa<ComplexType>(tensor.getElementType())))
      return fail(failure, FailureKind::UnsupportedOp, function,
                  "a value of type " + typeText(type) + " cannot be passed to compiled code");
    Type element = tensor.getElementType();
    entry.arguments.push_back(
        {direction, typeText(element), tensor.getShape().vec(), elementBytes(element)});
  }
  return success();
}

void dropForeignAttributes(func::FuncOp function) {
  function.removeArgAttrsAttr();
  function.removeResAttrsAttr();
  for (NamedAttribute attribute : llvm::to_vector(function->getDiscardableAttrs()))
    function->removeDiscardableAttr(attribute.getName());
}

// MLIR passes a buffer as its allocation, the address of its data, an offset, sizes and strides.
constexpr unsigned kAddresses = 2;
unsigned descriptorSize(const LibraryArgument& argument) {
  return kAddresses + 1 + 2 * unsigned(argument.dims.size());
}

void addDescriptor(OpBuilder& builder, Location loc, Value data, const LibraryArgument& argument,
                   llvm::SmallVector<Value>& arguments) {
  auto number = [&](int64_t value) {
    arguments.push_back(LLVM::ConstantOp::create(builder, loc, builder.getI64Type(),
                                                 builder.getI64IntegerAttr(value)));
  };
  arguments.append(kAddresses, data);
  number(0);
  for (int64_t dim : argument.dims)
    number(dim);
  for (int64_t stride : computeSuffixProduct(argument.dims))
    number(stride);
}

// Tells LLVM what callers promise of the memory.
void promise(LLVM::LLVMFuncOp body, const LibraryEntry& entry) {
  UnitAttr yes = UnitAttr::get(body.getContext());
  unsigned index = 0;
  for (const LibraryArgument& argument : entry.arguments) {
    unsigned data = index + 1;
    body.setArgAttr(data, LLVM::LLVMDialect::getNoAliasAttrName(), yes);
    if (argument.direction == LibraryArgument::Direction::In)
      body.setArgAttr(data, LLVM::LLVMDialect::getReadonlyAttrName(), yes);
    index += descriptorSize(argument);
  }
}

void emitEntryPoint(OpBuilder& builder, LLVM::LLVMFuncOp body, const LibraryEntry& entry) {
  Location loc = body.getLoc();
  Type pointer = LLVM::LLVMPointerType::get(builder.getContext());
  Type i32 = builder.getI32Type(), i64 = builder.getI64Type();
  auto function = LLVM::LLVMFuncOp::create(builder, loc, entry.symbol,
                                           LLVM::LLVMFunctionType::get(i32, {pointer, i64}));
  OpBuilder::InsertionGuard guard(builder);
  Block* check = function.addEntryBlock(builder);
  Block* call = builder.createBlock(&function.getBody(), function.getBody().end());
  Block* refuse = builder.createBlock(&function.getBody(), function.getBody().end());

  builder.setInsertionPointToStart(check);
  auto count = int64_t(entry.arguments.size());
  Value wanted = LLVM::ConstantOp::create(builder, loc, i64, builder.getI64IntegerAttr(count));
  Value agrees =
      LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::eq, function.getArgument(1), wanted);
  LLVM::CondBrOp::create(builder, loc, agrees, call, refuse);

  builder.setInsertionPointToStart(call);
  llvm::SmallVector<Value> arguments;
  for (int64_t i = 0; i < count; ++i) {
    Value place = LLVM::GEPOp::create(builder, loc, pointer, pointer, function.getArgument(0),
                                      llvm::ArrayRef<LLVM::GEPArg>{int32_t(i)});
    Value data = LLVM::LoadOp::create(builder, loc, pointer, place);
    addDescriptor(builder, loc, data, entry.arguments[size_t(i)], arguments);
  }
  LLVM::CallOp::create(builder, loc, body, arguments);
  Value done = LLVM::ConstantOp::create(builder, loc, i32, builder.getI32IntegerAttr(0));
  LLVM::ReturnOp::create(builder, loc, done);

  builder.setInsertionPointToStart(refuse);
  Value refused = LLVM::ConstantOp::create(builder, loc, i32, builder.getI32IntegerAttr(1));
  LLVM::ReturnOp::create(builder, loc, refused);
}

} // namespace

std::string cSymbol(const std::string& prefix, const std::string& name) {
  std::string symbol = prefix;
  for (char c : name) {
    if (llvm::isAlnum(c) || c == '_') {
      symbol += c;
      continue;
    }
    symbol += '_';
    symbol += llvm::utohexstr(uint8_t(c), /*LowerCase=*/true, /*Width=*/2);
  }
  return symbol;
}

uint32_t elementBytes(Type element) {
  if (auto parts = dyn_cast<ComplexType>(element))
    return 2 * elementBytes(parts.getElementType());
  return element.isIndex() ? 8 : (element.getIntOrFloatBitWidth() + 7) / 8;
}

size_t argumentCount(TypeRange types) {
  size_t count = 0;
  for (Type type : types) {
    auto tuple = dyn_cast<TupleType>(type);
    count += tuple ? argumentCount(tuple.getTypes()) : 1;
  }
  return count;
}

LogicalResult readEntryPoints(ModuleOp module, const std::string& prefix,
                              std::vector<LibraryEntry>& entries, Failure& failure) {
  for (auto function : module.getOps<func::FuncOp>()) {
    if (!function.isPublic() || function.isExternal())
      continue;
    LibraryEntry entry;
    entry.name = function.getSymName().str();
    entry.symbol = cSymbol(prefix, entry.name);
    if (mlir::failed(addArguments(function, function.getArgumentTypes(),
                                  LibraryArgument::Direction::In, entry, failure)) ||
        mlir::failed(addArguments(function, function.getResultTypes(),
                                  LibraryArgument::Direction::Out, entry, failure)))
      return mlir::failure();
    for (const LibraryEntry& other : entries)
      if (other.symbol == entry.symbol)
        return fail(failure, FailureKind::UnsupportedOp, function,
                    "its name in C is that of @" + other.name);
    entries.push_back(std::move(entry));
  }
  if (!entries.empty())
    return success();
  failure = {FailureKind::Unreadable, "the module has no public function", "", 0, 0};
  setPlace(failure, module.getLoc());
  return mlir::failure();
}

LogicalResult renameFunctions(ModuleOp module, Failure& failure) {
  SymbolTable symbols(module);
  for (auto function : llvm::to_vector(module.getOps<func::FuncOp>()))
    if (mlir::failed(symbols.rename(function, innerName(function.getSymName().str()))))
      return fail(failure, FailureKind::Internal, function, "cannot be renamed");
  return success();
}

LogicalResult prepareFunctions(ModuleOp module, const std::vector<LibraryEntry>& entries,
                               Failure& failure) {
  for (NamedAttribute attribute : llvm::to_vector(module->getDiscardableAttrs()))
    module->removeDiscardableAttr(attribute.getName());
  for (auto function : module.getOps<func::FuncOp>())
    dropForeignAttributes(function);
  for (const LibraryEntry& entry : entries) {
    auto function = module.lookupSymbol<func::FuncOp>(innerName(entry.name));
    if (!function ||
        function.getNumArguments() + function.getNumResults() != entry.arguments.size()) {
      failure = {FailureKind::Internal, "lowering changed the signature of @" + entry.name, "", 0,
                 0};
      return mlir::failure();
    }
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      function.setArgAttr(i, bufferization::BufferizationDialect::kWritableAttrName,
                          BoolAttr::get(module.getContext(), false));
  }
  return success();
}

LogicalResult emitEntryPoints(ModuleOp module, const std::vector<LibraryEntry>& entries,
                              Failure& failure) {
  for (Operation& op : *module.getBody()) {
    if (auto function = dyn_cast<LLVM::LLVMFuncOp>(op); function && !function.isExternal())
      function.setLinkage(LLVM::Linkage::Internal);
    else if (auto global = dyn_cast<LLVM::GlobalOp>(op))
      global.setLinkage(LLVM::Linkage::Internal);
  }
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  for (const LibraryEntry& entry : entries) {
    auto body = module.lookupSymbol<LLVM::LLVMFuncOp>(innerName(entry.name));
    unsigned expected = 0;
    for (const LibraryArgument& argument : entry.arguments)
      expected += descriptorSize(argument);
    if (!body || body.getNumArguments() != expected) {
      failure = {FailureKind::Internal, "code generation changed the signature of @" + entry.name,
                 "", 0, 0};
      return mlir::failure();
    }
    promise(body, entry);
    emitEntryPoint(builder, body, entry);
  }
  return success();
}

} // namespace nocturne::compiler
