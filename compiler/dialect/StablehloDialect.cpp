#include "compiler/dialect/StablehloOps.h"

#include "compiler/dialect/Lenient.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace nocturne::stablehlo;

#include "compiler/dialect/generated/Dialect.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "compiler/dialect/generated/Types.cpp.inc"

namespace nocturne::stablehlo {

void StablehloDialect::initialize() {
  registerTypes();
  registerAttributes();
  registerStablehloDialectOperations(this);
  allowUnknownOperations();
  allowUnknownTypes();
}

void StablehloDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "compiler/dialect/generated/Types.cpp.inc"
      >();
}

Type StablehloDialect::parseType(DialectAsmParser& parser) const {
  std::string spec = parser.getFullSymbolSpec().str();
  StringRef mnemonic;
  Type type;
  if (generatedTypeParser(parser, &mnemonic, type).has_value())
    return type;
  return OpaqueType::get(StringAttr::get(getContext(), getNamespace()), spec);
}

void StablehloDialect::printType(Type type, DialectAsmPrinter& printer) const {
  if (failed(generatedTypePrinter(type, printer)))
    llvm::report_fatal_error("type of another dialect given to stablehlo's printer");
}

std::optional<Dialect::ParseOpHook> StablehloDialect::getParseOperationHook(StringRef) const {
  return ParseOpHook(parseLenientOperation);
}

Type FutureType::parse(AsmParser& parser) {
  SmallVector<Type> types;
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater,
                                     [&] { return parser.parseType(types.emplace_back()); }))
    return {};
  return get(parser.getContext(), types);
}

void FutureType::print(AsmPrinter& printer) const {
  printer << '<';
  llvm::interleaveComma(getTypes(), printer);
  printer << '>';
}

} // namespace nocturne::stablehlo
