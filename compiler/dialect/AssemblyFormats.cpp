#include "compiler/dialect/AssemblyFormats.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace nocturne::stablehlo {

ParseResult parseIntList(AsmParser& parser, SmallVectorImpl<int64_t>& values) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                        [&] { return parser.parseInteger(values.emplace_back()); });
}

void printIntList(AsmPrinter& printer, ArrayRef<int64_t> values) {
  printer << '[';
  llvm::interleaveComma(values, printer);
  printer << ']';
}

//===------------------------------------------------------------------------------------------===//
// Types
//===------------------------------------------------------------------------------------------===//

static ParseResult expectInputs(OpAsmParser& parser, SMLoc loc, FunctionType type, size_t inputs) {
  if (type.getNumInputs() == inputs && type.getNumResults() == 1)
    return success();
  return parser.emitError(loc) << "expected a function type with " << inputs
                               << " operand(s) and 1 result, got " << type;
}

ParseResult parseTypesOrFunction(OpAsmParser& parser, ArrayRef<Type*> operands, Type& result) {
  SMLoc loc = parser.getCurrentLocation();
  Type type;
  if (parser.parseType(type))
    return failure();
  auto function = dyn_cast<FunctionType>(type);
  if (function && expectInputs(parser, loc, function, operands.size()))
    return failure();
  for (size_t i = 0; i < operands.size(); ++i)
    *operands[i] = function ? function.getInput(static_cast<unsigned>(i)) : type;
  result = function ? function.getResult(0) : type;
  return success();
}

void printTypesOrFunction(OpAsmPrinter& printer, ArrayRef<Type> operands, Type result) {
  if (llvm::all_equal(operands) && !operands.empty() && operands[0] == result)
    printer << result;
  else
    printer.printFunctionalType(operands, TypeRange{result});
}

ParseResult parseSameVariadicTypes(OpAsmParser& parser, const Operands& operands, TypeList& types,
                                   Type& result) {
  types.resize(operands.size());
  SmallVector<Type*> pointers;
  for (Type& type : types)
    pointers.push_back(&type);
  return parseTypesOrFunction(parser, pointers, result);
}

void printSameVariadicTypes(OpAsmPrinter& printer, Operation*, OperandRange, TypeRange types,
                            Type result) {
  SmallVector<Type> operandTypes(types);
  if (operandTypes.empty())
    printer << result;
  else
    printTypesOrFunction(printer, operandTypes, result);
}

static Type realPart(Type type) {
  auto tensor = dyn_cast<TensorType>(type);
  auto element = tensor ? dyn_cast<ComplexType>(tensor.getElementType()) : ComplexType();
  return element ? tensor.clone(element.getElementType()) : Type();
}

ParseResult parseComplexTypes(OpAsmParser& parser, Type& lhs, Type& rhs, Type& result) {
  SMLoc loc = parser.getCurrentLocation();
  Type* operands[] = {&lhs, &rhs};
  if (parseTypesOrFunction(parser, operands, result))
    return failure();
  if (lhs != result)
    return success();
  lhs = rhs = realPart(result);
  if (!lhs)
    return parser.emitError(loc) << "expected a tensor of complex values, got " << result;
  return success();
}

void printComplexTypes(OpAsmPrinter& printer, Operation*, Type lhs, Type rhs, Type result) {
  if (lhs == rhs && lhs == realPart(result))
    printer << result;
  else
    printer.printFunctionalType(TypeRange{lhs, rhs}, TypeRange{result});
}

ParseResult parseSelectTypes(OpAsmParser& parser, Type& pred, Type& onTrue, Type& onFalse,
                             Type& result) {
  SMLoc loc = parser.getCurrentLocation();
  Type type;
  if (parser.parseType(type))
    return failure();
  if (auto function = dyn_cast<FunctionType>(type)) {
    if (expectInputs(parser, loc, function, 3))
      return failure();
    pred = function.getInput(0);
    onTrue = function.getInput(1);
    onFalse = function.getInput(2);
    result = function.getResult(0);
    return success();
  }
  pred = type;
  if (parser.parseComma() || parser.parseType(result))
    return failure();
  onTrue = onFalse = result;
  return success();
}

void printSelectTypes(OpAsmPrinter& printer, Operation*, Type pred, Type onTrue, Type onFalse,
                      Type result) {
  if (onTrue == result && onFalse == result)
    printer << pred << ", " << result;
  else
    printer.printFunctionalType(TypeRange{pred, onTrue, onFalse}, TypeRange{result});
}

ParseResult parseTupleTypes(OpAsmParser& parser, TypeList& operands, Type& result) {
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseType(result))
    return failure();
  if (auto function = dyn_cast<FunctionType>(result); function && function.getNumResults() == 1) {
    operands.assign(function.getInputs().begin(), function.getInputs().end());
    result = function.getResult(0);
    return success();
  }
  auto tuple = dyn_cast<TupleType>(result);
  if (!tuple)
    return parser.emitError(loc) << "expected a tuple type, got " << result;
  operands.assign(tuple.begin(), tuple.end());
  return success();
}

void printTupleTypes(OpAsmPrinter& printer, Operation*, TypeRange operands, Type result) {
  auto tuple = dyn_cast<TupleType>(result);
  if (tuple && TypeRange(tuple.getTypes()) == operands)
    printer << result;
  else
    printer.printFunctionalType(operands, TypeRange{result});
}

ParseResult parseBarrierOperands(OpAsmParser& parser, Operands& operands, TypeList& types,
                                 TypeList& results) {
  if (succeeded(parser.parseOptionalLParen()))
    return parser.parseRParen();
  if (parser.parseOperandList(operands) || parser.parseColon())
    return failure();
  SmallVector<Type> parsed;
  if (parser.parseTypeList(parsed))
    return failure();
  auto function = parsed.size() == 1 ? dyn_cast<FunctionType>(parsed[0]) : FunctionType();
  types.assign(function ? SmallVector<Type>(function.getInputs()) : parsed);
  results.assign(function ? SmallVector<Type>(function.getResults()) : parsed);
  return success();
}

void printBarrierOperands(OpAsmPrinter& printer, Operation*, OperandRange operands, TypeRange types,
                          TypeRange results) {
  if (operands.empty() && results.empty()) {
    printer << "()";
    return;
  }
  printer << operands << " : ";
  if (types == results)
    llvm::interleaveComma(types, printer);
  else
    printer.printFunctionalType(types, results);
}

//===------------------------------------------------------------------------------------------===//
// Attributes
//===------------------------------------------------------------------------------------------===//

ParseResult parseI64List(OpAsmParser& parser, Attribute& attr) {
  SmallVector<int64_t> values;
  SMLoc loc = parser.getCurrentLocation();
  if (OptionalParseResult other = parser.getCurrentLocation().getPointer()[0] == '['
                                      ? OptionalParseResult()
                                      : parser.parseOptionalAttribute(attr);
      other.has_value()) {
    if (failed(*other))
      return failure();
    return isI64List(attr) ? ParseResult(success())
                           : parser.emitError(loc, "expected a list of integers");
  }
  if (parseIntList(parser, values))
    return failure();
  attr = parser.getBuilder().getDenseI64ArrayAttr(values);
  return success();
}

void printI64List(OpAsmPrinter& printer, Operation*, Attribute attr) {
  printIntList(printer, readI64List(attr));
}

static ParseResult parseIntOfWidth(OpAsmParser& parser, unsigned width, IntegerAttr& attr) {
  int64_t value = 0;
  if (parser.parseInteger(value))
    return failure();
  attr = parser.getBuilder().getIntegerAttr(parser.getBuilder().getIntegerType(width), value);
  return success();
}

ParseResult parseInt64(OpAsmParser& parser, IntegerAttr& attr) {
  return parseIntOfWidth(parser, 64, attr);
}
void printInt64(OpAsmPrinter& printer, Operation*, IntegerAttr attr) {
  printer << attr.getValue().getSExtValue();
}
ParseResult parseInt32(OpAsmParser& parser, IntegerAttr& attr) {
  return parseIntOfWidth(parser, 32, attr);
}
void printInt32(OpAsmPrinter& printer, Operation*, IntegerAttr attr) {
  printer << attr.getValue().getSExtValue();
}

ParseResult parseTrueFalse(OpAsmParser& parser, Attribute& attr) {
  BoolAttr value;
  if (parser.parseAttribute(value))
    return failure();
  attr = value;
  return success();
}
void printTrueFalse(OpAsmPrinter& printer, Operation*, Attribute attr) {
  printer << (isFlagSet(attr) ? "true" : "false");
}

ParseResult parseText(OpAsmParser& parser, StringAttr& attr) {
  // Not parseAttribute(), which would take the `:` before the operation's types for the string's.
  std::string text;
  if (parser.parseString(&text))
    return failure();
  attr = parser.getBuilder().getStringAttr(text);
  return success();
}
void printText(OpAsmPrinter& printer, Operation*, StringAttr attr) {
  printer.printAttributeWithoutType(attr);
}

ParseResult parseSymbol(OpAsmParser& parser, StringAttr& attr) {
  return parser.parseSymbolName(attr);
}
void printSymbol(OpAsmPrinter& printer, Operation*, StringAttr attr) {
  printer.printSymbolName(attr.getValue());
}

ParseResult parsePrecisionList(AsmParser& parser, ArrayAttr& config) {
  SmallVector<Attribute> values;
  auto parseOne = [&]() -> ParseResult {
    SMLoc loc = parser.getCurrentLocation();
    StringRef word;
    if (failed(parser.parseOptionalKeyword(&word)))
      return parser.parseAttribute(values.emplace_back());
    std::optional<Precision> precision = symbolizePrecision(word);
    if (!precision)
      return parser.emitError(loc) << "expected DEFAULT, HIGH or HIGHEST, got " << word;
    values.push_back(PrecisionAttr::get(parser.getContext(), *precision));
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseOne))
    return failure();
  config = ArrayAttr::get(parser.getContext(), values);
  return success();
}

void printPrecisionList(AsmPrinter& printer, ArrayAttr config) {
  printer << '[';
  llvm::interleaveComma(config, printer, [&](Attribute attr) {
    if (auto precision = dyn_cast<PrecisionAttr>(attr))
      printer << stringifyPrecision(precision.getValue());
    else
      printer << attr;
  });
  printer << ']';
}

ParseResult parsePrecision(OpAsmParser& parser, ArrayAttr& config) {
  return parsePrecisionList(parser, config);
}
void printPrecision(OpAsmPrinter& printer, Operation*, ArrayAttr config) {
  printPrecisionList(printer, config);
}

ParseResult parseExponentMantissa(OpAsmParser& parser, IntegerAttr& exponent,
                                  IntegerAttr& mantissa) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef word;
  if (parser.parseKeyword(&word))
    return failure();
  int32_t exponentBits = 0, mantissaBits = 0;
  StringRef rest = word;
  if (!rest.consume_front("e") || rest.consumeInteger(10, exponentBits) ||
      !rest.consume_front("m") || rest.consumeInteger(10, mantissaBits) || !rest.empty())
    return parser.emitError(loc) << "expected a format like e5m10, got " << word;
  exponent = parser.getBuilder().getI32IntegerAttr(exponentBits);
  mantissa = parser.getBuilder().getI32IntegerAttr(mantissaBits);
  return success();
}

void printExponentMantissa(OpAsmPrinter& printer, Operation*, IntegerAttr exponent,
                           IntegerAttr mantissa) {
  printer << 'e' << exponent.getInt() << 'm' << mantissa.getInt();
}

//===------------------------------------------------------------------------------------------===//
// Operands with attributes
//===------------------------------------------------------------------------------------------===//

// `%a, %b, ` up to a keyword.
static ParseResult parseOperandsWithComma(OpAsmParser& parser, Operands& operands) {
  while (true) {
    OpAsmParser::UnresolvedOperand operand;
    OptionalParseResult result = parser.parseOptionalOperand(operand);
    if (!result.has_value())
      return success();
    if (failed(*result) || parser.parseComma())
      return failure();
    operands.push_back(operand);
  }
}

static void printOperandsWithComma(OpAsmPrinter& printer, OperandRange operands) {
  for (Value operand : operands)
    printer << operand << ", ";
}

ParseResult parseOperandsThenDim(OpAsmParser& parser, Operands& operands, IntegerAttr& dim) {
  return failure(parseOperandsWithComma(parser, operands) || parser.parseKeyword("dim") ||
                 parser.parseEqual() || parseInt64(parser, dim));
}

void printOperandsThenDim(OpAsmPrinter& printer, Operation* op, OperandRange operands,
                          IntegerAttr dim) {
  printOperandsWithComma(printer, operands);
  printer << "dim = ";
  printInt64(printer, op, dim);
}

ParseResult parseOperandsThenSizes(OpAsmParser& parser, Operands& operands, Attribute& sizes) {
  return failure(parseOperandsWithComma(parser, operands) || parser.parseKeyword("sizes") ||
                 parser.parseEqual() || parseI64List(parser, sizes));
}

void printOperandsThenSizes(OpAsmPrinter& printer, Operation* op, OperandRange operands,
                            Attribute sizes) {
  printOperandsWithComma(printer, operands);
  printer << "sizes = ";
  printI64List(printer, op, sizes);
}

ParseResult parseSliceRanges(OpAsmParser& parser, Attribute& starts, Attribute& limits,
                             Attribute& strides) {
  SmallVector<int64_t> start, limit, stride;
  auto parseRange = [&]() -> ParseResult {
    if (parser.parseInteger(start.emplace_back()) || parser.parseColon() ||
        parser.parseInteger(limit.emplace_back()))
      return failure();
    stride.push_back(1);
    return succeeded(parser.parseOptionalColon()) ? parser.parseInteger(stride.back())
                                                  : ParseResult(success());
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseRange))
    return failure();
  Builder& builder = parser.getBuilder();
  starts = builder.getDenseI64ArrayAttr(start);
  limits = builder.getDenseI64ArrayAttr(limit);
  strides = builder.getDenseI64ArrayAttr(stride);
  return success();
}

void printSliceRanges(OpAsmPrinter& printer, Operation*, Attribute starts, Attribute limits,
                      Attribute strides) {
  SmallVector<int64_t> start = readI64List(starts), limit = readI64List(limits),
                       stride = readI64List(strides);
  printer << '[';
  llvm::interleaveComma(llvm::zip(start, limit, stride), printer, [&](auto range) {
    auto [first, end, step] = range;
    printer << first << ':' << end;
    if (step != 1)
      printer << ':' << step;
  });
  printer << ']';
}

//===------------------------------------------------------------------------------------------===//
// Convolutions
//===------------------------------------------------------------------------------------------===//

// One of the three groups of `[b, 0, f]x[0, i, o]->[b, 0, f]`: where its two letters and its
// numbered dimensions are.
struct ConvDims {
  int64_t first = -1;
  int64_t second = -1;
  SmallVector<int64_t> spatial;
};

static ParseResult parseConvGroup(AsmParser& parser, StringRef firstName, StringRef secondName,
                                  ConvDims& dims) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<std::pair<int64_t, int64_t>> numbered;
  int64_t position = 0;
  auto parseOne = [&]() -> ParseResult {
    const int64_t here = position++;
    int64_t number = 0;
    if (OptionalParseResult result = parser.parseOptionalInteger(number); result.has_value()) {
      numbered.emplace_back(number, here);
      return *result;
    }
    if (succeeded(parser.parseOptionalQuestion()))
      return success();
    int64_t& letter = succeeded(parser.parseOptionalKeyword(firstName)) ? dims.first : dims.second;
    if (&letter == &dims.second && failed(parser.parseOptionalKeyword(secondName)))
      return parser.emitError(parser.getCurrentLocation())
             << "expected '" << firstName << "', '" << secondName << "' or a number";
    if (letter >= 0)
      return parser.emitError(loc, "expected each dimension to be named once");
    letter = here;
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseOne))
    return failure();
  if (dims.first < 0 || dims.second < 0)
    return parser.emitError(loc) << "expected dimensions '" << firstName << "' and '" << secondName
                                 << "' in the list";
  llvm::sort(numbered);
  for (auto [index, entry] : llvm::enumerate(numbered)) {
    if (entry.first != static_cast<int64_t>(index))
      return parser.emitError(loc, "expected spatial dimensions to be numbered from 0");
    dims.spatial.push_back(entry.second);
  }
  return success();
}

FailureOr<ConvDimensionNumbersAttr> parseConvDimensionNumbers(AsmParser& parser) {
  ConvDims input, kernel, output;
  if (parseConvGroup(parser, "b", "f", input) || parser.parseKeyword("x") ||
      parseConvGroup(parser, "i", "o", kernel) || parser.parseArrow() ||
      parseConvGroup(parser, "b", "f", output))
    return failure();
  return ConvDimensionNumbersAttr::get(parser.getContext(), input.first, input.second,
                                       input.spatial, kernel.first, kernel.second, kernel.spatial,
                                       output.first, output.second, output.spatial);
}

static void printConvGroup(AsmPrinter& printer, StringRef firstName, int64_t first,
                           StringRef secondName, int64_t second, ArrayRef<int64_t> spatial) {
  int64_t rank = std::max(first, second) + 1;
  for (int64_t dim : spatial)
    rank = std::max(rank, dim + 1);
  SmallVector<std::string> names(static_cast<size_t>(rank), "?");
  names[static_cast<size_t>(first)] = firstName.str();
  names[static_cast<size_t>(second)] = secondName.str();
  for (auto [index, dim] : llvm::enumerate(spatial))
    names[static_cast<size_t>(dim)] = std::to_string(index);
  printer << '[';
  llvm::interleaveComma(names, printer);
  printer << ']';
}

void printConvDimensionNumbers(AsmPrinter& printer, ConvDimensionNumbersAttr dims) {
  printConvGroup(printer, "b", dims.getInputBatchDimension(), "f", dims.getInputFeatureDimension(),
                 dims.getInputSpatialDimensions());
  printer << 'x';
  printConvGroup(printer, "i", dims.getKernelInputFeatureDimension(), "o",
                 dims.getKernelOutputFeatureDimension(), dims.getKernelSpatialDimensions());
  printer << "->";
  printConvGroup(printer, "b", dims.getOutputBatchDimension(), "f",
                 dims.getOutputFeatureDimension(), dims.getOutputSpatialDimensions());
}

ParseResult parseConvDims(OpAsmParser& parser, ConvDimensionNumbersAttr& dims) {
  FailureOr<ConvDimensionNumbersAttr> parsed = parseConvDimensionNumbers(parser);
  if (failed(parsed))
    return failure();
  dims = *parsed;
  return success();
}

void printConvDims(OpAsmPrinter& printer, Operation*, ConvDimensionNumbersAttr dims) {
  printConvDimensionNumbers(printer, dims);
}

static ParseResult parsePadding(OpAsmParser& parser, Attribute& padding) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<int64_t> values;
  int64_t rows = 0;
  auto parseRow = [&] {
    ++rows;
    return parseIntList(parser, values);
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseRow))
    return failure();
  if (static_cast<int64_t>(values.size()) != 2 * rows)
    return parser.emitError(loc, "expected two numbers for each spatial dimension");
  auto type = RankedTensorType::get({rows, 2}, parser.getBuilder().getI64Type());
  padding = DenseIntElementsAttr::get(type, values);
  return success();
}

static ParseResult parseReversal(OpAsmParser& parser, Attribute& reversal) {
  SmallVector<bool> values;
  auto parseOne = [&]() -> ParseResult {
    StringRef word;
    int64_t number = 0;
    if (succeeded(parser.parseOptionalKeyword(&word, {"true", "false"})))
      number = word == "true";
    else if (parser.parseInteger(number))
      return failure();
    values.push_back(number != 0);
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseOne))
    return failure();
  reversal = parser.getBuilder().getDenseBoolArrayAttr(values);
  return success();
}

ParseResult parseWindow(OpAsmParser& parser, Attribute& strides, Attribute& padding,
                        Attribute& lhsDilation, Attribute& rhsDilation, Attribute& reversal) {
  auto parsePart = [&]() -> ParseResult {
    SMLoc loc = parser.getCurrentLocation();
    StringRef name;
    if (parser.parseKeyword(&name) || parser.parseEqual())
      return failure();
    if (name == "stride")
      return parseI64List(parser, strides);
    if (name == "pad")
      return parsePadding(parser, padding);
    if (name == "lhs_dilate")
      return parseI64List(parser, lhsDilation);
    if (name == "rhs_dilate")
      return parseI64List(parser, rhsDilation);
    if (name == "reverse")
      return parseReversal(parser, reversal);
    return parser.emitError(loc) << "expected stride, pad, lhs_dilate, rhs_dilate or reverse, got "
                                 << name;
  };
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Braces, parsePart);
}

static void printPadding(OpAsmPrinter& printer, ArrayRef<int64_t> values) {
  printer << "pad = [";
  for (size_t i = 0; i + 1 < values.size(); i += 2)
    printer << (i ? ", [" : "[") << values[i] << ", " << values[i + 1] << ']';
  printer << ']';
}

void printWindow(OpAsmPrinter& printer, Operation*, Attribute strides, Attribute padding,
                 Attribute lhsDilation, Attribute rhsDilation, Attribute reversal) {
  StringRef separator = "";
  auto next = [&]() -> OpAsmPrinter& {
    printer << separator;
    separator = ", ";
    return printer;
  };
  auto list = [&](StringRef name, Attribute attr) {
    if (!attr)
      return;
    next() << name << " = ";
    printIntList(printer, readI64List(attr));
  };
  printer << '{';
  list("stride", strides);
  if (padding)
    printPadding(next(), readI64List(padding));
  list("lhs_dilate", lhsDilation);
  list("rhs_dilate", rhsDilation);
  if (reversal) {
    next() << "reverse = [";
    llvm::interleaveComma(readBoolList(reversal), printer,
                          [&](bool value) { printer << (value ? "true" : "false"); });
    printer << ']';
  }
  printer << '}';
}

} // namespace nocturne::stablehlo
