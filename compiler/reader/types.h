// MLIR types to the engine's, one conversion per type of a context.
#pragma once

#include <memory>

#include "mlir/IR/Types.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

#include "engine/tensor_type.h"

namespace nocturne::compiler {

// What a type stands for, with tuples, futures and tensors on a mesh opened.
struct FlatType {
  llvm::SmallVector<TensorType, 1> parts;
  bool usesBound = false;     // some extent is the bound of a dynamic one
  bool unknownExtent = false; // some extent is not known at all
};

// The most parts of one type; a file can name a type that would have more than there is memory for.
inline constexpr size_t kMaxTupleParts = 65535;

class TypeTable {
public:
  // Null when the type has more than kMaxTupleParts parts.
  const FlatType* of(mlir::Type type) { return of(type, 0); }

private:
  const FlatType* of(mlir::Type type, unsigned depth);
  bool flatten(mlir::Type type, FlatType& out, unsigned depth);
  bool append(mlir::Type part, FlatType& out, unsigned depth);

  llvm::DenseMap<mlir::Type, std::unique_ptr<FlatType>> types_;
};

ElementType readElementType(mlir::Type element);

} // namespace nocturne::compiler
