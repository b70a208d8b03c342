// Operations that multiply and add along dimensions, and dense linear algebra.

#ifndef NOCTURNE_DIALECT_CONTRACTION_OPS
#define NOCTURNE_DIALECT_CONTRACTION_OPS

include "Attrs.td"
include "Enums.td"

class Shlo_ContractionOp<string mnemonic> : Shlo_Op<mnemonic, [Pure]> {
  let results = (outs Shlo_Tensor:$result);
  let hasVerifier = 1;
}

def Shlo_DotOp : Shlo_ContractionOp<"dot"> {
  let arguments = (ins Shlo_Tensor:$lhs, Shlo_Tensor:$rhs,
                       OptionalAttr<Shlo_Array>:$precision_config);
  let assemblyFormat = [{
    $lhs `,` $rhs (`,` `precision` `=` custom<Precision>($precision_config)^)? attr-dict
    `:` functional-type(operands, results)
  }];
}
def Shlo_DotGeneralOp : Shlo_ContractionOp<"dot_general"> {
  let arguments = (ins Shlo_Tensor:$lhs, Shlo_Tensor:$rhs,
                       Shlo_DotDimensionNumbers:$dot_dimension_numbers,
                       OptionalAttr<Shlo_Array>:$precision_config,
                       OptionalAttr<Shlo_DotAlgorithm>:$algorithm);
  let hasCustomAssemblyFormat = 1;
}
def Shlo_EinsumOp : Shlo_ContractionOp<"einsum"> {
  // The specification gives einsum no precision_config; files may, as for other contractions.
  let arguments = (ins Shlo_Tensor:$lhs, Shlo_Tensor:$rhs, Shlo_Str:$einsum_config,
                       OptionalAttr<Shlo_Array>:$precision_config);
  let assemblyFormat = [{
    $lhs `,` $rhs `,` `config` `=` custom<Text>($einsum_config) attr-dict
    `:` functional-type(operands, results)
  }];
}
def Shlo_UnaryEinsumOp : Shlo_ContractionOp<"unary_einsum"> {
  let arguments = (ins Shlo_Tensor:$operand, Shlo_Str:$einsum_config);
  let assemblyFormat = [{
    $operand `,` `config` `=` custom<Text>($einsum_config) attr-dict
    `:` functional-type(operands, results)
  }];
}

def Shlo_ConvolutionOp : Shlo_ContractionOp<"convolution"> {
  let arguments = (ins Shlo_Tensor:$lhs, Shlo_Tensor:$rhs,
                       OptionalAttr<Shlo_I64List>:$window_strides,
                       OptionalAttr<Shlo_I64Matrix>:$padding,
                       OptionalAttr<Shlo_I64List>:$lhs_dilation,
                       OptionalAttr<Shlo_I64List>:$rhs_dilation,
                       OptionalAttr<Shlo_BoolList>:$window_reversal,
                       Shlo_ConvDimensionNumbers:$dimension_numbers,
                       Shlo_Int:$feature_group_count, Shlo_Int:$batch_group_count,
                       OptionalAttr<Shlo_Array>:$precision_config);
  let assemblyFormat = [{
    `(` $lhs `,` $rhs `)` `dim_numbers` `=` custom<ConvDims>($dimension_numbers)
    `,` `window` `=` custom<Window>($window_strides, $padding, $lhs_dilation, $rhs_dilation,
                                    $window_reversal)
    attr-dict `:` functional-type(operands, results)
  }];
}
def Shlo_DynamicConvOp : Shlo_ContractionOp<"dynamic_conv"> {
  let arguments = (ins Shlo_Tensor:$lhs, Shlo_Tensor:$rhs, Shlo_IndexTensor:$d_padding,
                       OptionalAttr<Shlo_I64List>:$window_strides,
                       OptionalAttr<Shlo_I64Matrix>:$padding,
                       OptionalAttr<Shlo_I64List>:$lhs_dilation,
                       OptionalAttr<Shlo_I64List>:$rhs_dilation,
                       OptionalAttr<Shlo_BoolList>:$window_reversal,
                       Shlo_ConvDimensionNumbers:$dimension_numbers,
                       Shlo_Int:$feature_group_count, Shlo_Int:$batch_group_count,
                       OptionalAttr<Shlo_Array>:$precision_config);
  let assemblyFormat = [{
    `(` operands `)` `dim_numbers` `=` custom<ConvDims>($dimension_numbers)
    `,` `window` `=` custom<Window>($window_strides, $padding, $lhs_dilation, $rhs_dilation,
                                    $window_reversal)
    attr-dict `:` functional-type(operands, results)
  }];
}

def Shlo_CholeskyOp : Shlo_Op<"cholesky", [Pure, Shlo_CompatibleShapes, Shlo_SameElementTypes]> {
  let arguments = (ins Shlo_FloatOrComplexTensor:$a, OptionalAttr<Shlo_Flag>:$lower);
  let results = (outs Shlo_FloatOrComplexTensor:$result);
  let assemblyFormat = [{
    $a (`,` `lower` `=` custom<TrueFalse>($lower)^)? attr-dict
    `:` custom<SameTypes>(type($a), type($result))
  }];
  let hasVerifier = 1;
}
def Shlo_TriangularSolveOp : Shlo_ContractionOp<"triangular_solve"> {
  let arguments = (ins Shlo_FloatOrComplexTensor:$a, Shlo_FloatOrComplexTensor:$b,
                       Shlo_Flag:$left_side, Shlo_Flag:$lower, Shlo_Flag:$unit_diagonal,
                       Shlo_TransposeAttr:$transpose_a);
}
def Shlo_FftOp : Shlo_ContractionOp<"fft"> {
  let arguments = (ins Shlo_Tensor:$operand, Shlo_FftTypeAttr:$fft_type,
                       Shlo_I64List:$fft_length);
  let assemblyFormat = [{
    $operand `,` `type` `=` $fft_type `,` `length` `=` custom<I64List>($fft_length) attr-dict
    `:` functional-type(operands, results)
  }];
}

#endif // NOCTURNE_DIALECT_CONTRACTION_OPS
