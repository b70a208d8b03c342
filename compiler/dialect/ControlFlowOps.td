// Control flow, tuples, tokens and asynchronous execution.

#ifndef NOCTURNE_DIALECT_CONTROL_FLOW_OPS
#define NOCTURNE_DIALECT_CONTROL_FLOW_OPS

include "Attrs.td"
include "Enums.td"
include "Types.td"

def Shlo_ReturnOp : Shlo_Op<"return", [Pure, Terminator]> {
  let arguments = (ins Variadic<Shlo_Any>:$values);
  let assemblyFormat = "($values^)? attr-dict (`:` type($values)^)?";
}

def Shlo_WhileOp : Shlo_Op<"while", [RecursiveMemoryEffects]> {
  let arguments = (ins Variadic<Shlo_Any>:$operand);
  let results = (outs Variadic<Shlo_Any>);
  let regions = (region AnyRegion:$cond, AnyRegion:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}
def Shlo_IfOp : Shlo_Op<"if", [RecursiveMemoryEffects]> {
  let arguments = (ins Shlo_PredTensor:$pred);
  let results = (outs Variadic<Shlo_Any>);
  let regions = (region AnyRegion:$true_branch, AnyRegion:$false_branch);
  let hasVerifier = 1;
}
def Shlo_CaseOp : Shlo_Op<"case", [RecursiveMemoryEffects]> {
  let arguments = (ins Shlo_IntTensor:$index);
  let results = (outs Variadic<Shlo_Any>);
  let regions = (region VariadicRegion<AnyRegion>:$branches);
  let hasVerifier = 1;
}

def Shlo_OptimizationBarrierOp : Shlo_Op<"optimization_barrier"> {
  let arguments = (ins Variadic<Shlo_Any>:$operand);
  let results = (outs Variadic<Shlo_Any>:$result);
  let assemblyFormat = [{
    attr-dict custom<BarrierOperands>($operand, type($operand), type($result))
  }];
  let hasVerifier = 1;
}

def Shlo_TupleOp : Shlo_Op<"tuple", [Pure]> {
  let arguments = (ins Variadic<Shlo_Any>:$val);
  let results = (outs Shlo_Any:$result);
  let assemblyFormat = [{
    $val attr-dict `:` custom<TupleTypes>(type($val), type($result))
  }];
  let hasVerifier = 1;
}
def Shlo_GetTupleElementOp : Shlo_Op<"get_tuple_element", [Pure]> {
  let arguments = (ins Shlo_Any:$operand, Shlo_Int:$index);
  let results = (outs Shlo_Any:$result);
  let assemblyFormat = [{
    $operand `[` custom<Int32>($index) `]` attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Shlo_AfterAllOp : Shlo_Op<"after_all", [Pure]> {
  let arguments = (ins Variadic<Shlo_Any>:$inputs);
  let results = (outs Shlo_Any:$result);
  let assemblyFormat = [{
    $inputs attr-dict
    `:` custom<SameVariadicTypes>(ref($inputs), type($inputs), type($result))
  }];
}
def Shlo_CreateTokenOp : Shlo_Op<"create_token", [Pure]> {
  let results = (outs Shlo_Any:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

def Shlo_AsyncStartOp : Shlo_Op<"async_start"> {
  let arguments = (ins Variadic<Shlo_Any>:$futures);
  let results = (outs Variadic<Shlo_Any>);
  let regions = (region AnyRegion:$computation);
}
def Shlo_AsyncDoneOp : Shlo_Op<"async_done"> {
  let arguments = (ins Variadic<Shlo_Any>:$futures);
  let results = (outs Variadic<Shlo_Any>);
}

#endif // NOCTURNE_DIALECT_CONTROL_FLOW_OPS
