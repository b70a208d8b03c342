// Printed forms that a declarative format cannot describe.

#include "compiler/dialect/AssemblyFormats.h"
#include "compiler/dialect/StablehloOps.h"

using namespace mlir;

namespace nocturne::stablehlo {

using UnresolvedOperands = SmallVector<OpAsmParser::UnresolvedOperand>;

// `: (types) -> types` for operands that were read before.
static ParseResult parseFunctionalTypes(OpAsmParser& parser, OperationState& state,
                                        const UnresolvedOperands& operands, SMLoc loc) {
  FunctionType type;
  if (parser.parseColonType(type) ||
      parser.resolveOperands(operands, type.getInputs(), loc, state.operands))
    return failure();
  state.addTypes(type.getResults());
  return success();
}

//===------------------------------------------------------------------------------------------===//
// constant
//===------------------------------------------------------------------------------------------===//

ParseResult ConstantOp::parse(OpAsmParser& parser, OperationState& state) {
  // `constant() <{value = ...}> : () -> type`, a half-generic form that some writers print.
  if (succeeded(parser.parseOptionalLParen())) {
    NamedAttrList properties;
    auto parseProperty = [&]() -> ParseResult {
      std::string name;
      Attribute value;
      if (parser.parseKeywordOrString(&name) || parser.parseEqual() || parser.parseAttribute(value))
        return failure();
      properties.append(name, value);
      return success();
    };
    if (parser.parseRParen() || parser.parseOptionalLess())
      return failure();
    if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Braces, parseProperty) ||
        parser.parseGreater() || parser.parseOptionalAttrDict(state.attributes))
      return failure();
    for (NamedAttribute property : properties)
      state.attributes.append(property);
    return parseFunctionalTypes(parser, state, {}, parser.getCurrentLocation());
  }
  ElementsAttr value;
  SMLoc loc;
  if (parser.parseOptionalAttrDict(state.attributes) || parser.getCurrentLocation(&loc) ||
      parser.parseAttribute(value))
    return failure();
  state.getOrAddProperties<Properties>().value = value;
  // A quantized constant has a storage type of its own: `dense<1> : tensor<i8> :
  // tensor<!quant...>`.
  Type type = value.getType();
  if (succeeded(parser.parseOptionalColon()) && parser.parseType(type))
    return failure();
  state.addTypes(type);
  return success();
}

void ConstantOp::print(OpAsmPrinter& printer) {
  printer.printOptionalAttrDict((*this)->getAttrs(), {"value"});
  printer << ' ' << getValue();
  if (getValue().getType() != getType())
    printer << " : " << getType();
}

//===------------------------------------------------------------------------------------------===//
// dot_general
//===------------------------------------------------------------------------------------------===//

// `[0] x [1]`.
static ParseResult parseDimPairs(OpAsmParser& parser, SmallVectorImpl<int64_t>& lhs,
                                 SmallVectorImpl<int64_t>& rhs) {
  return failure(parseIntList(parser, lhs) || parser.parseKeyword("x") ||
                 parseIntList(parser, rhs));
}

ParseResult DotGeneralOp::parse(OpAsmParser& parser, OperationState& state) {
  UnresolvedOperands operands(2);
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseOperand(operands[0]) || parser.parseComma() || parser.parseOperand(operands[1]))
    return failure();
  SmallVector<int64_t> lhsBatching, rhsBatching, lhsContracting, rhsContracting;
  auto& properties = state.getOrAddProperties<Properties>();
  while (succeeded(parser.parseOptionalComma())) {
    SMLoc keywordLoc = parser.getCurrentLocation();
    StringRef keyword;
    if (parser.parseKeyword(&keyword) || parser.parseEqual())
      return failure();
    ParseResult parsed = success();
    if (keyword == "batching_dims")
      parsed = parseDimPairs(parser, lhsBatching, rhsBatching);
    else if (keyword == "contracting_dims")
      parsed = parseDimPairs(parser, lhsContracting, rhsContracting);
    else if (keyword == "precision")
      parsed = parsePrecisionList(parser, properties.precision_config);
    else if (keyword == "algorithm")
      parsed = parser.parseCustomAttributeWithFallback(properties.algorithm);
    else
      return parser.emitError(keywordLoc)
             << "expected batching_dims, contracting_dims, precision or algorithm, got " << keyword;
    if (failed(parsed))
      return failure();
  }
  if (parser.parseOptionalAttrDict(state.attributes))
    return failure();
  if (!state.attributes.get("dot_dimension_numbers"))
    properties.dot_dimension_numbers = DotDimensionNumbersAttr::get(
        parser.getContext(), lhsBatching, rhsBatching, lhsContracting, rhsContracting);
  return parseFunctionalTypes(parser, state, operands, loc);
}

void DotGeneralOp::print(OpAsmPrinter& printer) {
  printer << ' ' << getLhs() << ", " << getRhs();
  auto pairs = [&](StringRef name, ArrayRef<int64_t> lhs, ArrayRef<int64_t> rhs) {
    printer << ", " << name << " = ";
    printIntList(printer, lhs);
    printer << " x ";
    printIntList(printer, rhs);
  };
  DotDimensionNumbersAttr dims = getDotDimensionNumbers();
  if (!dims.getLhsBatchingDimensions().empty() || !dims.getRhsBatchingDimensions().empty())
    pairs("batching_dims", dims.getLhsBatchingDimensions(), dims.getRhsBatchingDimensions());
  pairs("contracting_dims", dims.getLhsContractingDimensions(), dims.getRhsContractingDimensions());
  if (std::optional<ArrayAttr> precision = getPrecisionConfig()) {
    printer << ", precision = ";
    printPrecisionList(printer, *precision);
  }
  if (std::optional<DotAlgorithmAttr> algorithm = getAlgorithm()) {
    printer << ", algorithm = ";
    printer.printStrippedAttrOrType(*algorithm);
  }
  printer.printOptionalAttrDict((*this)->getAttrs(),
                                {"dot_dimension_numbers", "precision_config", "algorithm"});
  printer << " : ";
  printer.printFunctionalType(*this);
}

//===------------------------------------------------------------------------------------------===//
// composite
//===------------------------------------------------------------------------------------------===//

ParseResult CompositeOp::parse(OpAsmParser& parser, OperationState& state) {
  UnresolvedOperands operands;
  StringAttr name;
  if (parseText(parser, name))
    return failure();
  state.getOrAddProperties<Properties>().name = name;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseOperandList(operands) || parser.parseOptionalAttrDict(state.attributes) ||
      parseFunctionalTypes(parser, state, operands, loc))
    return failure();
  return success();
}

void CompositeOp::print(OpAsmPrinter& printer) {
  printer << ' ';
  printer.printAttributeWithoutType(getNameAttr());
  if (!getInputs().empty())
    printer << ' ' << getInputs();
  printer.printOptionalAttrDict((*this)->getAttrs(), {"name"});
  printer << " : ";
  printer.printFunctionalType(*this);
}

//===------------------------------------------------------------------------------------------===//
// while
//===------------------------------------------------------------------------------------------===//

ParseResult WhileOp::parse(OpAsmParser& parser, OperationState& state) {
  SmallVector<OpAsmParser::Argument> arguments;
  UnresolvedOperands operands;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseAssignmentList(arguments, operands))
    return failure();
  SmallVector<Type> types;
  if (succeeded(parser.parseOptionalColon()) && parser.parseTypeList(types))
    return failure();
  if (parser.resolveOperands(operands, types, loc, state.operands))
    return failure();
  for (auto [argument, type] : llvm::zip(arguments, types))
    argument.type = type;
  state.addTypes(types);
  if (parser.parseOptionalAttrDictWithKeyword(state.attributes) || parser.parseKeyword("cond") ||
      parser.parseRegion(*state.addRegion(), arguments) || parser.parseKeyword("do") ||
      parser.parseRegion(*state.addRegion(), arguments))
    return failure();
  return success();
}

// The form names each argument once for both regions, so it can only be printed where both have
// the operands' types, as valid operations do.
static bool hasArgumentTypes(Region& region, TypeRange types) {
  return region.hasOneBlock() && TypeRange(region.getArgumentTypes()) == types;
}

void WhileOp::print(OpAsmPrinter& printer) {
  if (!hasArgumentTypes(getCond(), getOperandTypes()) ||
      !hasArgumentTypes(getBody(), getOperandTypes()) || getResultTypes() != getOperandTypes()) {
    printer.printGenericOp(*this, /*printOpName=*/false);
    return;
  }
  printer << '(';
  llvm::interleaveComma(llvm::zip(getBody().getArguments(), getOperands()), printer,
                        [&](auto pair) {
                          printer.printOperand(std::get<0>(pair));
                          printer << " = ";
                          printer.printOperand(std::get<1>(pair));
                        });
  printer << ')';
  if (getNumOperands() != 0) {
    printer << " : ";
    llvm::interleaveComma(getOperandTypes(), printer);
  }
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs());
  printer.printNewline();
  printer << " cond ";
  printer.shadowRegionArgs(getCond(), getBody().getArguments());
  printer.printRegion(getCond(), /*printEntryBlockArgs=*/false);
  printer << " do ";
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

//===------------------------------------------------------------------------------------------===//
// reduce
//===------------------------------------------------------------------------------------------===//

// The type of a reducer's arguments: a scalar of what the result holds.
static Type scalarOf(Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  return shaped ? RankedTensorType::get({}, shaped.getElementType()) : type;
}

// `applies stablehlo.add`: a body of this one operation.
static void buildReducer(OpAsmParser& parser, SMLoc loc, OperationName inner, Type scalar,
                         Region& region) {
  OpBuilder builder(parser.getContext());
  Location location = parser.getEncodedSourceLoc(loc);
  Block& block = region.emplaceBlock();
  block.addArguments({scalar, scalar}, {location, location});
  builder.setInsertionPointToStart(&block);
  OperationState innerState(location, inner);
  innerState.addOperands(block.getArguments());
  innerState.addTypes(scalar);
  ReturnOp::create(builder, location, builder.create(innerState)->getResults());
}

// MHLO's operations are read as ours: see ForeignOps.h.
static OperationName reducerName(OperationName name) {
  if (name.getDialectNamespace() != "mhlo")
    return name;
  return OperationName(("stablehlo." + name.stripDialect()).str(), name.getContext());
}

// `reducer(%a: t, %b: t) (%c: t, %d: t) { ... }`: left and right arguments pairwise.
static ParseResult parseReducer(OpAsmParser& parser, Region& region) {
  if (parser.parseKeyword("reducer"))
    return failure();
  SmallVector<OpAsmParser::Argument> arguments, right;
  while (succeeded(parser.parseOptionalLParen()))
    if (parser.parseArgument(arguments.emplace_back(), /*allowType=*/true) || parser.parseComma() ||
        parser.parseArgument(right.emplace_back(), /*allowType=*/true) || parser.parseRParen())
      return failure();
  arguments.append(right.begin(), right.end());
  return parser.parseRegion(region, arguments);
}

ParseResult ReduceOp::parse(OpAsmParser& parser, OperationState& state) {
  UnresolvedOperands operands, initValues;
  SMLoc loc = parser.getCurrentLocation();
  do {
    if (parser.parseLParen() || parser.parseOperand(operands.emplace_back()) ||
        parser.parseKeyword("init") || parser.parseColon() ||
        parser.parseOperand(initValues.emplace_back()) || parser.parseRParen())
      return failure();
  } while (succeeded(parser.parseOptionalComma()));
  operands.append(initValues.begin(), initValues.end());

  std::optional<OperationName> inner;
  if (succeeded(parser.parseOptionalKeyword("applies"))) {
    FailureOr<OperationName> name = parser.parseCustomOperationName();
    if (failed(name))
      return failure();
    inner = reducerName(*name);
  }
  if (parser.parseKeyword("across") || parser.parseKeyword("dimensions") || parser.parseEqual() ||
      parseI64List(parser, state.getOrAddProperties<Properties>().dimensions) ||
      parser.parseOptionalAttrDict(state.attributes) ||
      parseFunctionalTypes(parser, state, operands, loc))
    return failure();

  Region& region = *state.addRegion();
  if (!inner)
    return parseReducer(parser, region);
  if (state.types.size() != 1)
    return parser.emitError(loc, "expected one result where 'applies' names the reducer");
  buildReducer(parser, loc, *inner, scalarOf(state.types[0]), region);
  return success();
}

// The operation that the body applies to its two arguments in order, if it does no more than that.
static Operation* appliedOperation(ReduceOp op) {
  Region& body = op.getBody();
  if (op.getInputs().size() != 1 || op.getNumResults() != 1 || !body.hasOneBlock())
    return nullptr;
  Block& block = body.front();
  if (!llvm::hasNItems(block, 2) || block.getNumArguments() != 2)
    return nullptr;
  Operation& inner = block.front();
  auto result = dyn_cast<ReturnOp>(block.back());
  Type scalar = scalarOf(op.getResult(0).getType());
  const bool plain = result && result.getNumOperands() == 1 && inner.getNumResults() == 1 &&
                     result.getOperand(0) == inner.getResult(0) && inner.getNumRegions() == 0 &&
                     inner.getAttrs().empty() && result->getAttrs().empty() &&
                     llvm::equal(inner.getOperands(), block.getArguments()) &&
                     inner.getResult(0).getType() == scalar &&
                     llvm::all_of(block.getArgumentTypes(), [&](Type t) { return t == scalar; });
  return plain ? &inner : nullptr;
}

void ReduceOp::print(OpAsmPrinter& printer) {
  const size_t count = getInputs().size();
  Region& body = getBody();
  if (count == 0 || !body.hasOneBlock() || body.getNumArguments() != 2 * count) {
    printer.printGenericOp(*this, /*printOpName=*/false);
    return;
  }
  llvm::interleaveComma(llvm::zip(getInputs(), getInitValues()), printer, [&](auto pair) {
    printer << '(' << std::get<0>(pair) << " init: " << std::get<1>(pair) << ')';
  });
  Operation* applied = appliedOperation(*this);
  if (applied)
    printer << " applies " << applied->getName();
  printer << " across dimensions = ";
  printIntList(printer, readI64List(getDimensions()));
  printer.printOptionalAttrDict((*this)->getAttrs(), {"dimensions"});
  printer << " : ";
  printer.printFunctionalType(*this);
  if (applied)
    return;
  printer.printNewline();
  printer << " reducer";
  for (size_t i = 0; i < count; ++i) {
    printer << '(';
    printer.printRegionArgument(body.getArgument(static_cast<unsigned>(i)));
    printer << ", ";
    printer.printRegionArgument(body.getArgument(static_cast<unsigned>(i + count)));
    printer << ") ";
  }
  printer.printRegion(body, /*printEntryBlockArgs=*/false);
}

} // namespace nocturne::stablehlo
