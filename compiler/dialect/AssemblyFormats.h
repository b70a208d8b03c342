// Pieces of printed forms that the declarative formats in the .td files name: `custom<X>(...)`
// there is `parseX` and `printX` here.

#pragma once

#include "compiler/dialect/StablehloDialect.h"

namespace nocturne::stablehlo {

// Building blocks, also used by the forms that are written by hand.
mlir::ParseResult parseIntList(mlir::AsmParser& parser, llvm::SmallVectorImpl<int64_t>& values);
void printIntList(mlir::AsmPrinter& printer, llvm::ArrayRef<int64_t> values);
// `[DEFAULT, HIGHEST]`; anything but a list of precisions is read and printed as an attribute.
mlir::ParseResult parsePrecisionList(mlir::AsmParser& parser, mlir::ArrayAttr& config);
void printPrecisionList(mlir::AsmPrinter& printer, mlir::ArrayAttr config);
mlir::FailureOr<ConvDimensionNumbersAttr> parseConvDimensionNumbers(mlir::AsmParser& parser);
void printConvDimensionNumbers(mlir::AsmPrinter& printer, ConvDimensionNumbersAttr dims);

// One type for all, or a function type from operands to results.
mlir::ParseResult parseTypesOrFunction(mlir::OpAsmParser& parser,
                                       llvm::ArrayRef<mlir::Type*> operands, mlir::Type& result);
void printTypesOrFunction(mlir::OpAsmPrinter& printer, llvm::ArrayRef<mlir::Type> operands,
                          mlir::Type result);

template <typename... Types>
mlir::ParseResult parseSameTypes(mlir::OpAsmParser& parser, mlir::Type& first, Types&... rest) {
  mlir::Type* all[] = {&first, &rest...};
  return parseTypesOrFunction(parser, llvm::ArrayRef(all).drop_back(), *llvm::ArrayRef(all).back());
}
template <typename... Types>
void printSameTypes(mlir::OpAsmPrinter& printer, mlir::Operation*, mlir::Type first,
                    Types... rest) {
  mlir::Type all[] = {first, rest...};
  printTypesOrFunction(printer, llvm::ArrayRef(all).drop_back(), llvm::ArrayRef(all).back());
}

using Operands = llvm::SmallVectorImpl<mlir::OpAsmParser::UnresolvedOperand>;
using TypeList = llvm::SmallVectorImpl<mlir::Type>;

mlir::ParseResult parseSameVariadicTypes(mlir::OpAsmParser& parser, const Operands& operands,
                                         TypeList& types, mlir::Type& result);
void printSameVariadicTypes(mlir::OpAsmPrinter& printer, mlir::Operation*, mlir::OperandRange,
                            mlir::TypeRange types, mlir::Type result);

// `complex %re, %im : tensor<4xcomplex<f32>>`: the parts' types follow.
mlir::ParseResult parseComplexTypes(mlir::OpAsmParser& parser, mlir::Type& lhs, mlir::Type& rhs,
                                    mlir::Type& result);
void printComplexTypes(mlir::OpAsmPrinter& printer, mlir::Operation*, mlir::Type lhs,
                       mlir::Type rhs, mlir::Type result);

// `select %p, %a, %b : tensor<i1>, tensor<4xf32>`.
mlir::ParseResult parseSelectTypes(mlir::OpAsmParser& parser, mlir::Type& pred, mlir::Type& onTrue,
                                   mlir::Type& onFalse, mlir::Type& result);
void printSelectTypes(mlir::OpAsmPrinter& printer, mlir::Operation*, mlir::Type pred,
                      mlir::Type onTrue, mlir::Type onFalse, mlir::Type result);

// `tuple %a, %b : tuple<tensor<f32>, tensor<i32>>`.
mlir::ParseResult parseTupleTypes(mlir::OpAsmParser& parser, TypeList& operands,
                                  mlir::Type& result);
void printTupleTypes(mlir::OpAsmPrinter& printer, mlir::Operation*, mlir::TypeRange operands,
                     mlir::Type result);

// `%a, %b : tensor<f32>, tensor<i32>`, or `()`.
mlir::ParseResult parseBarrierOperands(mlir::OpAsmParser& parser, Operands& operands,
                                       TypeList& types, TypeList& results);
void printBarrierOperands(mlir::OpAsmPrinter& printer, mlir::Operation*,
                          mlir::OperandRange operands, mlir::TypeRange types,
                          mlir::TypeRange results);

// `[1, 0]`, or any attribute that is such a list.
mlir::ParseResult parseI64List(mlir::OpAsmParser& parser, mlir::Attribute& attr);
void printI64List(mlir::OpAsmPrinter& printer, mlir::Operation*, mlir::Attribute attr);

mlir::ParseResult parseInt64(mlir::OpAsmParser& parser, mlir::IntegerAttr& attr);
void printInt64(mlir::OpAsmPrinter& printer, mlir::Operation*, mlir::IntegerAttr attr);
mlir::ParseResult parseInt32(mlir::OpAsmParser& parser, mlir::IntegerAttr& attr);
void printInt32(mlir::OpAsmPrinter& printer, mlir::Operation*, mlir::IntegerAttr attr);

mlir::ParseResult parseTrueFalse(mlir::OpAsmParser& parser, mlir::Attribute& attr);
void printTrueFalse(mlir::OpAsmPrinter& printer, mlir::Operation*, mlir::Attribute attr);

mlir::ParseResult parseText(mlir::OpAsmParser& parser, mlir::StringAttr& attr);
void printText(mlir::OpAsmPrinter& printer, mlir::Operation*, mlir::StringAttr attr);
mlir::ParseResult parseSymbol(mlir::OpAsmParser& parser, mlir::StringAttr& attr);
void printSymbol(mlir::OpAsmPrinter& printer, mlir::Operation*, mlir::StringAttr attr);

mlir::ParseResult parsePrecision(mlir::OpAsmParser& parser, mlir::ArrayAttr& config);
void printPrecision(mlir::OpAsmPrinter& printer, mlir::Operation*, mlir::ArrayAttr config);

// `e5m10`.
mlir::ParseResult parseExponentMantissa(mlir::OpAsmParser& parser, mlir::IntegerAttr& exponent,
                                        mlir::IntegerAttr& mantissa);
void printExponentMantissa(mlir::OpAsmPrinter& printer, mlir::Operation*,
                           mlir::IntegerAttr exponent, mlir::IntegerAttr mantissa);

// `%a, %b, dim = 0` and `%i, %j, sizes = [1, 2]`: the last comma belongs to the keyword.
mlir::ParseResult parseOperandsThenDim(mlir::OpAsmParser& parser, Operands& operands,
                                       mlir::IntegerAttr& dim);
void printOperandsThenDim(mlir::OpAsmPrinter& printer, mlir::Operation*,
                          mlir::OperandRange operands, mlir::IntegerAttr dim);
mlir::ParseResult parseOperandsThenSizes(mlir::OpAsmParser& parser, Operands& operands,
                                         mlir::Attribute& sizes);
void printOperandsThenSizes(mlir::OpAsmPrinter& printer, mlir::Operation*,
                            mlir::OperandRange operands, mlir::Attribute sizes);

// `[0:4:1, 2:8]`: start, limit and stride.
mlir::ParseResult parseSliceRanges(mlir::OpAsmParser& parser, mlir::Attribute& starts,
                                   mlir::Attribute& limits, mlir::Attribute& strides);
void printSliceRanges(mlir::OpAsmPrinter& printer, mlir::Operation*, mlir::Attribute starts,
                      mlir::Attribute limits, mlir::Attribute strides);

// `[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]`.
mlir::ParseResult parseConvDims(mlir::OpAsmParser& parser, ConvDimensionNumbersAttr& dims);
void printConvDims(mlir::OpAsmPrinter& printer, mlir::Operation*, ConvDimensionNumbersAttr dims);

// `{stride = [2, 2], pad = [[0, 0], [1, 1]], lhs_dilate = .., rhs_dilate = .., reverse = ..}`, any
// of them left out.
mlir::ParseResult parseWindow(mlir::OpAsmParser& parser, mlir::Attribute& strides,
                              mlir::Attribute& padding, mlir::Attribute& lhsDilation,
                              mlir::Attribute& rhsDilation, mlir::Attribute& reversal);
void printWindow(mlir::OpAsmPrinter& printer, mlir::Operation*, mlir::Attribute strides,
                 mlir::Attribute padding, mlir::Attribute lhsDilation, mlir::Attribute rhsDilation,
                 mlir::Attribute reversal);

} // namespace nocturne::stablehlo
