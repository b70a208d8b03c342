// Types of the dialect beyond the builtin ones.

#ifndef NOCTURNE_DIALECT_TYPES
#define NOCTURNE_DIALECT_TYPES

include "Base.td"

class Shlo_Type<string name, string typeMnemonic> : TypeDef<Stablehlo_Dialect, name> {
  let mnemonic = typeMnemonic;
}

def Shlo_TokenType : Shlo_Type<"Token", "token"> {
  let summary = "orders side effects, has no data";
}

def Shlo_FutureType : Shlo_Type<"Future", "future"> {
  let summary = "what an asynchronous operation will give";
  let parameters = (ins ArrayRefParameter<"::mlir::Type">:$types);
  let hasCustomAssemblyFormat = 1;
}

#endif // NOCTURNE_DIALECT_TYPES
