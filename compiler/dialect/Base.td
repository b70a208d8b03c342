// The dialect itself, and the operand, result and attribute constraints its operations share.

#ifndef NOCTURNE_DIALECT_BASE
#define NOCTURNE_DIALECT_BASE

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Stablehlo_Dialect : Dialect {
  let name = "stablehlo";
  let cppNamespace = "::nocturne::stablehlo";
  let description = [{
    Operations of the StableHLO specification, written to be read: every attribute is accepted in
    each of the kinds that released versions of the text used, and an operation, attribute or type
    that is not modelled here is kept by name instead of stopping the reader.
  }];
  let useDefaultAttributePrinterParser = 0;
  let useDefaultTypePrinterParser = 0;
  let usePropertiesForAttributes = 1;
  let extraClassDeclaration = [{
    ::mlir::Attribute parseAttribute(::mlir::DialectAsmParser &parser,
                                     ::mlir::Type type) const override;
    void printAttribute(::mlir::Attribute attr, ::mlir::DialectAsmPrinter &os) const override;
    ::mlir::Type parseType(::mlir::DialectAsmParser &parser) const override;
    void printType(::mlir::Type type, ::mlir::DialectAsmPrinter &os) const override;
    std::optional<ParseOpHook> getParseOperationHook(::llvm::StringRef name) const override;

    void registerAttributes();
    void registerTypes();
  }];
}

class Shlo_Op<string mnemonic, list<Trait> traits = []> : Op<Stablehlo_Dialect, mnemonic, traits>;

// Traits implemented in Verify.h.
class Shlo_Trait<string name> : NativeOpTrait<name> {
  let cppNamespace = "::nocturne::stablehlo";
}
// Every tensor among the operands and results has a shape compatible with the others'.
def Shlo_CompatibleShapes : Shlo_Trait<"CompatibleShapes">;
// Operands and results have one element type, differences of quantization aside.
def Shlo_SameElementTypes : Shlo_Trait<"SameElementTypes">;

//===------------------------------------------------------------------------------------------===//
// Types of operands and results
//===------------------------------------------------------------------------------------------===//

class Shlo_TensorOf<string predicate, string summary>
    : Type<And<[CPred<"::llvm::isa<::mlir::TensorType>($_self)">,
                CPred<"::nocturne::stablehlo::" # predicate #
                      "(::llvm::cast<::mlir::TensorType>($_self).getElementType())">]>,
           "tensor of " # summary, "::mlir::TensorType">;

def Shlo_Tensor : Type<CPred<"::llvm::isa<::mlir::TensorType>($_self)">, "tensor",
                       "::mlir::TensorType">;
def Shlo_IntTensor : Shlo_TensorOf<"isIntegral", "integer or boolean values">;
def Shlo_IndexTensor : Shlo_TensorOf<"isIntegralOrIndex", "integer or index values">;
def Shlo_PredTensor : Shlo_TensorOf<"isBoolean", "boolean values">;
def Shlo_FloatTensor : Shlo_TensorOf<"isFloatLike", "floating-point or quantized values">;
def Shlo_FloatOrComplexTensor
    : Shlo_TensorOf<"isFloatOrComplex", "floating-point, complex or quantized values">;
def Shlo_ComplexTensor : Shlo_TensorOf<"isComplex", "complex values">;
def Shlo_Any : Type<CPred<"true">, "any type">;

//===------------------------------------------------------------------------------------------===//
// Attributes whose kind changed between releases
//===------------------------------------------------------------------------------------------===//

class Shlo_LooseAttr<string predicate, string summary>
    : Attr<CPred<"::nocturne::stablehlo::" # predicate # "($_self)">, summary> {
  let storageType = "::mlir::Attribute";
  let returnType = "::mlir::Attribute";
  let convertFromStorage = "$_self";
  let constBuilderCall = "$0";
}

// `array<i64: 1, 0>`, or `dense<[1, 0]> : tensor<2xi64>` in older text: see readI64List().
def Shlo_I64List : Shlo_LooseAttr<"isI64List", "list of 64-bit integers (array<i64> or dense)">;
// `array<i1: true>`, or `dense<true> : tensor<1xi1>`: see readBoolList().
def Shlo_BoolList : Shlo_LooseAttr<"isBoolList", "list of booleans (array<i1> or dense)">;
// An N x 2 matrix: see readI64List(), which gives it row by row.
def Shlo_I64Matrix : Shlo_LooseAttr<"isI64Matrix", "matrix of 64-bit integers">;
// `unit`, or `true`: see isFlagSet().
def Shlo_Flag : Shlo_LooseAttr<"isFlag", "unit or bool">;
// `dense<[[0, 1]]> : tensor<1x2xi64>`, or axes of a mesh.
def Shlo_ReplicaGroups
    : Shlo_LooseAttr<"isReplicaGroups", "matrix of device numbers or axes of a mesh">;
def Shlo_AnyAttr : Attr<CPred<"true">, "any attribute"> {
  let storageType = "::mlir::Attribute";
  let returnType = "::mlir::Attribute";
  let convertFromStorage = "$_self";
  let constBuilderCall = "$0";
}

// Any width: writers disagree on i32 or i64, and a reader only wants the number.
def Shlo_Int : Attr<CPred<"::llvm::isa<::mlir::IntegerAttr>($_self)">, "integer"> {
  let storageType = "::mlir::IntegerAttr";
  let returnType = "int64_t";
  let convertFromStorage = "$_self.getValue().getSExtValue()";
}
def Shlo_Float : Attr<CPred<"::llvm::isa<::mlir::FloatAttr>($_self)">, "floating-point number"> {
  let storageType = "::mlir::FloatAttr";
  let returnType = "::llvm::APFloat";
  let convertFromStorage = "$_self.getValue()";
}
def Shlo_Elements : Attr<CPred<"::llvm::isa<::mlir::ElementsAttr>($_self)">, "tensor value"> {
  let storageType = "::mlir::ElementsAttr";
  let returnType = "::mlir::ElementsAttr";
  let convertFromStorage = "$_self";
  let constBuilderCall = "$0";
}
def Shlo_Array : Attr<CPred<"::llvm::isa<::mlir::ArrayAttr>($_self)">, "array"> {
  let storageType = "::mlir::ArrayAttr";
  let returnType = "::mlir::ArrayAttr";
  let convertFromStorage = "$_self";
  let constBuilderCall = "$0";
}
def Shlo_Dict : Attr<CPred<"::llvm::isa<::mlir::DictionaryAttr>($_self)">, "dictionary"> {
  let storageType = "::mlir::DictionaryAttr";
  let returnType = "::mlir::DictionaryAttr";
  let convertFromStorage = "$_self";
  let constBuilderCall = "$0";
}
def Shlo_Str : Attr<CPred<"::llvm::isa<::mlir::StringAttr>($_self)">, "string"> {
  let storageType = "::mlir::StringAttr";
  let returnType = "::llvm::StringRef";
  let convertFromStorage = "$_self.getValue()";
}
def Shlo_Symbol : Attr<CPred<"::llvm::isa<::mlir::SymbolRefAttr>($_self)">, "symbol"> {
  let storageType = "::mlir::SymbolRefAttr";
  let returnType = "::mlir::SymbolRefAttr";
  let convertFromStorage = "$_self";
  let constBuilderCall = "$0";
}

#endif // NOCTURNE_DIALECT_BASE
