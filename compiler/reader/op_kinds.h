// What the reader does with each operation name: looked up by text once per name of a context, by
// pointer afterwards.
#pragma once

#include <memory>
#include <string>

#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"

namespace nocturne::compiler {

// How an operation becomes rows.
enum class Treatment : uint8_t {
  Row,         // one row; its regions are nested operations
  Constant,    // one row, whose value never matters
  Call,        // the rows of the callee
  Composite,   // the rows of its decomposition where there is one, else one row
  While,       // one row, then condition and body
  Branch,      // one row, then one branch or all: if, case
  Inline,      // the rows of its one region, run once
  RegionEnd,   // the terminator of an inlined region, of which only the operands matter
  FunctionEnd, // one row in the entry function, none in others
};

// Which attributes of an operation its OpInfo carries.
enum class AttributeFamily : uint8_t {
  None,
  DotGeneral,
  Dot,
  RaggedDot,
  Einsum,
  Convolution,
  WindowReduction,
  Dimensions, // one list attribute or one integer, named by OpKind::attribute
  Slice,
  DynamicSlice,
  Pad,
  Gather,
  Scatter,
  Collective,
  CustomCall,
  Compare,
};

struct OpKind {
  std::string name; // as in OpInfo
  Treatment treatment = Treatment::Row;
  AttributeFamily attributes = AttributeFamily::None;
  const char* attribute = nullptr; // of the families Dimensions and Collective
};

class OpKinds {
public:
  const OpKind& of(mlir::OperationName name) {
    std::unique_ptr<OpKind>& kind = kinds_[name.getAsOpaquePointer()];
    if (!kind)
      kind = std::make_unique<OpKind>(classify(name.getStringRef()));
    return *kind;
  }
  const OpKind& of(mlir::Operation* op) { return of(op->getName()); }

  static OpKind classify(llvm::StringRef name);

private:
  llvm::DenseMap<const void*, std::unique_ptr<OpKind>> kinds_;
};

} // namespace nocturne::compiler
