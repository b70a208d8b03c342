#include "compiler/reader/fingerprint.h"

#include <bit>
#include <cstring>
#include <type_traits>

namespace nocturne::compiler {

namespace {

// Raise it when the form below changes.
constexpr uint64_t kFormVersion = 1;

// Every variable part is preceded by its length, so that no two values have one form.
struct Writer {
  std::string& out;

  void operator()(uint64_t value) {
    // Seven bits a byte: nearly all numbers here are small.
    for (; value >= 0x80; value >>= 7)
      out += static_cast<char>(value | 0x80);
    out += static_cast<char>(value);
  }
  void operator()(int64_t value) {
    uint64_t bits = static_cast<uint64_t>(value);
    (*this)(bits << 1 ^ (value < 0 ? ~uint64_t{0} : 0));
  }
  void operator()(bool value) { out += static_cast<char>(value); }
  void operator()(ElementKind kind) { out += static_cast<char>(kind); }
  void operator()(double value) { (*this)(std::bit_cast<uint64_t>(value)); }
  void operator()(const std::string& text) {
    (*this)(uint64_t{text.size()});
    out += text;
  }
  template <typename T, typename U>
  void operator()(const std::pair<T, U>& pair) {
    (*this)(pair.first);
    (*this)(pair.second);
  }
  template <typename T>
  void operator()(const std::vector<T>& list) {
    (*this)(uint64_t{list.size()});
    for (const auto& item : list)
      (*this)(static_cast<const std::conditional_t<std::is_same_v<T, bool>, bool, T>&>(item));
  }
  template <typename... Fields>
  void all(const Fields&... fields) {
    ((*this)(fields), ...);
  }

  void operator()(const TensorType& type) {
    all(type.element.kind, type.element.expressed, type.ranked, type.dims);
  }
  void operator()(const WindowAttributes& a) {
    all(a.sizes, a.strides, a.baseDilations, a.windowDilations, a.padding, a.reversal);
  }
  void operator()(std::monostate) {}
  void operator()(const DotAttributes& a) {
    all(a.lhsBatching, a.rhsBatching, a.lhsContracting, a.rhsContracting, a.precision,
        a.accumulation);
  }
  void operator()(const ConvolutionAttributes& a) {
    all(a.lhsBatch, a.lhsFeature, a.rhsInputFeature, a.rhsOutputFeature, a.outBatch, a.outFeature,
        a.lhsSpatial, a.rhsSpatial, a.outSpatial, a.window, a.featureGroups, a.batchGroups);
  }
  void operator()(const WindowReductionAttributes& a) { (*this)(a.window); }
  void operator()(const DimensionsAttributes& a) { (*this)(a.dims); }
  void operator()(const SliceAttributes& a) { all(a.starts, a.limits, a.strides, a.sizes); }
  void operator()(const PadAttributes& a) { all(a.low, a.high, a.interior); }
  void operator()(const GatherAttributes& a) {
    all(a.offsetDims, a.collapsedSliceDims, a.operandBatchingDims, a.startIndicesBatchingDims,
        a.startIndexMap, a.sliceSizes, a.indexVectorDim);
  }
  void operator()(const ScatterAttributes& a) {
    all(a.updateWindowDims, a.insertedWindowDims, a.inputBatchingDims, a.scatterIndicesBatchingDims,
        a.scatterDimsToOperandDims, a.indexVectorDim);
  }
  void operator()(const CollectiveAttributes& a) {
    all(a.replicaGroups, a.dimension, a.channel, a.useGlobalDeviceIds);
  }
  void operator()(const CustomCallAttributes& a) {
    all(a.target, a.hasSideEffect, a.backendConfig);
  }
  void operator()(const CompareAttributes& a) { all(a.direction, a.type); }

  void operator()(const OpInfo& op) {
    all(op.name, op.operands, op.results, uint64_t{op.attributes.index()});
    std::visit(*this, op.attributes);
    all(op.inCallee, op.nested);
  }
};

constexpr size_t kChunk = size_t{1} << 16;

void flush(Hasher& hasher, std::string& buffer) {
  hasher.raw(buffer);
  buffer.clear();
}

} // namespace

void appendSerialForm(const OpInfo& op, std::string& out) {
  Writer{out}(op);
}

Digest fingerprintOf(const Module& module) {
  Hasher hasher;
  std::string buffer;
  buffer.reserve(2 * kChunk);
  Writer write{buffer};
  write.all(kFormVersion, module.arguments, module.results, uint64_t{module.ops.size()});
  for (const OpInfo& op : module.ops) {
    write(op);
    if (buffer.size() >= kChunk)
      flush(hasher, buffer);
  }
  for (const OpRow& row : module.rows) {
    write.all(uint64_t{row.op}, row.multiplicity, uint64_t{row.callDepth}, uint64_t{row.loopDepth},
              uint64_t{row.operandCount}, uint64_t{row.resultCount});
    for (size_t i = 0; i < size_t{row.operandCount} + row.resultCount; ++i)
      write(uint64_t{module.valueIds[row.firstOperand + i]});
    if (buffer.size() >= kChunk)
      flush(hasher, buffer);
  }
  flush(hasher, buffer);
  return hasher.finish();
}

} // namespace nocturne::compiler
