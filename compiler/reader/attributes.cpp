#include "compiler/reader/attributes.h"

#include <algorithm>

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

#include "compiler/dialect/StablehloDialect.h"
#include "compiler/reader/types.h"

namespace nocturne::compiler {

namespace shlo = nocturne::stablehlo;

namespace {

constexpr size_t kMaxBackendConfig = 4096;

std::string textOf(mlir::Attribute attribute) {
  std::string text;
  llvm::raw_string_ostream(text) << attribute;
  return text;
}

Dims dimsOf(llvm::ArrayRef<int64_t> values) {
  return {values.begin(), values.end()};
}

// A splat takes a few bytes in a file and stands for any number of elements.
constexpr int64_t kMaxListElements = int64_t{1} << 20;

Dims numbersOf(mlir::Attribute attribute) {
  auto dense = mlir::dyn_cast_or_null<mlir::DenseElementsAttr>(attribute);
  if (dense && dense.getNumElements() > kMaxListElements)
    return {};
  return dimsOf(shlo::readI64List(attribute));
}

Dims readDims(mlir::Operation* op, llvm::StringRef name) {
  mlir::Attribute attribute = op->getAttr(name);
  if (auto number = mlir::dyn_cast_or_null<mlir::IntegerAttr>(attribute))
    return {number.getValue().sextOrTrunc(64).getSExtValue()};
  return numbersOf(attribute);
}

Dims readDimsOr(mlir::Operation* op, llvm::StringRef name, size_t count, int64_t value) {
  Dims dims = readDims(op, name);
  dims.resize(count, value);
  return dims;
}

int64_t readInt(mlir::Operation* op, llvm::StringRef name, int64_t otherwise) {
  Dims value = readDims(op, name);
  return value.size() == 1 ? value[0] : otherwise;
}

const TensorType* operand(const OpInfo& info, size_t index) {
  return index < info.operands.size() ? &info.operands[index] : nullptr;
}
size_t rankOf(const TensorType* type) {
  return type ? type->dims.size() : 0;
}

//===----------------------------------------------------------------------------------------===//
// Contractions
//===----------------------------------------------------------------------------------------===//

std::vector<std::string> readPrecision(mlir::Operation* op) {
  std::vector<std::string> precision;
  if (auto list = mlir::dyn_cast_or_null<mlir::ArrayAttr>(op->getAttr("precision_config")))
    for (mlir::Attribute item : list)
      precision.push_back(enumText(item));
  return precision;
}

void readPrecisionAndAlgorithm(mlir::Operation* op, DotAttributes& dot) {
  dot.precision = readPrecision(op);
  if (auto algorithm = mlir::dyn_cast_or_null<shlo::DotAlgorithmAttr>(op->getAttr("algorithm")))
    dot.accumulation = readElementType(algorithm.getAccumulationType()).kind;
}

OpAttributes readDotGeneral(mlir::Operation* op) {
  DotAttributes dot;
  if (auto numbers = mlir::dyn_cast_or_null<shlo::DotDimensionNumbersAttr>(
          op->getAttr("dot_dimension_numbers"))) {
    dot.lhsBatching = dimsOf(numbers.getLhsBatchingDimensions());
    dot.rhsBatching = dimsOf(numbers.getRhsBatchingDimensions());
    dot.lhsContracting = dimsOf(numbers.getLhsContractingDimensions());
    dot.rhsContracting = dimsOf(numbers.getRhsContractingDimensions());
  }
  readPrecisionAndAlgorithm(op, dot);
  return dot;
}

OpAttributes readDot(mlir::Operation* op, const OpInfo& info) {
  DotAttributes dot;
  if (size_t rank = rankOf(operand(info, 0))) {
    dot.lhsContracting = {static_cast<int64_t>(rank) - 1};
    dot.rhsContracting = {0};
  }
  readPrecisionAndAlgorithm(op, dot);
  return dot;
}

// `key = [1, 2]` inside the text of an attribute.
Dims dimsInText(llvm::StringRef text, llvm::StringRef key) {
  Dims dims;
  auto [before, after] = text.split((key + " = [").str());
  for (llvm::StringRef item : llvm::split(after.take_until([](char c) { return c == ']'; }), ",")) {
    int64_t value = 0;
    if (!item.trim().getAsInteger(10, value))
      dims.push_back(value);
  }
  return dims;
}

// The attribute is MHLO's or CHLO's and stays text; the dimension numbers inside it are as dot's.
OpAttributes readRaggedDot(mlir::Operation* op) {
  DotAttributes dot;
  if (mlir::Attribute numbers = op->getAttr("ragged_dot_dimension_numbers")) {
    std::string text = textOf(numbers);
    dot.lhsBatching = dimsInText(text, "lhs_batching_dimensions");
    dot.rhsBatching = dimsInText(text, "rhs_batching_dimensions");
    dot.lhsContracting = dimsInText(text, "lhs_contracting_dimensions");
    dot.rhsContracting = dimsInText(text, "rhs_contracting_dimensions");
  }
  readPrecisionAndAlgorithm(op, dot);
  return dot;
}

// "abc,cd->abd": a letter on both sides is a batch dimension if the result has it, else contracted.
OpAttributes readEinsum(mlir::Operation* op) {
  auto config = mlir::dyn_cast_or_null<mlir::StringAttr>(op->getAttr("einsum_config"));
  if (!config || config.getValue().contains('.'))
    return std::monostate();
  auto [inputs, result] = config.getValue().split("->");
  auto [lhs, rhs] = inputs.split(',');
  DotAttributes dot;
  dot.precision = readPrecision(op);
  for (size_t i = 0; i < lhs.size(); ++i) {
    size_t j = rhs.find(lhs[i]);
    if (j == llvm::StringRef::npos)
      continue;
    bool batch = result.contains(lhs[i]);
    (batch ? dot.lhsBatching : dot.lhsContracting).push_back(static_cast<int64_t>(i));
    (batch ? dot.rhsBatching : dot.rhsContracting).push_back(static_cast<int64_t>(j));
  }
  return dot;
}

//===----------------------------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------------------------===//

std::vector<std::pair<int64_t, int64_t>> readPadding(mlir::Operation* op, size_t count) {
  Dims flat = readDims(op, "padding");
  // A splat matrix has all its elements, a missing one none.
  flat.resize(2 * count, 0);
  std::vector<std::pair<int64_t, int64_t>> padding;
  for (size_t i = 0; i < count; ++i)
    padding.emplace_back(flat[2 * i], flat[2 * i + 1]);
  return padding;
}

OpAttributes readConvolution(mlir::Operation* op, const OpInfo& info) {
  ConvolutionAttributes conv;
  if (auto numbers = mlir::dyn_cast_or_null<shlo::ConvDimensionNumbersAttr>(
          op->getAttr("dimension_numbers"))) {
    conv.lhsBatch = numbers.getInputBatchDimension();
    conv.lhsFeature = numbers.getInputFeatureDimension();
    conv.lhsSpatial = dimsOf(numbers.getInputSpatialDimensions());
    conv.rhsInputFeature = numbers.getKernelInputFeatureDimension();
    conv.rhsOutputFeature = numbers.getKernelOutputFeatureDimension();
    conv.rhsSpatial = dimsOf(numbers.getKernelSpatialDimensions());
    conv.outBatch = numbers.getOutputBatchDimension();
    conv.outFeature = numbers.getOutputFeatureDimension();
    conv.outSpatial = dimsOf(numbers.getOutputSpatialDimensions());
  }
  size_t count = conv.rhsSpatial.size();
  WindowAttributes& window = conv.window;
  const TensorType* kernel = operand(info, 1);
  for (int64_t dim : conv.rhsSpatial) {
    bool known = dim >= 0 && static_cast<size_t>(dim) < rankOf(kernel);
    window.sizes.push_back(known ? kernel->dims[static_cast<size_t>(dim)] : kDynamic);
  }
  window.strides = readDimsOr(op, "window_strides", count, 1);
  window.baseDilations = readDimsOr(op, "lhs_dilation", count, 1);
  window.windowDilations = readDimsOr(op, "rhs_dilation", count, 1);
  window.padding = readPadding(op, count);
  for (bool reversed : shlo::readBoolList(op->getAttr("window_reversal")))
    window.reversal.push_back(reversed);
  window.reversal.resize(count, false);
  conv.featureGroups = readInt(op, "feature_group_count", 1);
  conv.batchGroups = readInt(op, "batch_group_count", 1);
  conv.precision = readPrecision(op);
  return conv;
}

OpAttributes readWindowReduction(mlir::Operation* op, const OpInfo& info) {
  WindowReductionAttributes result;
  WindowAttributes& window = result.window;
  window.sizes = readDims(op, "window_dimensions");
  size_t count = window.sizes.empty() ? rankOf(operand(info, 0)) : window.sizes.size();
  window.sizes.resize(count, 1);
  window.strides = readDimsOr(op, "window_strides", count, 1);
  window.baseDilations = readDimsOr(op, "base_dilations", count, 1);
  window.windowDilations = readDimsOr(op, "window_dilations", count, 1);
  window.padding = readPadding(op, count);
  window.reversal.assign(count, false);
  return result;
}

//===----------------------------------------------------------------------------------------===//
// Indexed access
//===----------------------------------------------------------------------------------------===//

OpAttributes readGather(mlir::Operation* op) {
  GatherAttributes gather;
  if (auto numbers = mlir::dyn_cast_or_null<shlo::GatherDimensionNumbersAttr>(
          op->getAttr("dimension_numbers"))) {
    gather.offsetDims = dimsOf(numbers.getOffsetDims());
    gather.collapsedSliceDims = dimsOf(numbers.getCollapsedSliceDims());
    gather.operandBatchingDims = dimsOf(numbers.getOperandBatchingDims());
    gather.startIndicesBatchingDims = dimsOf(numbers.getStartIndicesBatchingDims());
    gather.startIndexMap = dimsOf(numbers.getStartIndexMap());
    gather.indexVectorDim = numbers.getIndexVectorDim();
  }
  gather.sliceSizes = readDims(op, "slice_sizes");
  return gather;
}

OpAttributes readScatter(mlir::Operation* op) {
  ScatterAttributes scatter;
  if (auto numbers = mlir::dyn_cast_or_null<shlo::ScatterDimensionNumbersAttr>(
          op->getAttr("scatter_dimension_numbers"))) {
    scatter.updateWindowDims = dimsOf(numbers.getUpdateWindowDims());
    scatter.insertedWindowDims = dimsOf(numbers.getInsertedWindowDims());
    scatter.inputBatchingDims = dimsOf(numbers.getInputBatchingDims());
    scatter.scatterIndicesBatchingDims = dimsOf(numbers.getScatterIndicesBatchingDims());
    scatter.scatterDimsToOperandDims = dimsOf(numbers.getScatterDimsToOperandDims());
    scatter.indexVectorDim = numbers.getIndexVectorDim();
  }
  return scatter;
}

OpAttributes readSlice(mlir::Operation* op) {
  SliceAttributes slice;
  slice.starts = readDims(op, "start_indices");
  slice.limits = readDims(op, "limit_indices");
  slice.strides = readDimsOr(op, "strides", slice.starts.size(), 1);
  return slice;
}

//===----------------------------------------------------------------------------------------===//
// Communication and calls
//===----------------------------------------------------------------------------------------===//

// The rows of a matrix of device numbers. Rows of groups shorter than the longest end in -1.
std::vector<Dims> readGroups(mlir::Attribute attribute) {
  std::vector<Dims> groups;
  auto matrix = mlir::dyn_cast_or_null<mlir::DenseIntElementsAttr>(attribute);
  if (!matrix || matrix.getType().getRank() != 2)
    return groups;
  Dims flat = numbersOf(matrix);
  auto width = static_cast<size_t>(matrix.getType().getDimSize(1));
  for (size_t start = 0; width > 0 && start + width <= flat.size(); start += width)
    groups.emplace_back(flat.begin() + static_cast<ptrdiff_t>(start),
                        flat.begin() + static_cast<ptrdiff_t>(start + width));
  return groups;
}

int64_t readChannel(mlir::Operation* op) {
  mlir::Attribute channel = op->getAttr("channel_handle");
  if (auto handle = mlir::dyn_cast_or_null<shlo::ChannelHandleAttr>(channel))
    return handle.getHandle();
  return readInt(op, "channel_id", 0);
}

OpAttributes readCollective(mlir::Operation* op, const OpKind& kind) {
  CollectiveAttributes collective;
  mlir::Attribute groups = op->getAttr("replica_groups");
  collective.replicaGroups = readGroups(groups ? groups : op->getAttr("source_target_pairs"));
  if (kind.attribute)
    collective.dimension = readInt(op, kind.attribute, -1);
  collective.channel = readChannel(op);
  collective.useGlobalDeviceIds = shlo::isFlagSet(op->getAttr("use_global_device_ids"));
  return collective;
}

// Whether an attribute has few enough parts to be written out. Parts are shared in memory, so a
// short file can hold one that has more of them than there are atoms.
bool isPrintable(mlir::Attribute attribute, size_t& parts) {
  if (++parts > kMaxBackendConfig)
    return false;
  if (auto list = mlir::dyn_cast<mlir::ArrayAttr>(attribute))
    return llvm::all_of(list, [&](mlir::Attribute part) { return isPrintable(part, parts); });
  if (auto table = mlir::dyn_cast<mlir::DictionaryAttr>(attribute))
    return llvm::all_of(
        table, [&](mlir::NamedAttribute part) { return isPrintable(part.getValue(), parts); });
  return true;
}

OpAttributes readCustomCall(mlir::Operation* op) {
  CustomCallAttributes call;
  if (auto target = mlir::dyn_cast_or_null<mlir::StringAttr>(op->getAttr("call_target_name")))
    call.target = target.getValue().str();
  call.hasSideEffect = shlo::isFlagSet(op->getAttr("has_side_effect"));
  mlir::Attribute config = op->getAttr("backend_config");
  if (!config)
    config = op->getAttr("mhlo.backend_config");
  if (auto text = mlir::dyn_cast_or_null<mlir::StringAttr>(config))
    call.backendConfig = text.getValue().take_front(kMaxBackendConfig).str();
  else if (size_t parts = 0; config && isPrintable(config, parts))
    call.backendConfig = textOf(config).substr(0, kMaxBackendConfig);
  return call;
}

OpAttributes readCompare(mlir::Operation* op) {
  CompareAttributes compare;
  if (mlir::Attribute direction = op->getAttr("comparison_direction"))
    compare.direction = enumText(direction);
  if (mlir::Attribute type = op->getAttr("compare_type"))
    compare.type = enumText(type);
  return compare;
}

} // namespace

// The dimensions of an operation with one list of them. Only sort's has a default: the last one.
static OpAttributes readDimensions(mlir::Operation* op, const OpKind& kind, const OpInfo& info) {
  DimensionsAttributes result{readDims(op, kind.attribute)};
  if (kind.name == "stablehlo.sort") {
    result.dims.resize(1, -1);
    if (result.dims[0] == -1)
      result.dims[0] = static_cast<int64_t>(rankOf(operand(info, 0))) - 1;
  }
  return result;
}

std::string enumText(mlir::Attribute attribute) {
  if (auto string = mlir::dyn_cast<mlir::StringAttr>(attribute))
    return string.getValue().str();
  std::string text = textOf(attribute);
  llvm::StringRef word = llvm::StringRef(text).rtrim(">\"");
  size_t start = word.find_last_of(" <\".");
  return word.substr(start == llvm::StringRef::npos ? 0 : start + 1).str();
}

OpAttributes readAttributes(mlir::Operation* op, const OpKind& kind, const OpInfo& info) {
  switch (kind.attributes) {
  case AttributeFamily::None:
    return std::monostate();
  case AttributeFamily::DotGeneral:
    return readDotGeneral(op);
  case AttributeFamily::Dot:
    return readDot(op, info);
  case AttributeFamily::RaggedDot:
    return readRaggedDot(op);
  case AttributeFamily::Einsum:
    return readEinsum(op);
  case AttributeFamily::Convolution:
    return readConvolution(op, info);
  case AttributeFamily::WindowReduction:
    return readWindowReduction(op, info);
  case AttributeFamily::Dimensions:
    return readDimensions(op, kind, info);
  case AttributeFamily::Slice:
    return readSlice(op);
  case AttributeFamily::DynamicSlice:
    return SliceAttributes{{}, {}, {}, readDims(op, "slice_sizes")};
  case AttributeFamily::Pad:
    return PadAttributes{readDims(op, "edge_padding_low"), readDims(op, "edge_padding_high"),
                         readDims(op, "interior_padding")};
  case AttributeFamily::Gather:
    return readGather(op);
  case AttributeFamily::Scatter:
    return readScatter(op);
  case AttributeFamily::Collective:
    return readCollective(op, kind);
  case AttributeFamily::CustomCall:
    return readCustomCall(op);
  case AttributeFamily::Compare:
    return readCompare(op);
  }
  return std::monostate();
}

} // namespace nocturne::compiler
