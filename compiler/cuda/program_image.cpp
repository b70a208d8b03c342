#include "compiler/cuda/program_image.h"

#include <cstring>

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"

#include "compiler/codegen/object.h"
#include "compiler/cuda/launch_plan.h"

namespace nocturne::compiler {

using namespace mlir;

namespace {

constexpr uint64_t kImageAlignment = 16;
constexpr const char* kImageName = "nocturne.program";
constexpr const char* kStateName = "nocturne.state";

class ImageWriter {
public:
  std::string write(const ProgramPlan& plan, const std::string& ptx) {
    nocturne_cuda_program head{};
    head.version = NOCTURNE_CUDA_PLAN_VERSION;
    head.kernel_count = uint32_t(plan.kernels.size());
    head.entry_count = uint32_t(plan.entries.size());
    append(std::vector<nocturne_cuda_program>{head});
    head.ptx_bytes = ptx.size() + 1;
    head.ptx = appendText(ptx);
    std::vector<uint64_t> names;
    for (const std::string& name : plan.kernels)
      names.push_back(appendText(name));
    head.kernels = append(names);
    std::vector<nocturne_cuda_entry> entries;
    for (const EntryPlan& entry : plan.entries)
      entries.push_back(appendEntry(entry));
    head.entries = append(entries);
    head.constant_bytes = plan.constants.size();
    head.constants = appendBytes(plan.constants.data(), plan.constants.size());
    std::memcpy(image_.data(), &head, sizeof head);
    return std::move(image_);
  }

private:
  uint64_t appendBytes(const void* data, size_t bytes) {
    image_.resize((image_.size() + kImageAlignment - 1) / kImageAlignment * kImageAlignment);
    const uint64_t offset = image_.size();
    image_.append(static_cast<const char*>(data), bytes);
    return offset;
  }
  template <typename T>
  uint64_t append(const std::vector<T>& values) {
    return appendBytes(values.data(), values.size() * sizeof(T));
  }
  uint64_t appendText(const std::string& text) {
    return appendBytes(text.c_str(), text.size() + 1);
  }

  nocturne_cuda_entry appendEntry(const EntryPlan& plan) {
    nocturne_cuda_entry entry{};
    entry.work_bytes = plan.workBytes;
    entry.argument_count = uint32_t(plan.arguments.size());
    entry.step_count = uint32_t(plan.steps.size());
    std::vector<nocturne_cuda_argument> arguments;
    for (const PlanArgument& argument : plan.arguments)
      arguments.push_back({argument.offset, argument.bytes, argument.result, 0});
    entry.arguments = append(arguments);
    std::vector<nocturne_cuda_step> steps;
    for (const PlanStep& step : plan.steps) {
      steps.push_back(appendStep(step));
      entry.most_operands = std::max(entry.most_operands, steps.back().operand_count);
    }
    entry.steps = append(steps);
    return entry;
  }

  nocturne_cuda_step appendStep(const PlanStep& plan) {
    nocturne_cuda_step step{};
    step.kind = plan.kind == PlanStep::Kind::Copy ? NOCTURNE_CUDA_COPY : NOCTURNE_CUDA_LAUNCH;
    step.kernel = plan.kernel;
    std::copy(plan.grid.begin(), plan.grid.end(), step.grid);
    std::copy(plan.block.begin(), plan.block.end(), step.block);
    step.bytes = plan.bytes;
    std::vector<nocturne_cuda_operand> operands;
    for (const PlanOperand& operand : plan.operands)
      operands.push_back({operand.offset,
                          uint32_t(operand.constant ? NOCTURNE_CUDA_CONSTANTS : NOCTURNE_CUDA_WORK),
                          0});
    step.operands = append(operands);
    step.operand_count = uint32_t(operands.size());
    return step;
  }

  std::string image_;
};

class HostModule {
public:
  explicit HostModule(MLIRContext& context)
      : builder_(&context), loc_(builder_.getUnknownLoc()), module_(ModuleOp::create(loc_)) {
    builder_.setInsertionPointToEnd(module_->getBody());
  }

  ModuleOp module() { return *module_; }

  void addImage(const std::string& image) {
    auto type = LLVM::LLVMArrayType::get(builder_.getI8Type(), image.size());
    LLVM::GlobalOp::create(builder_, loc_, type, /*isConstant=*/true, LLVM::Linkage::Internal,
                           kImageName, builder_.getStringAttr(image), kImageAlignment);
    auto words = LLVM::LLVMArrayType::get(builder_.getI64Type(), NOCTURNE_CUDA_STATE_WORDS);
    auto state =
        LLVM::GlobalOp::create(builder_, loc_, words, /*isConstant=*/false, LLVM::Linkage::Internal,
                               kStateName, Attribute(), kImageAlignment);
    OpBuilder::InsertionGuard guard(builder_);
    builder_.createBlock(&state.getInitializerRegion());
    LLVM::ReturnOp::create(builder_, loc_, LLVM::ZeroOp::create(builder_, loc_, words).getResult());
  }

  void addLauncher() {
    launcher_ = LLVM::LLVMFuncOp::create(
        builder_, loc_, "nocturne_cuda_call",
        LLVM::LLVMFunctionType::get(i32(), {pointer(), pointer(), i32(), pointer(), i64()}));
    launcher_.setVisibility_(LLVM::Visibility::Hidden);
  }

  void addEntry(const std::string& symbol, size_t number) {
    auto function = LLVM::LLVMFuncOp::create(
        builder_, loc_, symbol, LLVM::LLVMFunctionType::get(i32(), {pointer(), i64()}));
    OpBuilder::InsertionGuard guard(builder_);
    builder_.setInsertionPointToStart(function.addEntryBlock(builder_));
    Value image = LLVM::AddressOfOp::create(builder_, loc_, pointer(), kImageName);
    Value state = LLVM::AddressOfOp::create(builder_, loc_, pointer(), kStateName);
    Value which = LLVM::ConstantOp::create(builder_, loc_, i32(),
                                           builder_.getI32IntegerAttr(int32_t(number)));
    auto call = LLVM::CallOp::create(
        builder_, loc_, launcher_,
        ValueRange{image, state, which, function.getArgument(0), function.getArgument(1)});
    LLVM::ReturnOp::create(builder_, loc_, call.getResult());
  }

private:
  Type pointer() { return LLVM::LLVMPointerType::get(builder_.getContext()); }
  Type i32() { return builder_.getI32Type(); }
  Type i64() { return builder_.getI64Type(); }

  OpBuilder builder_;
  Location loc_;
  OwningOpRef<ModuleOp> module_;
  LLVM::LLVMFuncOp launcher_;
};

} // namespace

std::string programImage(const ProgramPlan& plan, const std::string& ptx) {
  return ImageWriter().write(plan, ptx);
}

LogicalResult emitHostObject(MLIRContext& context, const std::string& image,
                             const std::vector<LibraryEntry>& entries, const CpuTarget& target,
                             std::string& object, Failure& failure) {
  HostModule host(context);
  host.addImage(image);
  host.addLauncher();
  for (size_t i = 0; i < entries.size(); ++i)
    host.addEntry(entries[i].symbol, i);
  EmittedObject emitted;
  ObjectOptions options;
  options.target = target;
  if (failed(emitObject(host.module(), options, emitted, failure)))
    return mlir::failure();
  object = std::move(emitted.bytes);
  return success();
}

} // namespace nocturne::compiler
