// Structured attributes of the dialect. Their text forms are in Attrs.cpp.

#ifndef NOCTURNE_DIALECT_ATTRS
#define NOCTURNE_DIALECT_ATTRS

include "Base.td"
include "mlir/IR/TensorEncoding.td"

class Shlo_Attr<string name, string attrMnemonic, list<Trait> traits = []>
    : AttrDef<Stablehlo_Dialect, name, traits> {
  let mnemonic = attrMnemonic;
  let hasCustomAssemblyFormat = 1;
}
def Shlo_Dims : ArrayRefParameter<"int64_t">;

def Shlo_DotDimensionNumbers : Shlo_Attr<"DotDimensionNumbers", "dot"> {
  let summary = "which dimensions a dot_general pairs";
  let parameters = (ins Shlo_Dims:$lhsBatchingDimensions, Shlo_Dims:$rhsBatchingDimensions,
                        Shlo_Dims:$lhsContractingDimensions, Shlo_Dims:$rhsContractingDimensions);
}

def Shlo_DotAlgorithm : Shlo_Attr<"DotAlgorithm", "dot_algorithm"> {
  let summary = "in which types and how a dot_general computes";
  let parameters = (ins "::mlir::Type":$lhsPrecisionType, "::mlir::Type":$rhsPrecisionType,
                        "::mlir::Type":$accumulationType, "int64_t":$lhsComponentCount,
                        "int64_t":$rhsComponentCount, "int64_t":$numPrimitiveOperations,
                        "bool":$allowImpreciseAccumulation);
}

def Shlo_GatherDimensionNumbers : Shlo_Attr<"GatherDimensionNumbers", "gather"> {
  let summary = "how a gather maps indices to slices";
  let parameters = (ins Shlo_Dims:$offsetDims, Shlo_Dims:$collapsedSliceDims,
                        Shlo_Dims:$operandBatchingDims, Shlo_Dims:$startIndicesBatchingDims,
                        Shlo_Dims:$startIndexMap, "int64_t":$indexVectorDim);
}

def Shlo_ScatterDimensionNumbers : Shlo_Attr<"ScatterDimensionNumbers", "scatter"> {
  let summary = "how a scatter maps indices to windows";
  let parameters = (ins Shlo_Dims:$updateWindowDims, Shlo_Dims:$insertedWindowDims,
                        Shlo_Dims:$inputBatchingDims, Shlo_Dims:$scatterIndicesBatchingDims,
                        Shlo_Dims:$scatterDimsToOperandDims, "int64_t":$indexVectorDim);
}

def Shlo_ConvDimensionNumbers : Shlo_Attr<"ConvDimensionNumbers", "conv"> {
  let summary = "what each dimension of a convolution's operands and result means";
  let parameters = (ins "int64_t":$inputBatchDimension, "int64_t":$inputFeatureDimension,
                        Shlo_Dims:$inputSpatialDimensions,
                        "int64_t":$kernelInputFeatureDimension,
                        "int64_t":$kernelOutputFeatureDimension,
                        Shlo_Dims:$kernelSpatialDimensions, "int64_t":$outputBatchDimension,
                        "int64_t":$outputFeatureDimension, Shlo_Dims:$outputSpatialDimensions);
}

def Shlo_ChannelHandle : Shlo_Attr<"ChannelHandle", "channel_handle"> {
  let summary = "names a channel between devices, or to the host";
  let parameters = (ins "int64_t":$handle, "int64_t":$type);
}

def Shlo_OutputOperandAlias : Shlo_Attr<"OutputOperandAlias", "output_operand_alias"> {
  let summary = "a result of a custom call that shares its operand's memory";
  let parameters = (ins Shlo_Dims:$outputTupleIndices, "int64_t":$operandIndex,
                        Shlo_Dims:$operandTupleIndices);
}

def Shlo_TypeExtensions : Shlo_Attr<"TypeExtensions", "bounds", [
    DeclareAttrInterfaceMethods<VerifiableTensorEncoding>]> {
  let summary = "upper bounds of the dynamic dimensions of a tensor";
  let description = "A dimension without a bound is `ShapedType::kDynamic`.";
  let parameters = (ins Shlo_Dims:$bounds);
}

def Shlo_ResultAccuracy : Shlo_Attr<"ResultAccuracy", "result_accuracy"> {
  let summary = "how exact an elementwise result must be";
  let parameters = (ins APFloatParameter<"">:$atol, APFloatParameter<"">:$rtol, "int64_t":$ulps,
                        "::nocturne::stablehlo::ResultAccuracyMode":$mode);
}

def Shlo_ReplicaGroupMeshAxes : Shlo_Attr<"ReplicaGroupMeshAxes", "replica_group_mesh_axes"> {
  let summary = "the groups of a collective as axes of a mesh";
  let parameters = (ins "::mlir::Attribute":$mesh, "::mlir::ArrayAttr":$axes);
}

#endif // NOCTURNE_DIALECT_ATTRS
