// Text forms of the dialect's attributes.

#include "compiler/dialect/AssemblyFormats.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"

#include <functional>

using namespace mlir;
using namespace nocturne::stablehlo;

#include "compiler/dialect/generated/Enums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "compiler/dialect/generated/Attrs.cpp.inc"

namespace nocturne::stablehlo {

void StablehloDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "compiler/dialect/generated/Attrs.cpp.inc"
      >();
}

namespace {

struct Field {
  StringRef name;
  std::function<ParseResult()> parse;
};

// `<name = value, ...>` in any order, each at most once; writers leave out what is empty.
ParseResult parseFields(AsmParser& parser, ArrayRef<Field> fields) {
  SmallVector<bool> seen(fields.size());
  if (parser.parseLess())
    return failure();
  if (succeeded(parser.parseOptionalGreater()))
    return success();
  do {
    SMLoc loc = parser.getCurrentLocation();
    StringRef name;
    if (parser.parseKeyword(&name) || parser.parseEqual())
      return failure();
    const auto* field = llvm::find_if(fields, [&](const Field& f) { return f.name == name; });
    if (field == fields.end())
      return parser.emitError(loc) << "unknown field '" << name << "'";
    bool& wasSeen = seen[static_cast<size_t>(field - fields.begin())];
    if (wasSeen)
      return parser.emitError(loc) << "field '" << name << "' appears twice";
    wasSeen = true;
    if (field->parse())
      return failure();
  } while (succeeded(parser.parseOptionalComma()));
  return parser.parseGreater();
}

using Dims = SmallVector<int64_t>;

Field dimsField(AsmParser& parser, StringRef name, Dims& dims) {
  return {name, [&parser, &dims] { return parseIntList(parser, dims); }};
}

Field intField(AsmParser& parser, StringRef name, int64_t& value) {
  return {name, [&parser, &value] { return parser.parseInteger(value); }};
}

Field typeField(AsmParser& parser, StringRef name, Type& type) {
  return {name, [&parser, &type] { return parser.parseType(type); }};
}

Field boolField(AsmParser& parser, StringRef name, bool& value) {
  return {name, [&parser, &value]() -> ParseResult {
            SMLoc loc = parser.getCurrentLocation();
            StringRef word;
            if (parser.parseKeyword(&word))
              return failure();
            if (word != "true" && word != "false")
              return parser.emitError(loc, "expected 'true' or 'false'");
            value = word == "true";
            return success();
          }};
}

Field floatField(AsmParser& parser, StringRef name, double& value) {
  return {name, [&parser, &value]() -> ParseResult {
            bool negative = succeeded(parser.parseOptionalMinus());
            if (parser.parseFloat(value))
              return failure();
            value = negative ? -value : value;
            return success();
          }};
}

// Prints `name = value` pairs with commas between, leaving out empty lists.
class FieldPrinter {
public:
  explicit FieldPrinter(AsmPrinter& printer) : printer_(printer) { printer_ << '<'; }
  ~FieldPrinter() { printer_ << '>'; }
  FieldPrinter(const FieldPrinter&) = delete;
  FieldPrinter& operator=(const FieldPrinter&) = delete;

  void dims(StringRef name, ArrayRef<int64_t> values) {
    if (!values.empty())
      allDims(name, values);
  }
  void allDims(StringRef name, ArrayRef<int64_t> values) {
    start(name);
    printIntList(printer_, values);
  }
  template <typename T>
  void value(StringRef name, const T& fieldValue) {
    start(name);
    printer_ << fieldValue;
  }

private:
  void start(StringRef name) {
    printer_ << (first_ ? "" : ", ") << name << " = ";
    first_ = false;
  }

  AsmPrinter& printer_;
  bool first_ = true;
};

StringRef spell(bool value) {
  return value ? "true" : "false";
}

ParseResult parseBound(AsmParser& parser, Dims& bounds) {
  if (succeeded(parser.parseOptionalQuestion())) {
    bounds.push_back(ShapedType::kDynamic);
    return success();
  }
  return parser.parseInteger(bounds.emplace_back());
}

// The older spelling of bounds: `#stablehlo.type_extensions<bounds = [4, ?]>`.
Attribute parseTypeExtensionsStruct(AsmParser& parser) {
  Dims bounds;
  Field field{"bounds", [&] {
                return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                                      [&] { return parseBound(parser, bounds); });
              }};
  if (parseFields(parser, field))
    return {};
  return TypeExtensionsAttr::get(parser.getContext(), bounds);
}

} // namespace

Attribute StablehloDialect::parseAttribute(DialectAsmParser& parser, Type type) const {
  std::string spec = parser.getFullSymbolSpec().str();
  StringRef mnemonic;
  Attribute attr;
  OptionalParseResult known = generatedAttributeParser(parser, &mnemonic, type, attr);
  if (known.has_value())
    return attr;
  if (mnemonic == "type_extensions")
    return parseTypeExtensionsStruct(parser);
  // From a later release, perhaps: kept as text, so that the rest of the file stays readable.
  return OpaqueAttr::get(StringAttr::get(getContext(), getNamespace()), spec,
                         NoneType::get(getContext()));
}

void StablehloDialect::printAttribute(Attribute attr, DialectAsmPrinter& printer) const {
  if (failed(generatedAttributePrinter(attr, printer)))
    llvm::report_fatal_error("attribute of another dialect given to stablehlo's printer");
}

Attribute DotDimensionNumbersAttr::parse(AsmParser& parser, Type) {
  Dims lhsBatching, rhsBatching, lhsContracting, rhsContracting;
  if (parseFields(parser, {dimsField(parser, "lhs_batching_dimensions", lhsBatching),
                           dimsField(parser, "rhs_batching_dimensions", rhsBatching),
                           dimsField(parser, "lhs_contracting_dimensions", lhsContracting),
                           dimsField(parser, "rhs_contracting_dimensions", rhsContracting)}))
    return {};
  return get(parser.getContext(), lhsBatching, rhsBatching, lhsContracting, rhsContracting);
}

void DotDimensionNumbersAttr::print(AsmPrinter& printer) const {
  FieldPrinter fields(printer);
  fields.dims("lhs_batching_dimensions", getLhsBatchingDimensions());
  fields.dims("rhs_batching_dimensions", getRhsBatchingDimensions());
  fields.dims("lhs_contracting_dimensions", getLhsContractingDimensions());
  fields.dims("rhs_contracting_dimensions", getRhsContractingDimensions());
}

Attribute DotAlgorithmAttr::parse(AsmParser& parser, Type) {
  Type lhs, rhs, accumulation;
  int64_t lhsCount = 1, rhsCount = 1, operations = 1;
  bool imprecise = false;
  SMLoc loc = parser.getCurrentLocation();
  if (parseFields(parser, {typeField(parser, "lhs_precision_type", lhs),
                           typeField(parser, "rhs_precision_type", rhs),
                           typeField(parser, "accumulation_type", accumulation),
                           intField(parser, "lhs_component_count", lhsCount),
                           intField(parser, "rhs_component_count", rhsCount),
                           intField(parser, "num_primitive_operations", operations),
                           boolField(parser, "allow_imprecise_accumulation", imprecise)}))
    return {};
  if (!lhs || !rhs || !accumulation) {
    parser.emitError(loc, "expected lhs_precision_type, rhs_precision_type and accumulation_type");
    return {};
  }
  return get(parser.getContext(), lhs, rhs, accumulation, lhsCount, rhsCount, operations,
             imprecise);
}

void DotAlgorithmAttr::print(AsmPrinter& printer) const {
  FieldPrinter fields(printer);
  fields.value("lhs_precision_type", getLhsPrecisionType());
  fields.value("rhs_precision_type", getRhsPrecisionType());
  fields.value("accumulation_type", getAccumulationType());
  fields.value("lhs_component_count", getLhsComponentCount());
  fields.value("rhs_component_count", getRhsComponentCount());
  fields.value("num_primitive_operations", getNumPrimitiveOperations());
  fields.value("allow_imprecise_accumulation", spell(getAllowImpreciseAccumulation()));
}

Attribute GatherDimensionNumbersAttr::parse(AsmParser& parser, Type) {
  Dims offset, collapsed, operandBatching, indicesBatching, indexMap;
  int64_t indexVectorDim = 0;
  if (parseFields(parser, {dimsField(parser, "offset_dims", offset),
                           dimsField(parser, "collapsed_slice_dims", collapsed),
                           dimsField(parser, "operand_batching_dims", operandBatching),
                           dimsField(parser, "start_indices_batching_dims", indicesBatching),
                           dimsField(parser, "start_index_map", indexMap),
                           intField(parser, "index_vector_dim", indexVectorDim)}))
    return {};
  return get(parser.getContext(), offset, collapsed, operandBatching, indicesBatching, indexMap,
             indexVectorDim);
}

void GatherDimensionNumbersAttr::print(AsmPrinter& printer) const {
  FieldPrinter fields(printer);
  fields.dims("offset_dims", getOffsetDims());
  fields.dims("collapsed_slice_dims", getCollapsedSliceDims());
  fields.dims("operand_batching_dims", getOperandBatchingDims());
  fields.dims("start_indices_batching_dims", getStartIndicesBatchingDims());
  fields.dims("start_index_map", getStartIndexMap());
  if (getIndexVectorDim() != 0)
    fields.value("index_vector_dim", getIndexVectorDim());
}

Attribute ScatterDimensionNumbersAttr::parse(AsmParser& parser, Type) {
  Dims window, inserted, inputBatching, indicesBatching, indexMap;
  int64_t indexVectorDim = 0;
  if (parseFields(parser, {dimsField(parser, "update_window_dims", window),
                           dimsField(parser, "inserted_window_dims", inserted),
                           dimsField(parser, "input_batching_dims", inputBatching),
                           dimsField(parser, "scatter_indices_batching_dims", indicesBatching),
                           dimsField(parser, "scatter_dims_to_operand_dims", indexMap),
                           intField(parser, "index_vector_dim", indexVectorDim)}))
    return {};
  return get(parser.getContext(), window, inserted, inputBatching, indicesBatching, indexMap,
             indexVectorDim);
}

void ScatterDimensionNumbersAttr::print(AsmPrinter& printer) const {
  FieldPrinter fields(printer);
  fields.dims("update_window_dims", getUpdateWindowDims());
  fields.dims("inserted_window_dims", getInsertedWindowDims());
  fields.dims("input_batching_dims", getInputBatchingDims());
  fields.dims("scatter_indices_batching_dims", getScatterIndicesBatchingDims());
  fields.dims("scatter_dims_to_operand_dims", getScatterDimsToOperandDims());
  if (getIndexVectorDim() != 0)
    fields.value("index_vector_dim", getIndexVectorDim());
}

// `<raw input_batch_dimension = 0, ...>` is how dimensions that no letters can name are written.
static Attribute parseRawConv(AsmParser& parser) {
  int64_t inputBatch = 0, inputFeature = 0, kernelInput = 0, kernelOutput = 0, outputBatch = 0,
          outputFeature = 0;
  Dims inputSpatial, kernelSpatial, outputSpatial;
  const Field fields[] = {intField(parser, "input_batch_dimension", inputBatch),
                          intField(parser, "input_feature_dimension", inputFeature),
                          dimsField(parser, "input_spatial_dimensions", inputSpatial),
                          intField(parser, "kernel_input_feature_dimension", kernelInput),
                          intField(parser, "kernel_output_feature_dimension", kernelOutput),
                          dimsField(parser, "kernel_spatial_dimensions", kernelSpatial),
                          intField(parser, "output_batch_dimension", outputBatch),
                          intField(parser, "output_feature_dimension", outputFeature),
                          dimsField(parser, "output_spatial_dimensions", outputSpatial)};
  do {
    SMLoc loc = parser.getCurrentLocation();
    StringRef name;
    if (parser.parseKeyword(&name) || parser.parseEqual())
      return {};
    const auto* field = llvm::find_if(fields, [&](const Field& f) { return f.name == name; });
    if (field == std::end(fields)) {
      parser.emitError(loc) << "unknown field '" << name << "'";
      return {};
    }
    if (field->parse())
      return {};
  } while (succeeded(parser.parseOptionalComma()));
  return ConvDimensionNumbersAttr::get(parser.getContext(), inputBatch, inputFeature, inputSpatial,
                                       kernelInput, kernelOutput, kernelSpatial, outputBatch,
                                       outputFeature, outputSpatial);
}

Attribute ConvDimensionNumbersAttr::parse(AsmParser& parser, Type) {
  if (parser.parseLess())
    return {};
  Attribute attr;
  if (succeeded(parser.parseOptionalKeyword("raw"))) {
    attr = parseRawConv(parser);
  } else {
    FailureOr<ConvDimensionNumbersAttr> dims = parseConvDimensionNumbers(parser);
    attr = succeeded(dims) ? *dims : ConvDimensionNumbersAttr();
  }
  return attr && succeeded(parser.parseGreater()) ? attr : Attribute();
}

void ConvDimensionNumbersAttr::print(AsmPrinter& printer) const {
  printer << '<';
  printConvDimensionNumbers(printer, *this);
  printer << '>';
}

Attribute ChannelHandleAttr::parse(AsmParser& parser, Type) {
  int64_t handle = 0, type = 0;
  if (parseFields(parser, {intField(parser, "handle", handle), intField(parser, "type", type)}))
    return {};
  return get(parser.getContext(), handle, type);
}

void ChannelHandleAttr::print(AsmPrinter& printer) const {
  FieldPrinter fields(printer);
  fields.value("handle", getHandle());
  fields.value("type", getType());
}

Attribute OutputOperandAliasAttr::parse(AsmParser& parser, Type) {
  Dims outputIndices, operandIndices;
  int64_t operand = 0;
  if (parseFields(parser, {dimsField(parser, "output_tuple_indices", outputIndices),
                           intField(parser, "operand_index", operand),
                           dimsField(parser, "operand_tuple_indices", operandIndices)}))
    return {};
  return get(parser.getContext(), outputIndices, operand, operandIndices);
}

void OutputOperandAliasAttr::print(AsmPrinter& printer) const {
  FieldPrinter fields(printer);
  fields.allDims("output_tuple_indices", getOutputTupleIndices());
  fields.value("operand_index", getOperandIndex());
  fields.allDims("operand_tuple_indices", getOperandTupleIndices());
}

Attribute TypeExtensionsAttr::parse(AsmParser& parser, Type) {
  Dims bounds;
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater,
                                     [&] { return parseBound(parser, bounds); }))
    return {};
  return get(parser.getContext(), bounds);
}

void TypeExtensionsAttr::print(AsmPrinter& printer) const {
  printer << '<';
  llvm::interleaveComma(getBounds(), printer, [&](int64_t bound) {
    if (ShapedType::isDynamic(bound))
      printer << '?';
    else
      printer << bound;
  });
  printer << '>';
}

LogicalResult
TypeExtensionsAttr::verifyEncoding(ArrayRef<int64_t> shape, Type,
                                   function_ref<InFlightDiagnostic()> emitError) const {
  if (getBounds().size() != shape.size())
    return emitError() << "expected one bound for each of " << shape.size() << " dimensions, got "
                       << getBounds().size();
  for (auto [dim, sizes] : llvm::enumerate(llvm::zip(shape, getBounds())))
    if (auto [size, bound] = sizes; !ShapedType::isDynamic(size) && !ShapedType::isDynamic(bound))
      return emitError() << "dimension " << dim << " is static and must not have a bound";
  return success();
}

Attribute ResultAccuracyAttr::parse(AsmParser& parser, Type) {
  double atol = 0, rtol = 0;
  int64_t ulps = 0;
  ResultAccuracyMode mode = ResultAccuracyMode::DEFAULT;
  Field modeField{"mode", [&]() -> ParseResult {
                    SMLoc loc = parser.getCurrentLocation();
                    Attribute attr;
                    if (parser.parseAttribute(attr))
                      return failure();
                    auto modeAttr = dyn_cast<ResultAccuracyModeAttr>(attr);
                    if (!modeAttr)
                      return parser.emitError(loc, "expected #stablehlo.result_accuracy_mode");
                    mode = modeAttr.getValue();
                    return success();
                  }};
  if (parseFields(parser, {floatField(parser, "atol", atol), floatField(parser, "rtol", rtol),
                           intField(parser, "ulps", ulps), modeField}))
    return {};
  return get(parser.getContext(), APFloat(atol), APFloat(rtol), ulps, mode);
}

void ResultAccuracyAttr::print(AsmPrinter& printer) const {
  FieldPrinter fields(printer);
  fields.value("atol", getAtol());
  fields.value("rtol", getRtol());
  fields.value("ulps", getUlps());
  fields.value("mode", ResultAccuracyModeAttr::get(getContext(), getMode()));
}

Attribute ReplicaGroupMeshAxesAttr::parse(AsmParser& parser, Type) {
  Attribute mesh;
  ArrayAttr axes;
  if (parseFields(parser, {Field{"mesh", [&] { return parser.parseAttribute(mesh); }},
                           Field{"axes", [&] { return parser.parseAttribute(axes); }}}))
    return {};
  return get(parser.getContext(), mesh ? mesh : UnitAttr::get(parser.getContext()),
             axes ? axes : ArrayAttr::get(parser.getContext(), {}));
}

void ReplicaGroupMeshAxesAttr::print(AsmPrinter& printer) const {
  FieldPrinter fields(printer);
  fields.value("mesh", getMesh());
  fields.value("axes", getAxes());
}

} // namespace nocturne::stablehlo
