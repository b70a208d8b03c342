#include "compiler/codegen/schedule.h"

#include <doctest/doctest.h>

#include "compiler/codegen/module_code.h"
#include "compiler/execution/library.h"

namespace nocturne::compiler {

namespace {

constexpr const char* kAddFunction = R"(
func.func @main(%a: tensor<13xf32>, %b: tensor<13xf32>) -> tensor<13xf32> {
  %0 = stablehlo.add %a, %b : tensor<13xf32>
  return %0 : tensor<13xf32>
})";

mlir::LogicalResult compile(const std::string& schedule, ModuleCode& code, Failure& failure) {
  CompileOptions options;
  options.target = cpuTarget("x86-64");
  options.schedule = schedule;
  return compileText(kAddFunction, "test.mlir", options, code, failure);
}

std::string sequence(const std::string& body) {
  return "module attributes {transform.with_named_sequence} {\n"
         "  transform.named_sequence @__transform_main(%m: !transform.any_op) {\n" +
         body + "    transform.yield\n  }\n}\n";
}

} // namespace

TEST_CASE("a schedule may leave masks where vectors are longer than what they hold") {
  ModuleCode code;
  Failure failure;
  const bool worked = mlir::succeeded(compile(sequence(R"(
    %0 = transform.structured.match interface{LinalgOp} in %m : (!transform.any_op) -> !transform.any_op
    %1, %l = transform.structured.tile_using_for %0 tile_sizes [8] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.structured.vectorize %1 vector_sizes [8] : !transform.any_op
)"),
                                              code, failure));
  INFO(failure.text());
  REQUIRE(worked);
  TensorData a("f32", {13}), b("f32", {13});
  fillRandom(a, 1);
  fillRandom(b, 2);
  const LoadedLibrary library(code.object);
  PreparedCall call(library, code.entries.at(0), {&a, &b});
  call.run();
  for (size_t i = 0; i < a.count(); ++i)
    CHECK(call.results()[0].value(i) == double(float(a.value(i) + b.value(i))));
}

TEST_CASE("a schedule that cannot be applied is a mistake of who wrote it") {
  const auto failureOf = [](const std::string& schedule) {
    ModuleCode code;
    Failure failure;
    CHECK(mlir::failed(compile(schedule, code, failure)));
    CHECK((failure.kind == FailureKind::BadConfig));
    return failure;
  };
  CHECK(failureOf("module {").file == "schedule");
  CHECK(failureOf("module {}").message.find("@__transform_main") != std::string::npos);
  const Failure misapplied = failureOf(sequence(R"(
    %0 = transform.structured.match ops{["func.func"]} in %m : (!transform.any_op) -> !transform.any_op
    transform.structured.vectorize %0 : !transform.any_op
)"));
  CHECK_FALSE(misapplied.message.empty());
}

} // namespace nocturne::compiler
