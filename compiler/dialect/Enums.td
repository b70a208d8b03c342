// Enumerations of the specification, as attributes spelled `#stablehlo<comparison_direction LT>`.
// Their numbers are ours: nothing outside this dialect reads them.

#ifndef NOCTURNE_DIALECT_ENUMS
#define NOCTURNE_DIALECT_ENUMS

include "mlir/IR/EnumAttr.td"
include "Base.td"

class Shlo_Enum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::nocturne::stablehlo";
  let genSpecializedAttr = 0;
}
class Shlo_EnumAttr<I32EnumAttr enumInfo, string mnemonic>
    : EnumAttr<Stablehlo_Dialect, enumInfo, mnemonic>;

def Shlo_Precision : Shlo_Enum<"Precision", "precision of a contraction", [
  I32EnumAttrCase<"DEFAULT", 0>, I32EnumAttrCase<"HIGH", 1>, I32EnumAttrCase<"HIGHEST", 2>]>;
def Shlo_PrecisionAttr : Shlo_EnumAttr<Shlo_Precision, "precision">;

def Shlo_ComparisonDirection : Shlo_Enum<"ComparisonDirection", "which comparison", [
  I32EnumAttrCase<"EQ", 0>, I32EnumAttrCase<"NE", 1>, I32EnumAttrCase<"GE", 2>,
  I32EnumAttrCase<"GT", 3>, I32EnumAttrCase<"LE", 4>, I32EnumAttrCase<"LT", 5>]>;
def Shlo_ComparisonDirectionAttr
    : Shlo_EnumAttr<Shlo_ComparisonDirection, "comparison_direction">;

def Shlo_ComparisonType : Shlo_Enum<"ComparisonType", "how values are compared", [
  I32EnumAttrCase<"NOTYPE", 0>, I32EnumAttrCase<"FLOAT", 1>, I32EnumAttrCase<"TOTALORDER", 2>,
  I32EnumAttrCase<"SIGNED", 3>, I32EnumAttrCase<"UNSIGNED", 4>]>;
def Shlo_ComparisonTypeAttr : Shlo_EnumAttr<Shlo_ComparisonType, "comparison_type">;

def Shlo_FftType : Shlo_Enum<"FftType", "which Fourier transform", [
  I32EnumAttrCase<"FFT", 0>, I32EnumAttrCase<"IFFT", 1>, I32EnumAttrCase<"RFFT", 2>,
  I32EnumAttrCase<"IRFFT", 3>]>;
def Shlo_FftTypeAttr : Shlo_EnumAttr<Shlo_FftType, "fft_type">;

def Shlo_Transpose : Shlo_Enum<"Transpose", "form of a triangular matrix", [
  I32EnumAttrCase<"TRANSPOSE_INVALID", 0>, I32EnumAttrCase<"NO_TRANSPOSE", 1>,
  I32EnumAttrCase<"TRANSPOSE", 2>, I32EnumAttrCase<"ADJOINT", 3>]>;
def Shlo_TransposeAttr : Shlo_EnumAttr<Shlo_Transpose, "transpose">;

def Shlo_RngDistribution : Shlo_Enum<"RngDistribution", "distribution of random numbers", [
  I32EnumAttrCase<"UNIFORM", 0>, I32EnumAttrCase<"NORMAL", 1>]>;
def Shlo_RngDistributionAttr : Shlo_EnumAttr<Shlo_RngDistribution, "rng_distribution">;

def Shlo_RngAlgorithm : Shlo_Enum<"RngAlgorithm", "generator of random bits", [
  I32EnumAttrCase<"DEFAULT", 0>, I32EnumAttrCase<"THREE_FRY", 1>, I32EnumAttrCase<"PHILOX", 2>]>;
def Shlo_RngAlgorithmAttr : Shlo_EnumAttr<Shlo_RngAlgorithm, "rng_algorithm">;

def Shlo_CustomCallApiVersion
    : Shlo_Enum<"CustomCallApiVersion", "calling convention of a custom call", [
  I32EnumAttrCase<"API_VERSION_UNSPECIFIED", 0>, I32EnumAttrCase<"API_VERSION_ORIGINAL", 1>,
  I32EnumAttrCase<"API_VERSION_STATUS_RETURNING", 2>,
  I32EnumAttrCase<"API_VERSION_STATUS_RETURNING_UNIFIED", 3>,
  I32EnumAttrCase<"API_VERSION_TYPED_FFI", 4>]>;
def Shlo_CustomCallApiVersionAttr
    : Shlo_EnumAttr<Shlo_CustomCallApiVersion, "custom_call_api_version">;

def Shlo_ResultAccuracyMode : Shlo_Enum<"ResultAccuracyMode", "how exact a result must be", [
  I32EnumAttrCase<"DEFAULT", 0>, I32EnumAttrCase<"HIGHEST", 1>,
  I32EnumAttrCase<"TOLERANCE", 2>]>;
// Spelled `#stablehlo.result_accuracy_mode<HIGHEST>`, unlike the others.
def Shlo_ResultAccuracyModeAttr
    : Shlo_EnumAttr<Shlo_ResultAccuracyMode, "result_accuracy_mode"> {
  let assemblyFormat = "`<` $value `>`";
}

#endif // NOCTURNE_DIALECT_ENUMS
