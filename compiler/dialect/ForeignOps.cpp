#include "compiler/dialect/ForeignOps.h"

#include "compiler/dialect/Lenient.h"
#include "compiler/dialect/StablehloDialect.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace nocturne::foreign {

using lenient::UnresolvedOperands;

//===------------------------------------------------------------------------------------------===//
// MHLO: StableHLO's predecessor, with the same text
//===------------------------------------------------------------------------------------------===//

// An operation that StableHLO has as well becomes that operation.
static ParseResult parseMhlo(OpAsmParser& parser, OperationState& state) {
  const std::string ours = ("stablehlo." + state.name.stripDialect()).str();
  std::optional<RegisteredOperationName> known =
      RegisteredOperationName::lookup(ours, parser.getContext());
  if (!known)
    return parseLenientOperation(parser, state);
  state.name = *known;
  return known->getParseAssemblyFn()(parser, state);
}

Attribute translateAttribute(StringRef dialect, StringRef spec, MLIRContext* context) {
  if (dialect != "mhlo")
    return {};
  // `#mhlo<"comparison_direction LT">` is how the oldest files quote it.
  StringRef body = spec;
  if (body.consume_front("\""))
    body.consume_back("\"");
  StringRef mnemonic = body.take_until([](char c) { return c == '<' || c == ' '; });
  static constexpr StringLiteral kEnums[] = {
      "precision", "comparison_direction", "comparison_type", "fft_type",
      "transpose", "rng_distribution",     "rng_algorithm"};
  static constexpr StringLiteral kStructs[] = {"dot",
                                               "gather",
                                               "scatter",
                                               "conv",
                                               "channel_handle",
                                               "output_operand_alias",
                                               "type_extensions",
                                               "result_accuracy"};
  if (llvm::is_contained(kEnums, mnemonic))
    return mlir::parseAttribute(("#stablehlo<" + body + ">").str(), context);
  if (llvm::is_contained(kStructs, mnemonic))
    return mlir::parseAttribute(("#stablehlo." + body).str(), context);
  return {};
}

Type translateType(StringRef dialect, StringRef spec, MLIRContext* context) {
  if (dialect == "mhlo" && spec == "token")
    return stablehlo::TokenType::get(context);
  return {};
}

//===------------------------------------------------------------------------------------------===//
// Shardy
//===------------------------------------------------------------------------------------------===//

// sdy.mesh @m = <["a"=2], device_ids=[0, 1]>
static ParseResult parseMesh(OpAsmParser& parser, OperationState& state) {
  StringAttr name;
  return failure(parser.parseSymbolName(name, "sym_name", state.attributes) ||
                 parser.parseEqual() ||
                 lenient::parseBracketedAttr(parser, state, "mesh", "sdy", "mesh") ||
                 parser.parseOptionalAttrDict(state.attributes));
}

// The sharding of one value, `<@mesh, [{"a"}]>`, after an operand.
static ParseResult parseSharding(OpAsmParser& parser, OperationState& state, StringRef attrName) {
  return lenient::parseBracketedAttr(parser, state, attrName, "sdy", "sharding");
}

// sdy.sharding_constraint %a <@mesh, [{"a"}]> : type; sdy.reshard likewise
static ParseResult parseShardedValue(OpAsmParser& parser, OperationState& state) {
  UnresolvedOperands operands;
  return failure(parser.parseOperand(operands.emplace_back()) ||
                 parseSharding(parser, state, "sharding") ||
                 parser.parseOptionalAttrDict(state.attributes) ||
                 lenient::parseTypes(parser, state, operands));
}

// sdy.all_gather [{"x"}, {}] %a out_sharding=<@mesh, [{}, {}]> : type, and the other collectives,
// which differ in the name and the brackets of their first attribute.
static ParseResult parseShardyCollective(OpAsmParser& parser, OperationState& state) {
  StringRef axes = llvm::StringSwitch<StringRef>(state.name.stripDialect())
                       .Case("all_gather", "gathering_axes")
                       .Case("all_slice", "slicing_axes")
                       .Case("all_reduce", "reduction_axes")
                       .Case("reduce_scatter", "reduce_scatter_axes")
                       .Case("all_to_all", "params")
                       .Default("axes");
  if (lenient::peek(parser) != '%') {
    FailureOr<std::string> text = lenient::parseBracketed(parser);
    if (failed(text))
      return failure();
    MLIRContext* context = parser.getContext();
    state.addAttribute(axes,
                       OpaqueAttr::get(StringAttr::get(context, "sdy"),
                                       (axes + "<" + *text + ">").str(), NoneType::get(context)));
  }
  UnresolvedOperands operands;
  return failure(parser.parseOperand(operands.emplace_back()) ||
                 parser.parseKeyword("out_sharding") || parser.parseEqual() ||
                 parseSharding(parser, state, "out_sharding") ||
                 parser.parseOptionalAttrDict(state.attributes) ||
                 lenient::parseTypes(parser, state, operands));
}

// `in_shardings=[<...>, <...>]`
static ParseResult parseShardings(OpAsmParser& parser, OperationState& state, StringRef name) {
  if (parser.parseKeyword(name) || parser.parseEqual())
    return failure();
  FailureOr<std::string> text = lenient::parseBracketed(parser);
  if (failed(text))
    return failure();
  MLIRContext* context = parser.getContext();
  state.addAttribute(name,
                     OpaqueAttr::get(StringAttr::get(context, "sdy"),
                                     "sharding_per_value<" + *text + ">", NoneType::get(context)));
  return success();
}

// The operands, arguments, body and types that sdy's operations with regions share.
static ParseResult parseShardyOperands(OpAsmParser& parser, UnresolvedOperands& operands) {
  return parser.parseOperandList(operands, OpAsmParser::Delimiter::Paren);
}

static ParseResult parseShardyBody(OpAsmParser& parser, OperationState& state,
                                   const UnresolvedOperands& operands) {
  return failure(lenient::parseRegionWithArguments(parser, *state.addRegion()) ||
                 parser.parseOptionalAttrDict(state.attributes) ||
                 lenient::parseTypes(parser, state, operands));
}

// sdy.manual_computation(%a) in_shardings=[..] out_shardings=[..] manual_axes={..} (%arg: t) {..} :
// fn
static ParseResult parseManualComputation(OpAsmParser& parser, OperationState& state) {
  UnresolvedOperands operands;
  if (parseShardyOperands(parser, operands) || parseShardings(parser, state, "in_shardings") ||
      parseShardings(parser, state, "out_shardings") || parser.parseKeyword("manual_axes") ||
      parser.parseEqual() ||
      lenient::parseBracketedAttr(parser, state, "manual_axes", "sdy", "manual_axes"))
    return failure();
  return parseShardyBody(parser, state, operands);
}

// sdy.named_computation<"name">(%a) in_shardings=[..] out_shardings=[..] (%arg: t) {..} : fn
static ParseResult parseNamedComputation(OpAsmParser& parser, OperationState& state) {
  UnresolvedOperands operands;
  StringAttr name;
  if (parser.parseLess() || parser.parseAttribute(name, "name", state.attributes) ||
      parser.parseGreater() || parseShardyOperands(parser, operands))
    return failure();
  for (StringRef shardings : {"in_shardings", "out_shardings"})
    if (lenient::peek(parser) == shardings.front() && parseShardings(parser, state, shardings))
      return failure();
  return parseShardyBody(parser, state, operands);
}

// sdy.constant {attributes} dense<1> : type
static ParseResult parseConstant(OpAsmParser& parser, OperationState& state) {
  TypedAttr value;
  if (parser.parseOptionalAttrDict(state.attributes) ||
      parser.parseAttribute(value, "value", state.attributes))
    return failure();
  state.addTypes(value.getType());
  return success();
}

//===------------------------------------------------------------------------------------------===//
// CHLO and MPMD
//===------------------------------------------------------------------------------------------===//

// chlo.scan(%a) inits(%b) dimension=0 [attributes {..}] {region} : fn
static ParseResult parseScan(OpAsmParser& parser, OperationState& state) {
  UnresolvedOperands operands, inits;
  int64_t dimension = 0;
  if (parser.parseOperandList(operands, OpAsmParser::Delimiter::Paren) ||
      parser.parseKeyword("inits") ||
      parser.parseOperandList(inits, OpAsmParser::Delimiter::Paren) ||
      parser.parseKeyword("dimension") || parser.parseEqual() || parser.parseInteger(dimension) ||
      parser.parseOptionalAttrDictWithKeyword(state.attributes) ||
      parser.parseRegion(*state.addRegion()))
    return failure();
  state.addAttribute("dimension", parser.getBuilder().getI64IntegerAttr(dimension));
  operands.append(inits.begin(), inits.end());
  return lenient::parseTypes(parser, state, operands);
}

// mpmd.fragment<mesh="m1", origin=["f1"(0)], stage=0> (%a) {attributes} (%arg: t) {..} : fn
static ParseResult parseFragment(OpAsmParser& parser, OperationState& state) {
  UnresolvedOperands operands;
  FailureOr<std::string> text = lenient::parseBracketed(parser);
  if (failed(text))
    return failure();
  state.addAttribute("fragment", parser.getBuilder().getStringAttr(*text));
  if (parser.parseOperandList(operands, OpAsmParser::Delimiter::Paren) ||
      parser.parseOptionalAttrDict(state.attributes) ||
      lenient::parseRegionWithArguments(parser, *state.addRegion()))
    return failure();
  return lenient::parseTypes(parser, state, operands);
}

namespace {

struct ForeignOperation {
  StringLiteral name;
  ParseResult (*parse)(OpAsmParser&, OperationState&);
};

} // namespace

// A hook refers to the function pointer it is made from, so these have to last.
static constexpr ForeignOperation kMhlo{"mhlo.", parseMhlo};
static constexpr ForeignOperation kOperations[] = {
    {"chlo.constant", parseConstant},
    {"chlo.scan", parseScan},
    {"mpmd.fragment", parseFragment},
    {"sdy.all_gather", parseShardyCollective},
    {"sdy.all_reduce", parseShardyCollective},
    {"sdy.all_slice", parseShardyCollective},
    {"sdy.all_to_all", parseShardyCollective},
    {"sdy.collective_permute", parseShardyCollective},
    {"sdy.constant", parseConstant},
    {"sdy.manual_computation", parseManualComputation},
    {"sdy.mesh", parseMesh},
    {"sdy.named_computation", parseNamedComputation},
    {"sdy.reduce_scatter", parseShardyCollective},
    {"sdy.replicated_to_unreduced", parseShardyCollective},
    {"sdy.reshard", parseShardedValue},
    {"sdy.sharded_to_unreduced", parseShardyCollective},
    {"sdy.sharding_constraint", parseShardedValue},
};

Dialect::ParseOpHook findParser(StringRef name) {
  if (name.starts_with(kMhlo.name))
    return kMhlo.parse;
  const auto* known =
      llvm::find_if(kOperations, [&](const ForeignOperation& op) { return op.name == name; });
  return known == std::end(kOperations) ? Dialect::ParseOpHook()
                                        : Dialect::ParseOpHook(known->parse);
}

} // namespace nocturne::foreign
