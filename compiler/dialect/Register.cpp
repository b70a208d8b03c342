#include "compiler/dialect/Register.h"

#include "compiler/dialect/Lenient.h"
#include "compiler/dialect/StablehloDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MLProgram/IR/MLProgram.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Quant/IR/Quant.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Shape/IR/Shape.h"
#include "mlir/Dialect/SparseTensor/IR/SparseTensor.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Transform/IR/TransformDialect.h"

#include <iterator>
#include <utility>

using namespace mlir;

namespace nocturne {

// Names seen in files; any other dialect is still read where it uses the generic form.
static constexpr StringLiteral kLenientDialects[] = {
    "check",       "chlo",          "comm",
    "enzyme",      "enzymexla",     "flow",
    "hal",         "ifrt",          "impulse",
    "interpreter", "iree_input",    "mhlo",
    "mosaic_gpu",  "mpmd",          "odml",
    "onnx",        "plan",          "pphlo",
    "sdy",         "secret",        "tcp",
    "tensorrt",    "test",          "tf",
    "tf_executor", "tfl",           "torch",
    "tpu",         "triton_xla",    "tt",
    "ttcore",      "ttir",          "util",
    "vhlo",        "xla",           "xla_cpu",
    "xla_gpu",     "stablehlo_ext", "iree_linalg_ext"};

// Dialects are told apart by their C++ type, so each name needs one.
template <size_t Index>
class NamedLenientDialect : public LenientDialect {
public:
  explicit NamedLenientDialect(MLIRContext* owner)
      : LenientDialect(getDialectNamespace(), owner, TypeID::get<NamedLenientDialect>()) {}
  static constexpr StringLiteral getDialectNamespace() { return kLenientDialects[Index]; }
};

template <size_t... Indices>
static void registerLenientDialects(DialectRegistry& registry, std::index_sequence<Indices...>) {
  registry.insert<NamedLenientDialect<Indices>...>();
}

void registerReadableDialects(DialectRegistry& registry) {
  registry.insert<stablehlo::StablehloDialect, arith::ArithDialect, cf::ControlFlowDialect,
                  complex::ComplexDialect, func::FuncDialect, gpu::GPUDialect, LLVM::LLVMDialect,
                  NVVM::NVVMDialect, math::MathDialect, memref::MemRefDialect,
                  ml_program::MLProgramDialect, quant::QuantDialect, scf::SCFDialect,
                  shape::ShapeDialect, sparse_tensor::SparseTensorDialect, tensor::TensorDialect,
                  transform::TransformDialect>();
  registerLenientDialects(registry, std::make_index_sequence<std::size(kLenientDialects)>());
}

} // namespace nocturne
