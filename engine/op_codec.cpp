#include "engine/op_codec.h"

#include <concepts>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

namespace nocturne {

namespace {

// Regions within regions. Files nested deeper are refused by the reader, so deeper bytes are a lie.
constexpr int kMaxNesting = 256;

template <typename T, typename U>
concept Is = std::same_as<std::remove_const_t<T>, U>;

// The members of each kind of attributes, once for both directions.
auto members(Is<std::monostate> auto&) {
  return std::tuple<>();
}
auto members(Is<DotAttributes> auto& a) {
  return std::tie(a.lhsBatching, a.rhsBatching, a.lhsContracting, a.rhsContracting, a.precision,
                  a.accumulation);
}
auto members(Is<WindowAttributes> auto& a) {
  return std::tie(a.sizes, a.strides, a.baseDilations, a.windowDilations, a.padding, a.reversal);
}
auto members(Is<ConvolutionAttributes> auto& a) {
  return std::tie(a.lhsBatch, a.lhsFeature, a.rhsInputFeature, a.rhsOutputFeature, a.outBatch,
                  a.outFeature, a.lhsSpatial, a.rhsSpatial, a.outSpatial, a.window, a.featureGroups,
                  a.batchGroups, a.precision);
}
auto members(Is<WindowReductionAttributes> auto& a) {
  return std::tie(a.window);
}
auto members(Is<DimensionsAttributes> auto& a) {
  return std::tie(a.dims);
}
auto members(Is<SliceAttributes> auto& a) {
  return std::tie(a.starts, a.limits, a.strides, a.sizes);
}
auto members(Is<PadAttributes> auto& a) {
  return std::tie(a.low, a.high, a.interior);
}
auto members(Is<GatherAttributes> auto& a) {
  return std::tie(a.offsetDims, a.collapsedSliceDims, a.operandBatchingDims,
                  a.startIndicesBatchingDims, a.startIndexMap, a.sliceSizes, a.indexVectorDim);
}
auto members(Is<ScatterAttributes> auto& a) {
  return std::tie(a.updateWindowDims, a.insertedWindowDims, a.inputBatchingDims,
                  a.scatterIndicesBatchingDims, a.scatterDimsToOperandDims, a.indexVectorDim);
}
auto members(Is<CollectiveAttributes> auto& a) {
  return std::tie(a.replicaGroups, a.dimension, a.channel, a.useGlobalDeviceIds);
}
auto members(Is<CustomCallAttributes> auto& a) {
  return std::tie(a.target, a.hasSideEffect, a.backendConfig);
}
auto members(Is<CompareAttributes> auto& a) {
  return std::tie(a.direction, a.type);
}

class OpWriter {
public:
  explicit OpWriter(ByteWriter& out) : out_(out) {}

  void put(int64_t value) { out_.signedNumber(value); }
  void put(bool value) { out_.byte(value ? 1 : 0); }
  void put(ElementKind kind) { out_.byte(static_cast<uint8_t>(kind)); }
  void put(const std::string& text) { out_.text(text); }
  void put(const std::pair<int64_t, int64_t>& pair) {
    put(pair.first);
    put(pair.second);
  }
  void put(const TensorType& type) { writeType(out_, type); }
  template <typename T>
  void put(const std::vector<T>& list) {
    out_.number(list.size());
    for (const auto& item : list)
      put(item);
  }
  template <typename T>
    requires requires(const T& attributes) { members(attributes); }
  void put(const T& attributes) {
    std::apply([this](const auto&... member) { (put(member), ...); }, members(attributes));
  }
  void put(const OpInfo& op) {
    put(op.name);
    put(op.operands);
    put(op.results);
    out_.byte(static_cast<uint8_t>(op.attributes.index()));
    std::visit([this](const auto& attributes) { put(attributes); }, op.attributes);
    put(op.nested);
    put(op.inCallee);
  }

private:
  ByteWriter& out_;
};

ElementKind readKind(ByteReader& in) {
  uint8_t value = in.byte();
  if (value > static_cast<uint8_t>(ElementKind::Index))
    ByteReader::fail("no such element kind");
  return static_cast<ElementKind>(value);
}

class OpReader {
public:
  explicit OpReader(ByteReader& in) : in_(in) {}

  void get(int64_t& value) { value = in_.signedNumber(); }
  void get(bool& value) { value = in_.flag(); }
  void get(ElementKind& kind) { kind = readKind(in_); }
  void get(std::string& text) { text = in_.text(); }
  void get(std::pair<int64_t, int64_t>& pair) {
    get(pair.first);
    get(pair.second);
  }
  void get(TensorType& type) { type = readType(in_); }
  template <typename T>
  void get(std::vector<T>& list) {
    size_t count = in_.count();
    // Large items grow the list only as they are found to be there.
    if constexpr (sizeof(T) <= sizeof(TensorType))
      list.reserve(count);
    for (size_t i = 0; i < count; ++i) {
      T item{};
      get(item);
      list.push_back(std::move(item));
    }
  }
  template <typename T>
    requires requires(T& attributes) { members(attributes); }
  void get(T& attributes) {
    std::apply([this](auto&... member) { (get(member), ...); }, members(attributes));
  }
  void get(OpInfo& op) {
    if (++depth_ > kMaxNesting)
      ByteReader::fail("operations are nested too deeply");
    get(op.name);
    get(op.operands);
    get(op.results);
    getAttributes<0>(op.attributes, in_.byte());
    get(op.nested);
    get(op.inCallee);
    --depth_;
  }

private:
  template <size_t I>
  void getAttributes(OpAttributes& attributes, size_t index) {
    if constexpr (I == std::variant_size_v<OpAttributes>)
      ByteReader::fail("no such kind of attributes");
    else if (index == I)
      get(attributes.emplace<I>());
    else
      getAttributes<I + 1>(attributes, index);
  }

  ByteReader& in_;
  int depth_ = 0;
};

} // namespace

void writeType(ByteWriter& out, const TensorType& type) {
  out.byte(static_cast<uint8_t>(type.element.kind));
  out.byte(static_cast<uint8_t>(type.element.expressed));
  out.byte(type.ranked ? 1 : 0);
  out.number(type.dims.size());
  for (int64_t dim : type.dims)
    out.number(dim == kDynamic ? 0 : static_cast<uint64_t>(dim) + 1);
}

TensorType readType(ByteReader& in) {
  TensorType type;
  type.element.kind = readKind(in);
  type.element.expressed = readKind(in);
  type.ranked = in.flag();
  type.dims.resize(in.count());
  for (int64_t& dim : type.dims) {
    uint64_t value = in.number();
    if (value > uint64_t{1} << 63)
      ByteReader::fail("a negative extent");
    dim = value == 0 ? kDynamic : static_cast<int64_t>(value - 1);
  }
  return type;
}

void writeOp(ByteWriter& out, const OpInfo& op) {
  OpWriter(out).put(op);
}

OpInfo readOp(ByteReader& in) {
  OpInfo op;
  OpReader(in).get(op);
  return op;
}

void appendSerialised(std::string& out, const OpInfo& op) {
  ByteWriter writer(out);
  writeOp(writer, op);
}

std::string serialise(const OpInfo& op) {
  std::string out;
  appendSerialised(out, op);
  return out;
}

} // namespace nocturne
