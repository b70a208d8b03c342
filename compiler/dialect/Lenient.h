// Reading operations, attributes and types of which nothing is modelled, so that a file which names
// them is read to its end. What they are is kept as text or as generic attributes.

#pragma once

#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"

namespace nocturne {

// A dialect of which only the name is known.
class LenientDialect : public mlir::Dialect {
public:
  mlir::Attribute parseAttribute(mlir::DialectAsmParser& parser, mlir::Type type) const override;
  mlir::Type parseType(mlir::DialectAsmParser& parser) const override;
  std::optional<ParseOpHook> getParseOperationHook(llvm::StringRef opName) const override;

protected:
  LenientDialect(llvm::StringRef dialectName, mlir::MLIRContext* owner, mlir::TypeID id);
};

// An operation in custom form whose grammar is not known: operands, symbols, `key = value` pairs,
// bracketed text, an attribute dictionary, regions and types, in whatever order they come.
mlir::ParseResult parseLenientOperation(mlir::OpAsmParser& parser, mlir::OperationState& state);

// The parts of it that parsers of single foreign operations use as well.
namespace lenient {

using UnresolvedOperands = llvm::SmallVector<mlir::OpAsmParser::UnresolvedOperand>;

// The character at the parser's place, without consuming it.
char peek(mlir::OpAsmParser& parser);

// Consumes one bracketed group, whatever is in it, and gives its text, brackets included.
mlir::FailureOr<std::string> parseBracketed(mlir::OpAsmParser& parser);

// The same as the attribute `#<dialect>.<mnemonic><text>`, which is what generic form has.
mlir::ParseResult parseBracketedAttr(mlir::OpAsmParser& parser, mlir::OperationState& state,
                                     llvm::StringRef attrName, llvm::StringRef dialect,
                                     llvm::StringRef mnemonic);

// `: type, ...`, `: (types) -> types` or `: types -> types`, or nothing for an operation without
// operands and results; resolves the operands and sets the result types.
mlir::ParseResult parseTypes(mlir::OpAsmParser& parser, mlir::OperationState& state,
                             const UnresolvedOperands& operands);

// `(%arg: type, ...) { ... }`.
mlir::ParseResult parseRegionWithArguments(mlir::OpAsmParser& parser, mlir::Region& region);

} // namespace lenient

} // namespace nocturne
