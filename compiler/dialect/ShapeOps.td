// Operations that create, move, cut or view data without computing on it.

#ifndef NOCTURNE_DIALECT_SHAPE_OPS
#define NOCTURNE_DIALECT_SHAPE_OPS

include "Attrs.td"
include "Enums.td"

class Shlo_ShapeOp<string mnemonic, list<Trait> traits = [Pure]> : Shlo_Op<mnemonic, traits> {
  let results = (outs Shlo_Tensor:$result);
  let hasVerifier = 1;
}
// The same, printed as its operands, attributes and function type.
class Shlo_PlainShapeOp<string mnemonic> : Shlo_ShapeOp<mnemonic> {
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

def Shlo_ConstantOp : Shlo_Op<"constant", [Pure]> {
  let arguments = (ins Shlo_Elements:$value);
  let results = (outs Shlo_Tensor:$output);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def Shlo_IotaOp : Shlo_ShapeOp<"iota"> {
  let arguments = (ins Shlo_Int:$iota_dimension);
  let assemblyFormat = "`dim` `=` custom<Int64>($iota_dimension) attr-dict `:` type($result)";
}
def Shlo_DynamicIotaOp : Shlo_ShapeOp<"dynamic_iota"> {
  let arguments = (ins Shlo_IndexTensor:$output_shape, Shlo_Int:$iota_dimension);
  let assemblyFormat = [{
    $output_shape `,` `dim` `=` custom<Int64>($iota_dimension) attr-dict
    `:` functional-type(operands, results)
  }];
}

def Shlo_ReshapeOp : Shlo_PlainShapeOp<"reshape"> { let arguments = (ins Shlo_Tensor:$operand); }
def Shlo_DynamicReshapeOp : Shlo_PlainShapeOp<"dynamic_reshape"> {
  let arguments = (ins Shlo_Tensor:$operand, Shlo_IndexTensor:$output_shape);
}
def Shlo_BitcastConvertOp : Shlo_PlainShapeOp<"bitcast_convert"> {
  let arguments = (ins Shlo_Tensor:$operand);
}

def Shlo_BroadcastOp : Shlo_ShapeOp<"broadcast"> {
  let arguments = (ins Shlo_Tensor:$operand, Shlo_I64List:$broadcast_sizes);
  let assemblyFormat = [{
    $operand `,` `sizes` `=` custom<I64List>($broadcast_sizes) attr-dict
    `:` functional-type(operands, results)
  }];
}
def Shlo_BroadcastInDimOp : Shlo_ShapeOp<"broadcast_in_dim"> {
  let arguments = (ins Shlo_Tensor:$operand, Shlo_I64List:$broadcast_dimensions);
  let assemblyFormat = [{
    $operand `,` `dims` `=` custom<I64List>($broadcast_dimensions) attr-dict
    `:` functional-type(operands, results)
  }];
}
def Shlo_DynamicBroadcastInDimOp : Shlo_ShapeOp<"dynamic_broadcast_in_dim"> {
  let arguments = (ins Shlo_Tensor:$operand, Shlo_IndexTensor:$output_dimensions,
                       Shlo_I64List:$broadcast_dimensions,
                       OptionalAttr<Shlo_I64List>:$known_expanding_dimensions,
                       OptionalAttr<Shlo_I64List>:$known_nonexpanding_dimensions);
  let assemblyFormat = [{
    $operand `,` $output_dimensions `,` `dims` `=` custom<I64List>($broadcast_dimensions)
    attr-dict `:` functional-type(operands, results)
  }];
}

def Shlo_TransposeOp : Shlo_ShapeOp<"transpose"> {
  let arguments = (ins Shlo_Tensor:$operand, Shlo_I64List:$permutation);
  let assemblyFormat = [{
    $operand `,` `dims` `=` custom<I64List>($permutation) attr-dict
    `:` functional-type(operands, results)
  }];
}
def Shlo_ReverseOp : Shlo_ShapeOp<"reverse", [Pure, Shlo_CompatibleShapes,
                                              Shlo_SameElementTypes]> {
  let arguments = (ins Shlo_Tensor:$operand, Shlo_I64List:$dimensions);
  let assemblyFormat = [{
    $operand `,` `dims` `=` custom<I64List>($dimensions) attr-dict
    `:` custom<SameTypes>(type($operand), type($result))
  }];
}

def Shlo_ConcatenateOp : Shlo_ShapeOp<"concatenate"> {
  let arguments = (ins Variadic<Shlo_Tensor>:$inputs, Shlo_Int:$dimension);
  let assemblyFormat = [{
    custom<OperandsThenDim>($inputs, $dimension) attr-dict `:` functional-type(operands, results)
  }];
}
def Shlo_PadOp : Shlo_ShapeOp<"pad"> {
  let arguments = (ins Shlo_Tensor:$operand, Shlo_Tensor:$padding_value,
                       Shlo_I64List:$edge_padding_low, Shlo_I64List:$edge_padding_high,
                       Shlo_I64List:$interior_padding);
  let assemblyFormat = [{
    $operand `,` $padding_value `,` `low` `=` custom<I64List>($edge_padding_low)
    `,` `high` `=` custom<I64List>($edge_padding_high)
    `,` `interior` `=` custom<I64List>($interior_padding) attr-dict
    `:` functional-type(operands, results)
  }];
}
def Shlo_DynamicPadOp : Shlo_PlainShapeOp<"dynamic_pad"> {
  let arguments = (ins Shlo_Tensor:$operand, Shlo_Tensor:$padding_value,
                       Shlo_IndexTensor:$edge_padding_low, Shlo_IndexTensor:$edge_padding_high,
                       Shlo_IndexTensor:$interior_padding);
}

def Shlo_SliceOp : Shlo_ShapeOp<"slice"> {
  let arguments = (ins Shlo_Tensor:$operand, Shlo_I64List:$start_indices,
                       Shlo_I64List:$limit_indices, Shlo_I64List:$strides);
  let assemblyFormat = [{
    $operand custom<SliceRanges>($start_indices, $limit_indices, $strides) attr-dict
    `:` functional-type(operands, results)
  }];
}
def Shlo_DynamicSliceOp : Shlo_ShapeOp<"dynamic_slice"> {
  let arguments = (ins Shlo_Tensor:$operand, Variadic<Shlo_IndexTensor>:$start_indices,
                       Shlo_I64List:$slice_sizes);
  let assemblyFormat = [{
    $operand `,` custom<OperandsThenSizes>($start_indices, $slice_sizes) attr-dict
    `:` functional-type(operands, results)
  }];
}
def Shlo_RealDynamicSliceOp : Shlo_PlainShapeOp<"real_dynamic_slice"> {
  let arguments = (ins Shlo_Tensor:$operand, Shlo_IndexTensor:$start_indices,
                       Shlo_IndexTensor:$limit_indices, Shlo_IndexTensor:$strides);
}
def Shlo_DynamicUpdateSliceOp : Shlo_PlainShapeOp<"dynamic_update_slice"> {
  let arguments = (ins Shlo_Tensor:$operand, Shlo_Tensor:$update,
                       Variadic<Shlo_IndexTensor>:$start_indices);
}

def Shlo_GetDimensionSizeOp : Shlo_ShapeOp<"get_dimension_size"> {
  let arguments = (ins Shlo_Tensor:$operand, Shlo_Int:$dimension);
  let assemblyFormat = [{
    $operand `,` `dim` `=` custom<Int64>($dimension) attr-dict
    `:` functional-type(operands, results)
  }];
}
def Shlo_SetDimensionSizeOp : Shlo_ShapeOp<"set_dimension_size"> {
  let arguments = (ins Shlo_Tensor:$operand, Shlo_IndexTensor:$size, Shlo_Int:$dimension);
  let assemblyFormat = [{
    $operand `,` $size `,` `dim` `=` custom<Int64>($dimension) attr-dict
    `:` functional-type(operands, results)
  }];
}

#endif // NOCTURNE_DIALECT_SHAPE_OPS
