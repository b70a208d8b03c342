// Operations that work element by element.

#ifndef NOCTURNE_DIALECT_ELEMENTWISE_OPS
#define NOCTURNE_DIALECT_ELEMENTWISE_OPS

include "Attrs.td"
include "Enums.td"

class Shlo_UnaryOp<string mnemonic, Type type = Shlo_Tensor, list<Trait> traits = []>
    : Shlo_Op<mnemonic, [Pure, Shlo_CompatibleShapes, Shlo_SameElementTypes] # traits> {
  let arguments = (ins type:$operand);
  let results = (outs type:$result);
  let assemblyFormat = "$operand attr-dict `:` custom<SameTypes>(type($operand), type($result))";
}

// Functions whose implementations differ in the last bits carry a wanted accuracy.
class Shlo_UnaryMathOp<string mnemonic, Type type = Shlo_FloatOrComplexTensor>
    : Shlo_UnaryOp<mnemonic, type> {
  let arguments = (ins type:$operand, OptionalAttr<Shlo_AnyAttr>:$result_accuracy);
}

// The result has another element type than the operand.
class Shlo_ConversionOp<string mnemonic, Type from = Shlo_Tensor, Type to = Shlo_Tensor>
    : Shlo_Op<mnemonic, [Pure, Shlo_CompatibleShapes]> {
  let arguments = (ins from:$operand);
  let results = (outs to:$result);
  let assemblyFormat = "$operand attr-dict `:` custom<SameTypes>(type($operand), type($result))";
}

class Shlo_BinaryOp<string mnemonic, Type type = Shlo_Tensor>
    : Shlo_Op<mnemonic, [Pure, Shlo_CompatibleShapes, Shlo_SameElementTypes]> {
  let arguments = (ins type:$lhs, type:$rhs);
  let results = (outs type:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs attr-dict `:` custom<SameTypes>(type($lhs), type($rhs), type($result))
  }];
}

def Shlo_AbsOp : Shlo_ConversionOp<"abs"> { let hasVerifier = 1; }
def Shlo_CbrtOp : Shlo_UnaryMathOp<"cbrt">;
def Shlo_CeilOp : Shlo_UnaryOp<"ceil", Shlo_FloatTensor>;
def Shlo_CosineOp : Shlo_UnaryMathOp<"cosine">;
def Shlo_CountLeadingZerosOp : Shlo_UnaryOp<"count_leading_zeros", Shlo_IntTensor>;
def Shlo_ExponentialOp : Shlo_UnaryMathOp<"exponential">;
def Shlo_ExponentialMinusOneOp : Shlo_UnaryMathOp<"exponential_minus_one">;
def Shlo_FloorOp : Shlo_UnaryOp<"floor", Shlo_FloatTensor>;
def Shlo_LogOp : Shlo_UnaryMathOp<"log">;
def Shlo_LogPlusOneOp : Shlo_UnaryMathOp<"log_plus_one">;
def Shlo_LogisticOp : Shlo_UnaryMathOp<"logistic">;
def Shlo_NegateOp : Shlo_UnaryOp<"negate">;
def Shlo_NotOp : Shlo_UnaryOp<"not", Shlo_IntTensor>;
def Shlo_PopulationCountOp : Shlo_UnaryOp<"popcnt", Shlo_IntTensor>;
def Shlo_RoundNearestAfzOp : Shlo_UnaryOp<"round_nearest_afz", Shlo_FloatTensor>;
def Shlo_RoundNearestEvenOp : Shlo_UnaryOp<"round_nearest_even", Shlo_FloatTensor>;
def Shlo_RsqrtOp : Shlo_UnaryMathOp<"rsqrt">;
def Shlo_SignOp : Shlo_UnaryOp<"sign">;
def Shlo_SineOp : Shlo_UnaryMathOp<"sine">;
def Shlo_SqrtOp : Shlo_UnaryMathOp<"sqrt">;
def Shlo_TanOp : Shlo_UnaryMathOp<"tan">;
def Shlo_TanhOp : Shlo_UnaryMathOp<"tanh">;

def Shlo_ConvertOp : Shlo_ConversionOp<"convert">;
def Shlo_ImagOp : Shlo_ConversionOp<"imag"> { let hasVerifier = 1; }
def Shlo_RealOp : Shlo_ConversionOp<"real"> { let hasVerifier = 1; }
def Shlo_IsFiniteOp : Shlo_ConversionOp<"is_finite", Shlo_FloatTensor, Shlo_PredTensor>;
def Shlo_UniformQuantizeOp : Shlo_ConversionOp<"uniform_quantize"> { let hasVerifier = 1; }
def Shlo_UniformDequantizeOp : Shlo_ConversionOp<"uniform_dequantize"> { let hasVerifier = 1; }

def Shlo_ReducePrecisionOp
    : Shlo_Op<"reduce_precision", [Pure, Shlo_CompatibleShapes, Shlo_SameElementTypes]> {
  let arguments = (ins Shlo_FloatTensor:$operand, Shlo_Int:$exponent_bits,
                       Shlo_Int:$mantissa_bits);
  let results = (outs Shlo_FloatTensor:$output);
  let assemblyFormat = [{
    $operand `,` `format` `=` custom<ExponentMantissa>($exponent_bits, $mantissa_bits) attr-dict
    `:` custom<SameTypes>(type($operand), type($output))
  }];
  let hasVerifier = 1;
}

def Shlo_AddOp : Shlo_BinaryOp<"add">;
def Shlo_AndOp : Shlo_BinaryOp<"and", Shlo_IntTensor>;
def Shlo_Atan2Op : Shlo_BinaryOp<"atan2", Shlo_FloatOrComplexTensor>;
def Shlo_DivOp : Shlo_BinaryOp<"divide">;
def Shlo_MaxOp : Shlo_BinaryOp<"maximum">;
def Shlo_MinOp : Shlo_BinaryOp<"minimum">;
def Shlo_MulOp : Shlo_BinaryOp<"multiply">;
def Shlo_OrOp : Shlo_BinaryOp<"or", Shlo_IntTensor>;
def Shlo_PowOp : Shlo_BinaryOp<"power">;
def Shlo_RemOp : Shlo_BinaryOp<"remainder">;
def Shlo_ShiftLeftOp : Shlo_BinaryOp<"shift_left", Shlo_IntTensor>;
def Shlo_ShiftRightArithmeticOp : Shlo_BinaryOp<"shift_right_arithmetic", Shlo_IntTensor>;
def Shlo_ShiftRightLogicalOp : Shlo_BinaryOp<"shift_right_logical", Shlo_IntTensor>;
def Shlo_SubtractOp : Shlo_BinaryOp<"subtract">;
def Shlo_XorOp : Shlo_BinaryOp<"xor", Shlo_IntTensor>;

def Shlo_ComplexOp : Shlo_Op<"complex", [Pure, Shlo_CompatibleShapes]> {
  let arguments = (ins Shlo_FloatTensor:$lhs, Shlo_FloatTensor:$rhs);
  let results = (outs Shlo_ComplexTensor:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs attr-dict `:` custom<ComplexTypes>(type($lhs), type($rhs), type($result))
  }];
  let hasVerifier = 1;
}

def Shlo_CompareOp : Shlo_Op<"compare", [Pure, Shlo_CompatibleShapes]> {
  let arguments = (ins Shlo_Tensor:$lhs, Shlo_Tensor:$rhs,
                       Shlo_ComparisonDirectionAttr:$comparison_direction,
                       OptionalAttr<Shlo_ComparisonTypeAttr>:$compare_type);
  let results = (outs Shlo_PredTensor:$result);
  let assemblyFormat = [{
    $comparison_direction `,` $lhs `,` $rhs (`,` $compare_type^)? attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Shlo_SelectOp : Shlo_Op<"select", [Pure]> {
  let arguments = (ins Shlo_PredTensor:$pred, Shlo_Tensor:$on_true, Shlo_Tensor:$on_false);
  let results = (outs Shlo_Tensor:$result);
  let assemblyFormat = [{
    operands attr-dict
    `:` custom<SelectTypes>(type($pred), type($on_true), type($on_false), type($result))
  }];
  let hasVerifier = 1;
}

def Shlo_ClampOp : Shlo_Op<"clamp", [Pure, Shlo_SameElementTypes]> {
  let arguments = (ins Shlo_Tensor:$min, Shlo_Tensor:$operand, Shlo_Tensor:$max);
  let results = (outs Shlo_Tensor:$result);
  let assemblyFormat = [{
    $min `,` $operand `,` $max attr-dict
    `:` custom<SameTypes>(type($min), type($operand), type($max), type($result))
  }];
  let hasVerifier = 1;
}

#endif // NOCTURNE_DIALECT_ELEMENTWISE_OPS
