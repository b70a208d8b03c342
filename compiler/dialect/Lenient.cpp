#include "compiler/dialect/Lenient.h"

#include "compiler/dialect/ForeignOps.h"
#include "compiler/dialect/StablehloDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/StringExtras.h"

#include <cstring>

using namespace mlir;

namespace nocturne {

LenientDialect::LenientDialect(StringRef dialectName, MLIRContext* owner, TypeID id)
    : Dialect(dialectName, owner, id) {
  allowUnknownOperations();
  allowUnknownTypes();
  // MHLO's operations and attributes are read as StableHLO's.
  owner->getOrLoadDialect<stablehlo::StablehloDialect>();
}

Attribute LenientDialect::parseAttribute(DialectAsmParser& parser, Type) const {
  std::string spec = parser.getFullSymbolSpec().str();
  if (Attribute known = foreign::translateAttribute(getNamespace(), spec, getContext()))
    return known;
  return OpaqueAttr::get(StringAttr::get(getContext(), getNamespace()), spec,
                         NoneType::get(getContext()));
}

Type LenientDialect::parseType(DialectAsmParser& parser) const {
  std::string spec = parser.getFullSymbolSpec().str();
  if (Type known = foreign::translateType(getNamespace(), spec, getContext()))
    return known;
  return OpaqueType::get(StringAttr::get(getContext(), getNamespace()), spec);
}

std::optional<Dialect::ParseOpHook> LenientDialect::getParseOperationHook(StringRef opName) const {
  if (ParseOpHook known = foreign::findParser(opName))
    return known;
  return ParseOpHook(parseLenientOperation);
}

namespace lenient {

static const char* place(OpAsmParser& parser) {
  return parser.getCurrentLocation().getPointer();
}

char peek(OpAsmParser& parser) {
  const char* text = place(parser);
  return text ? *text : '\0';
}

// One token that is no bracket. Attributes come last: they would take a trailing type along.
static ParseResult skipToken(OpAsmParser& parser) {
  StringRef word;
  std::string text;
  APInt number;
  StringAttr symbol;
  OpAsmParser::UnresolvedOperand operand;
  if (succeeded(parser.parseOptionalComma()) || succeeded(parser.parseOptionalEqual()) ||
      succeeded(parser.parseOptionalColon()) || succeeded(parser.parseOptionalArrow()) ||
      succeeded(parser.parseOptionalQuestion()) || succeeded(parser.parseOptionalStar()) ||
      succeeded(parser.parseOptionalPlus()) || succeeded(parser.parseOptionalMinus()) ||
      succeeded(parser.parseOptionalVerticalBar()) || succeeded(parser.parseOptionalSlash()) ||
      succeeded(parser.parseOptionalKeyword(&word)) ||
      succeeded(parser.parseOptionalString(&text)) ||
      succeeded(parser.parseOptionalSymbolName(symbol)))
    return success();
  if (OptionalParseResult integer = parser.parseOptionalInteger(number); integer.has_value())
    return *integer;
  if (OptionalParseResult value = parser.parseOptionalOperand(operand); value.has_value())
    return *value;
  Attribute attr;
  if (OptionalParseResult any = parser.parseOptionalAttribute(attr); any.has_value())
    return *any;
  return parser.emitError(parser.getCurrentLocation(), "unexpected text in brackets");
}

static ParseResult skipGroup(OpAsmParser& parser) {
  struct Bracket {
    ParseResult (AsmParser::*open)();
    ParseResult (AsmParser::*close)();
  };
  static const Bracket brackets[] = {
      {&AsmParser::parseOptionalLess, &AsmParser::parseOptionalGreater},
      {&AsmParser::parseOptionalLSquare, &AsmParser::parseOptionalRSquare},
      {&AsmParser::parseOptionalLParen, &AsmParser::parseOptionalRParen},
      {&AsmParser::parseOptionalLBrace, &AsmParser::parseOptionalRBrace}};
  SmallVector<const Bracket*> open;
  do {
    const auto* opened =
        llvm::find_if(brackets, [&](const Bracket& b) { return succeeded((parser.*b.open)()); });
    if (opened != std::end(brackets)) {
      open.push_back(opened);
      continue;
    }
    if (open.empty())
      return parser.emitError(parser.getCurrentLocation(), "expected a bracket");
    if (succeeded((parser.*open.back()->close)())) {
      open.pop_back();
      continue;
    }
    if (skipToken(parser))
      return failure();
  } while (!open.empty());
  return success();
}

FailureOr<std::string> parseBracketed(OpAsmParser& parser) {
  const char* begin = place(parser);
  if (skipGroup(parser))
    return failure();
  // The parser's place is the next token's, past blanks.
  return StringRef(begin, static_cast<size_t>(place(parser) - begin)).rtrim().str();
}

ParseResult parseBracketedAttr(OpAsmParser& parser, OperationState& state, StringRef attrName,
                               StringRef dialect, StringRef mnemonic) {
  FailureOr<std::string> text = parseBracketed(parser);
  if (failed(text))
    return failure();
  MLIRContext* context = parser.getContext();
  state.addAttribute(attrName, OpaqueAttr::get(StringAttr::get(context, dialect),
                                               mnemonic.str() + *text, NoneType::get(context)));
  return success();
}

ParseResult parseTypes(OpAsmParser& parser, OperationState& state,
                       const UnresolvedOperands& operands) {
  SMLoc loc = parser.getCurrentLocation();
  const size_t resultCount = parser.getNumResults();
  if (failed(parser.parseOptionalColon())) {
    if (operands.empty() && resultCount == 0)
      return success();
    return parser.emitError(loc) << "expected the types of '" << state.name
                                 << "', which is written in a form that is not known here";
  }
  SmallVector<Type> operandTypes, resultTypes;
  if (parser.parseTypeList(operandTypes))
    return failure();
  if (auto function =
          operandTypes.size() == 1 ? dyn_cast<FunctionType>(operandTypes[0]) : FunctionType()) {
    operandTypes = llvm::to_vector(function.getInputs());
    resultTypes = llvm::to_vector(function.getResults());
  } else if (succeeded(parser.parseOptionalArrow())) {
    if (succeeded(parser.parseOptionalLParen())) {
      if (parser.parseTypeList(resultTypes) || parser.parseRParen())
        return failure();
    } else if (parser.parseTypeList(resultTypes)) {
      return failure();
    }
  } else if (resultCount != 0) {
    resultTypes = operandTypes.size() == resultCount
                      ? operandTypes
                      : SmallVector<Type>(resultCount, operandTypes.back());
  }
  if (operandTypes.size() == 1 && operands.size() != 1)
    operandTypes.assign(operands.size(), Type(operandTypes[0]));
  state.addTypes(resultTypes);
  return parser.resolveOperands(operands, operandTypes, loc, state.operands);
}

ParseResult parseRegionWithArguments(OpAsmParser& parser, Region& region) {
  SmallVector<OpAsmParser::Argument> arguments;
  return failure(parser.parseArgumentList(arguments, OpAsmParser::Delimiter::Paren,
                                          /*allowType=*/true, /*allowAttrs=*/true) ||
                 parser.parseRegion(region, arguments));
}

// The text from here on, as much of it as decides what comes next. The buffer ends with a zero.
static StringRef ahead(const char* text) {
  return {text, strnlen(text, 4096)};
}

// Whether the text at `{` is an attribute dictionary rather than a region: it is empty or starts
// with a name that `=`, `,` or `}` follows.
static bool isDictionary(const char* text) {
  StringRef rest = ahead(text).drop_front().ltrim();
  if (rest.consume_front("}"))
    return true;
  if (rest.consume_front("\""))
    rest = rest.substr(rest.find('"')).drop_front(1);
  else
    rest = rest.drop_while(
        [](char c) { return llvm::isAlnum(c) || c == '_' || c == '.' || c == '$'; });
  rest = rest.ltrim();
  return !rest.empty() && StringRef("=,}").contains(rest.front());
}

// Whether the text at `%` starts the next operation: `%a, %b:2 = ...`.
static bool startsOperation(const char* text) {
  StringRef rest = ahead(text);
  while (rest.consume_front("%")) {
    rest =
        rest.drop_while([](char c) { return llvm::isAlnum(c) || StringRef("_.$-#:").contains(c); });
    rest = rest.ltrim();
    if (!rest.consume_front(","))
      return rest.starts_with("=");
    rest = rest.ltrim();
  }
  return false;
}

} // namespace lenient

namespace {

// Reads an operation of unknown grammar part by part.
class LenientOperation {
public:
  LenientOperation(OpAsmParser& parser, OperationState& state) : parser_(parser), state_(state) {}

  ParseResult parse() {
    previousEnd_ = parser_.getNameLoc().getPointer();
    while (true) {
      FailureOr<bool> more = parsePart();
      if (failed(more))
        return failure();
      if (!*more)
        break;
    }
    if (valueType_ && lenient::peek(parser_) != ':')
      return applyValueType();
    return lenient::parseTypes(parser_, state_, operands_);
  }

private:
  // One part; false where the types or the next operation start.
  FailureOr<bool> parsePart() {
    const char* text = parser_.getCurrentLocation().getPointer();
    const bool newLine =
        StringRef(previousEnd_, static_cast<size_t>(text - previousEnd_)).contains('\n');
    previousEnd_ = text;
    switch (*text) {
    case '%':
      if (newLine && lenient::startsOperation(text))
        return false;
      return done(parser_.parseOperand(operands_.emplace_back()));
    case ',':
      return done(parser_.parseComma());
    case '=':
      return done(parser_.parseEqual());
    case '(':
      return done(parseParentheses());
    case '{':
      if (lenient::isDictionary(text))
        return done(parser_.parseOptionalAttrDict(state_.attributes));
      return done(parser_.parseRegion(*state_.addRegion(), arguments_));
    case '<':
    case '[':
      return done(keepText());
    case '@': {
      Attribute symbol;
      if (parser_.parseAttribute(symbol))
        return failure();
      state_.addAttribute(unusedName("symbol"), symbol);
      return true;
    }
    default:
      return newLine ? FailureOr<bool>(false) : parseWordOrValue(text);
    }
  }

  // `constant dense<1> : tensor<i32>`, `expect %a, dense<1> : tensor<i32>`: the value took the type
  // along that is the operands' and results' as well.
  ParseResult applyValueType() {
    Type result = valueType_;
    if (succeeded(parser_.parseOptionalArrow()) && parser_.parseType(result))
      return failure();
    state_.addTypes(SmallVector<Type>(parser_.getNumResults(), result));
    return parser_.resolveOperands(operands_, valueType_, state_.operands);
  }

  static FailureOr<bool> done(ParseResult result) {
    return failed(result) ? FailureOr<bool>(failure()) : FailureOr<bool>(true);
  }

  FailureOr<bool> parseWordOrValue(const char* text) {
    if (lenient::ahead(text).starts_with("loc(") || *text == ':' || *text == '}')
      return false;
    StringRef word;
    std::string string;
    if (llvm::isAlpha(*text) && !lenient::ahead(text).starts_with("dense") &&
        succeeded(parser_.parseOptionalKeyword(&word))) {
      if (failed(parser_.parseOptionalEqual())) {
        state_.addAttribute(unusedName(word), UnitAttr::get(parser_.getContext()));
        return true;
      }
      return done(parseValue(word));
    }
    if (succeeded(parser_.parseOptionalString(&string))) {
      state_.addAttribute(unusedName("text"), parser_.getBuilder().getStringAttr(string));
      return true;
    }
    Attribute value;
    OptionalParseResult any = parser_.parseOptionalAttribute(value);
    if (!any.has_value())
      return false;
    if (failed(*any))
      return failure();
    state_.addAttribute(unusedName("value"), value);
    if (auto typed = dyn_cast<TypedAttr>(value))
      valueType_ = typed.getType();
    return true;
  }

  ParseResult parseValue(StringRef name) {
    const char next = lenient::peek(parser_);
    if (next == '<' || next == '[' || next == '{' || next == '(') {
      FailureOr<std::string> text = lenient::parseBracketed(parser_);
      if (failed(text))
        return failure();
      state_.addAttribute(unusedName(name), parser_.getBuilder().getStringAttr(*text));
      return success();
    }
    int64_t number = 0;
    if (OptionalParseResult integer = parser_.parseOptionalInteger(number); integer.has_value()) {
      state_.addAttribute(unusedName(name), parser_.getBuilder().getI64IntegerAttr(number));
      return *integer;
    }
    StringRef word;
    Attribute value;
    if (OptionalParseResult any = parser_.parseOptionalAttribute(value); any.has_value()) {
      if (failed(*any))
        return failure();
    } else if (succeeded(parser_.parseOptionalKeyword(&word))) {
      value = parser_.getBuilder().getStringAttr(word);
    } else {
      return parser_.parseOperand(operands_.emplace_back());
    }
    state_.addAttribute(unusedName(name), value);
    return success();
  }

  // `(%a, %b)`, `(%arg: type)` before a region, `(%x = %y)`, or `(%a, k = 2)`.
  ParseResult parseParentheses() {
    auto item = [&]() -> ParseResult {
      if (lenient::peek(parser_) != '%')
        return parseNamedOrPlainValue();
      OpAsmParser::UnresolvedOperand operand;
      if (parser_.parseOperand(operand))
        return failure();
      if (succeeded(parser_.parseOptionalColon())) {
        OpAsmParser::Argument& argument = arguments_.emplace_back();
        argument.ssaName = operand;
        return parser_.parseType(argument.type);
      }
      if (succeeded(parser_.parseOptionalEqual())) {
        arguments_.emplace_back().ssaName = operand;
        return parser_.parseOperand(operands_.emplace_back());
      }
      operands_.push_back(operand);
      return success();
    };
    return parser_.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren, item);
  }

  // `k = 2`, or a word, type or value that stands alone.
  ParseResult parseNamedOrPlainValue() {
    StringRef word;
    Type type;
    if (lenient::ahead(parser_.getCurrentLocation().getPointer()).starts_with("dense")) {
      Attribute value;
      if (parser_.parseAttribute(value))
        return failure();
      state_.addAttribute(unusedName("value"), value);
      return success();
    }
    if (OptionalParseResult plain = parser_.parseOptionalType(type); plain.has_value()) {
      if (failed(*plain))
        return failure();
      state_.addAttribute(unusedName("type"), TypeAttr::get(type));
      return success();
    }
    if (parser_.parseKeyword(&word))
      return failure();
    if (succeeded(parser_.parseOptionalEqual()))
      return parseValue(word);
    state_.addAttribute(unusedName(word), UnitAttr::get(parser_.getContext()));
    return success();
  }

  ParseResult keepText() {
    FailureOr<std::string> text = lenient::parseBracketed(parser_);
    if (failed(text))
      return failure();
    state_.addAttribute(unusedName("text"), parser_.getBuilder().getStringAttr(*text));
    return success();
  }

  std::string unusedName(StringRef wanted) {
    std::string name = wanted.str();
    for (int i = 1; state_.attributes.get(name); ++i)
      name = (wanted + "_" + Twine(i)).str();
    return name;
  }

  OpAsmParser& parser_;
  OperationState& state_;
  lenient::UnresolvedOperands operands_;
  SmallVector<OpAsmParser::Argument> arguments_;
  Type valueType_;
  const char* previousEnd_ = nullptr;
};

} // namespace

ParseResult parseLenientOperation(OpAsmParser& parser, OperationState& state) {
  return LenientOperation(parser, state).parse();
}

} // namespace nocturne
