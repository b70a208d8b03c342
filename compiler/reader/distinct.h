// The distinct operations of a module: everything that a cost may depend on, once.
#pragma once

#include <string>
#include <vector>

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringMap.h"

#include "compiler/reader/attributes.h"
#include "compiler/reader/op_kinds.h"
#include "compiler/reader/types.h"
#include "engine/op_info.h"

namespace nocturne::compiler {

// Finds or makes the OpInfo of an operation. An operation like an earlier one is recognised by the
// pointers of its name, types and attributes; only a new one is converted, and then merged with
// what it equals in the engine's terms (two operations that differ in their sharding are one).
class DistinctOps {
public:
  explicit DistinctOps(OpKinds& kinds) : kinds_(kinds) {}

  // Index into ops(), or nothing if a type of the operation has too many parts.
  std::optional<uint32_t> indexOf(mlir::Operation* op, bool inCallee);

  std::vector<OpInfo>& ops() { return ops_; }
  TypeTable& types() { return types_; }
  // The first operation with a bounded or an unknown extent, for the assumptions; null if none.
  mlir::Operation* firstBounded() const { return firstBounded_; }
  mlir::Operation* firstUnknown() const { return firstUnknown_; }

private:
  struct Key {
    mlir::Operation* op = nullptr;
    size_t hash = 0;
    OpKinds* kinds = nullptr;
    uint32_t index = 0; // not part of the key
    bool inCallee = false;
  };
  struct KeyInfo {
    static Key getEmptyKey() { return {llvm::DenseMapInfo<mlir::Operation*>::getEmptyKey()}; }
    static Key getTombstoneKey() {
      return {llvm::DenseMapInfo<mlir::Operation*>::getTombstoneKey()};
    }
    static unsigned getHashValue(const Key& key) { return static_cast<unsigned>(key.hash); }
    static bool isEqual(const Key& a, const Key& b);
  };

  bool convert(mlir::Operation* op, bool inCallee, OpInfo& info);
  bool appendTypes(mlir::TypeRange types, mlir::Operation* op, std::vector<TensorType>& out);

  OpKinds& kinds_;
  TypeTable types_;
  llvm::DenseSet<Key, KeyInfo> seen_;
  llvm::StringMap<uint32_t> bySerialForm_;
  std::vector<OpInfo> ops_;
  mlir::Operation* firstBounded_ = nullptr;
  mlir::Operation* firstUnknown_ = nullptr;
};

} // namespace nocturne::compiler
