// Calls whose meaning the program does not spell out, and random numbers.

#ifndef NOCTURNE_DIALECT_CUSTOM_OPS
#define NOCTURNE_DIALECT_CUSTOM_OPS

include "Attrs.td"
include "Enums.td"

def Shlo_CustomCallOp : Shlo_Op<"custom_call"> {
  let arguments = (ins Variadic<Shlo_Any>:$inputs, Shlo_Str:$call_target_name,
                       OptionalAttr<Shlo_Flag>:$has_side_effect,
                       OptionalAttr<Shlo_AnyAttr>:$backend_config,
                       OptionalAttr<Shlo_AnyAttr>:$api_version,
                       OptionalAttr<Shlo_Array>:$called_computations,
                       OptionalAttr<Shlo_Array>:$operand_layouts,
                       OptionalAttr<Shlo_Array>:$result_layouts,
                       OptionalAttr<Shlo_Array>:$output_operand_aliases);
  let results = (outs Variadic<Shlo_Any>);
  let assemblyFormat = [{
    custom<Symbol>($call_target_name) `(` $inputs `)` attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Shlo_CompositeOp : Shlo_Op<"composite"> {
  let arguments = (ins Variadic<Shlo_Any>:$inputs, Shlo_Str:$name,
                       OptionalAttr<Shlo_Dict>:$composite_attributes,
                       Shlo_Symbol:$decomposition, OptionalAttr<Shlo_Int>:$version);
  let results = (outs Variadic<Shlo_Any>);
  let regions = (region VariadicRegion<AnyRegion>:$composite_regions);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def Shlo_RngOp : Shlo_Op<"rng"> {
  let arguments = (ins Shlo_Tensor:$a, Shlo_Tensor:$b, Shlo_IndexTensor:$shape,
                       Shlo_RngDistributionAttr:$rng_distribution);
  let results = (outs Shlo_Tensor:$result);
  let assemblyFormat = [{
    $a `,` $b `,` $shape `,` `distribution` `=` $rng_distribution attr-dict
    `:` functional-type(operands, results)
  }];
}
def Shlo_RngBitGeneratorOp : Shlo_Op<"rng_bit_generator", [Pure]> {
  let arguments = (ins Shlo_Tensor:$initial_state, Shlo_RngAlgorithmAttr:$rng_algorithm);
  let results = (outs Shlo_Tensor:$output_state, Shlo_Tensor:$output);
  let assemblyFormat = [{
    $initial_state `,` `algorithm` `=` $rng_algorithm attr-dict
    `:` functional-type(operands, results)
  }];
}

// Removed from the specification; old files have it.
def Shlo_TraceOp : Shlo_Op<"trace"> {
  let arguments = (ins Shlo_Tensor:$operand, Shlo_Str:$tag);
  let assemblyFormat = "$operand `,` custom<Text>($tag) attr-dict `:` type($operand)";
}

#endif // NOCTURNE_DIALECT_CUSTOM_OPS
