#include "compiler/codegen/check_sizes.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/Support/raw_ostream.h"

#include "compiler/lowering/diagnostics.h"

namespace nocturne::compiler {

using namespace mlir;

namespace {

// What programs of x86-64 can address.
constexpr double kMostBytes = 1ULL << 47;

// As if each element took a byte, where it takes less.
double bytesOf(RankedTensorType type) {
  double elements = 1;
  for (const int64_t size : type.getShape())
    elements *= double(size);
  Type element = type.getElementType();
  double parts = 1;
  if (auto complex = dyn_cast<ComplexType>(element)) {
    element = complex.getElementType();
    parts = 2;
  }
  return element.isIntOrFloat() ? elements * parts * ((element.getIntOrFloatBitWidth() + 7) / 8)
                                : elements * 8;
}

bool isTooLarge(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.hasStaticShape() && bytesOf(tensor) > kMostBytes;
}

} // namespace

LogicalResult checkSizes(ModuleOp module, Failure& failure) {
  const auto check = [&](Value value) {
    if (!isTooLarge(value.getType()))
      return WalkResult::advance();
    failure = {FailureKind::UnsupportedOp, "", "", 0, 0};
    llvm::raw_string_ostream(failure.message)
        << "a value of type " << value.getType() << " is larger than all addresses";
    setPlace(failure, value.getLoc());
    return WalkResult::interrupt();
  };
  const WalkResult walked = module.walk([&](Operation* op) {
    for (Region& region : op->getRegions())
      for (Block& block : region)
        for (Value argument : block.getArguments())
          if (check(argument).wasInterrupted())
            return WalkResult::interrupt();
    for (Value result : op->getResults())
      if (check(result).wasInterrupted())
        return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return mlir::failure(walked.wasInterrupted());
}

} // namespace nocturne::compiler
