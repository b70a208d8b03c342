#include "compiler/reader/distinct.h"

#include "mlir/IR/Dialect.h"
#include "llvm/ADT/STLExtras.h"

namespace nocturne::compiler {

namespace {

bool readsAttributes(const OpKind& kind) {
  return kind.attributes != AttributeFamily::None;
}

// Operations without properties keep what they have in the dictionary of discardable attributes.
bool readsDictionary(mlir::Operation* op) {
  return !op->getPropertiesStorageSize();
}

// The bodies of while, if and case are rows beside them, not part of them.
bool hasNested(const OpKind& kind) {
  return kind.treatment != Treatment::While && kind.treatment != Treatment::Branch;
}

void mix(size_t& hash, size_t value) {
  hash = (hash ^ value) * size_t{0x9e3779b97f4a7c15};
  hash ^= hash >> 32;
}
void mix(size_t& hash, const void* pointer) {
  mix(hash, reinterpret_cast<size_t>(pointer));
}

size_t hashOf(mlir::Operation* op, OpKinds& kinds) {
  const OpKind& kind = kinds.of(op);
  size_t hash = 0;
  mix(hash, &kind);
  for (mlir::Value operand : op->getOperands())
    mix(hash, operand.getType().getAsOpaquePointer());
  for (mlir::Type type : op->getResultTypes())
    mix(hash, type.getAsOpaquePointer());
  if (readsAttributes(kind)) {
    if (readsDictionary(op))
      mix(hash, op->getDiscardableAttrDictionary().getAsOpaquePointer());
    else
      mix(hash, static_cast<size_t>(op->hashProperties()));
  }
  if (hasNested(kind))
    for (mlir::Region& region : op->getRegions())
      for (mlir::Operation& inner : region.getOps())
        mix(hash, hashOf(&inner, kinds));
  return hash;
}

bool same(mlir::Operation* a, mlir::Operation* b, OpKinds& kinds);

bool sameRegions(mlir::Operation* a, mlir::Operation* b, OpKinds& kinds) {
  if (a->getNumRegions() != b->getNumRegions())
    return false;
  for (auto [left, right] : llvm::zip_equal(a->getRegions(), b->getRegions())) {
    auto leftOps = left.getOps(), rightOps = right.getOps();
    auto l = leftOps.begin();
    auto r = rightOps.begin();
    for (; l != leftOps.end() && r != rightOps.end(); ++l, ++r)
      if (!same(&*l, &*r, kinds))
        return false;
    if (l != leftOps.end() || r != rightOps.end())
      return false;
  }
  return true;
}

bool same(mlir::Operation* a, mlir::Operation* b, OpKinds& kinds) {
  if (a->getName() != b->getName() || !llvm::equal(a->getOperandTypes(), b->getOperandTypes()) ||
      !llvm::equal(a->getResultTypes(), b->getResultTypes()))
    return false;
  const OpKind& kind = kinds.of(a);
  if (readsAttributes(kind)) {
    if (readsDictionary(a) ? a->getDiscardableAttrDictionary() != b->getDiscardableAttrDictionary()
                           : !a->getName().compareOpProperties(a->getPropertiesStorage(),
                                                               b->getPropertiesStorage()))
      return false;
  }
  return !hasNested(kind) || sameRegions(a, b, kinds);
}

} // namespace

bool DistinctOps::KeyInfo::isEqual(const Key& a, const Key& b) {
  if (a.op == b.op)
    return a.inCallee == b.inCallee;
  // The empty and the deleted key have no table of kinds.
  if (!a.kinds || !b.kinds || a.hash != b.hash || a.inCallee != b.inCallee)
    return false;
  return same(a.op, b.op, *a.kinds);
}

std::optional<uint32_t> DistinctOps::indexOf(mlir::Operation* op, bool inCallee) {
  Key key{op, hashOf(op, kinds_), &kinds_, 0, inCallee && op->getNumRegions() != 0};
  auto known = seen_.find(key);
  if (known != seen_.end())
    return known->index;
  OpInfo info;
  if (!convert(op, key.inCallee, info))
    return std::nullopt;
  auto [entry, isNew] =
      bySerialForm_.try_emplace(serialise(info), static_cast<uint32_t>(ops_.size()));
  if (isNew)
    ops_.push_back(std::move(info));
  key.index = entry->second;
  seen_.insert(key);
  return key.index;
}

bool DistinctOps::appendTypes(mlir::TypeRange types, mlir::Operation* op,
                              std::vector<TensorType>& out) {
  for (mlir::Type type : types) {
    const FlatType* flat = types_.of(type);
    if (!flat || out.size() + flat->parts.size() > kMaxTupleParts)
      return false;
    out.insert(out.end(), flat->parts.begin(), flat->parts.end());
    if (flat->usesBound && !firstBounded_)
      firstBounded_ = op;
    if (flat->unknownExtent && !firstUnknown_)
      firstUnknown_ = op;
  }
  return true;
}

bool DistinctOps::convert(mlir::Operation* op, bool inCallee, OpInfo& info) {
  const OpKind& kind = kinds_.of(op);
  info.name = kind.name;
  if (!appendTypes(op->getOperandTypes(), op, info.operands) ||
      !appendTypes(op->getResultTypes(), op, info.results))
    return false;
  info.attributes = readAttributes(op, kind, info);
  if (!hasNested(kind))
    return true;
  for (mlir::Region& region : op->getRegions())
    for (mlir::Operation& inner : region.getOps())
      if (!convert(&inner, inCallee, info.nested.emplace_back()))
        return false;
  info.inCallee = inCallee && !info.nested.empty();
  return true;
}

} // namespace nocturne::compiler
