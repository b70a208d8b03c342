// Operations with a small computation as a region, batch normalization, and indexed access.

#ifndef NOCTURNE_DIALECT_REDUCTION_OPS
#define NOCTURNE_DIALECT_REDUCTION_OPS

include "Attrs.td"
include "Enums.td"

def Shlo_ReduceOp : Shlo_Op<"reduce", [RecursiveMemoryEffects, SameVariadicOperandSize]> {
  let arguments = (ins Variadic<Shlo_Tensor>:$inputs, Variadic<Shlo_Tensor>:$init_values,
                       Shlo_I64List:$dimensions);
  let results = (outs Variadic<Shlo_Tensor>);
  let regions = (region AnyRegion:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}
def Shlo_ReduceWindowOp
    : Shlo_Op<"reduce_window", [RecursiveMemoryEffects, SameVariadicOperandSize]> {
  let arguments = (ins Variadic<Shlo_Tensor>:$inputs, Variadic<Shlo_Tensor>:$init_values,
                       Shlo_I64List:$window_dimensions,
                       OptionalAttr<Shlo_I64List>:$window_strides,
                       OptionalAttr<Shlo_I64List>:$base_dilations,
                       OptionalAttr<Shlo_I64List>:$window_dilations,
                       OptionalAttr<Shlo_I64Matrix>:$padding);
  let results = (outs Variadic<Shlo_Tensor>);
  let regions = (region AnyRegion:$body);
  let hasVerifier = 1;
}
def Shlo_SelectAndScatterOp : Shlo_Op<"select_and_scatter", [RecursiveMemoryEffects]> {
  let arguments = (ins Shlo_Tensor:$operand, Shlo_Tensor:$source, Shlo_Tensor:$init_value,
                       OptionalAttr<Shlo_I64List>:$window_dimensions,
                       OptionalAttr<Shlo_I64List>:$window_strides,
                       OptionalAttr<Shlo_I64Matrix>:$padding);
  let results = (outs Shlo_Tensor:$result);
  let regions = (region AnyRegion:$select, AnyRegion:$scatter);
  let hasVerifier = 1;
}
def Shlo_SortOp : Shlo_Op<"sort", [RecursiveMemoryEffects]> {
  let arguments = (ins Variadic<Shlo_Tensor>:$inputs, OptionalAttr<Shlo_Int>:$dimension,
                       OptionalAttr<Shlo_Flag>:$is_stable);
  let results = (outs Variadic<Shlo_Tensor>);
  let regions = (region AnyRegion:$comparator);
  let hasVerifier = 1;
}
def Shlo_MapOp : Shlo_Op<"map", [RecursiveMemoryEffects]> {
  let arguments = (ins Variadic<Shlo_Tensor>:$inputs, Shlo_I64List:$dimensions);
  let results = (outs Shlo_Tensor:$result);
  let regions = (region AnyRegion:$computation);
  let hasVerifier = 1;
}

def Shlo_GatherOp : Shlo_Op<"gather", [Pure]> {
  let arguments = (ins Shlo_Tensor:$operand, Shlo_IndexTensor:$start_indices,
                       Shlo_GatherDimensionNumbers:$dimension_numbers,
                       Shlo_I64List:$slice_sizes, OptionalAttr<Shlo_Flag>:$indices_are_sorted);
  let results = (outs Shlo_Tensor:$result);
  let hasVerifier = 1;
}
def Shlo_DynamicGatherOp : Shlo_Op<"dynamic_gather", [Pure]> {
  let arguments = (ins Shlo_Tensor:$operand, Shlo_IndexTensor:$start_indices,
                       Shlo_IndexTensor:$slice_sizes,
                       Shlo_GatherDimensionNumbers:$dimension_numbers,
                       OptionalAttr<Shlo_Flag>:$indices_are_sorted);
  let results = (outs Shlo_Tensor:$result);
  let hasVerifier = 1;
}
// 2N + 1 operands: N inputs, the indices, N updates. The split follows from their number.
def Shlo_ScatterOp : Shlo_Op<"scatter", [RecursiveMemoryEffects]> {
  let arguments = (ins Variadic<Shlo_Tensor>:$arguments,
                       Shlo_ScatterDimensionNumbers:$scatter_dimension_numbers,
                       OptionalAttr<Shlo_Flag>:$indices_are_sorted,
                       OptionalAttr<Shlo_Flag>:$unique_indices);
  let results = (outs Variadic<Shlo_Tensor>);
  let regions = (region AnyRegion:$update_computation);
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    unsigned inputCount() { return getNumOperands() / 2; }
    ::mlir::OperandRange getInputs() { return getArguments().take_front(inputCount()); }
    ::mlir::Value getScatterIndices() { return getOperand(inputCount()); }
    ::mlir::OperandRange getUpdates() { return getArguments().take_back(inputCount()); }
  }];
}
def Shlo_TorchIndexSelectOp : Shlo_Op<"torch_index_select", [Pure]> {
  let arguments = (ins Shlo_Tensor:$operand, Shlo_IndexTensor:$index, Shlo_Int:$dim,
                       Shlo_Int:$batch_dims);
  let results = (outs Shlo_Tensor:$result);
  let assemblyFormat = [{
    $operand `,` $index `,` `dim` `=` custom<Int64>($dim)
    `,` `batch_dims` `=` custom<Int64>($batch_dims) attr-dict
    `:` functional-type(operands, results)
  }];
}

class Shlo_BatchNormOp<string mnemonic> : Shlo_Op<mnemonic, [Pure]> { let hasVerifier = 1; }

def Shlo_BatchNormTrainingOp : Shlo_BatchNormOp<"batch_norm_training"> {
  let arguments = (ins Shlo_Tensor:$operand, Shlo_Tensor:$scale, Shlo_Tensor:$offset,
                       Shlo_Float:$epsilon, Shlo_Int:$feature_index);
  let results = (outs Shlo_Tensor:$output, Shlo_Tensor:$batch_mean, Shlo_Tensor:$batch_var);
}
def Shlo_BatchNormInferenceOp : Shlo_BatchNormOp<"batch_norm_inference"> {
  let arguments = (ins Shlo_Tensor:$operand, Shlo_Tensor:$scale, Shlo_Tensor:$offset,
                       Shlo_Tensor:$mean, Shlo_Tensor:$variance, Shlo_Float:$epsilon,
                       Shlo_Int:$feature_index);
  let results = (outs Shlo_Tensor:$result);
}
def Shlo_BatchNormGradOp : Shlo_BatchNormOp<"batch_norm_grad"> {
  let arguments = (ins Shlo_Tensor:$operand, Shlo_Tensor:$scale, Shlo_Tensor:$mean,
                       Shlo_Tensor:$variance, Shlo_Tensor:$grad_output, Shlo_Float:$epsilon,
                       Shlo_Int:$feature_index);
  let results = (outs Shlo_Tensor:$grad_operand, Shlo_Tensor:$grad_scale,
                      Shlo_Tensor:$grad_offset);
}

#endif // NOCTURNE_DIALECT_REDUCTION_OPS
