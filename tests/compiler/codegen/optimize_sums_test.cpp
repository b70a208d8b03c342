// Which sums are taken in the loop that writes what they add up, told from how many operations of
// linalg are left.
#include <string>

#include <doctest/doctest.h>

#include "compiler/codegen/optimize.h"
#include "compiler/codegen/registry.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"

namespace nocturne::compiler {

namespace {

// Of a function with the buffers %a, %b, %e and %f of 64 elements, %m of 128 and %s of one.
size_t leftAfterMerging(const std::string& body) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  registerCodegen(context);
  const std::string text =
      "#each = affine_map<(d0) -> (d0)>\n#one = affine_map<(d0) -> ()>\n"
      "func.func @f(%a: memref<64xf32>, %b: memref<64xf32>, %e: memref<64xf32>, "
      "%f: memref<64xf32>, %m: memref<128xf32>, %s: memref<f32>) {\n" +
      body + "  return\n}";
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, mlir::ParserConfig(&context));
  INFO(text);
  REQUIRE(module);
  mlir::PassManager passes(&context);
  passes.addNestedPass<mlir::func::FuncOp>(createMergeSumsPass());
  REQUIRE(mlir::succeeded(passes.run(*module)));
  size_t left = 0;
  module->walk([&](mlir::linalg::LinalgOp) { ++left; });
  return left;
}

struct Buffer {
  std::string name, type = "memref<64xf32>";
};

std::string generic(const std::string& maps, const std::string& iterator, const Buffer& from,
                    const Buffer& to, const std::string& result) {
  return "  linalg.generic {indexing_maps = [" + maps + "], iterator_types = [\"" + iterator +
         "\"]} ins(" + from.name + " : " + from.type + ") outs(" + to.name + " : " + to.type +
         ") {\n  ^bb0(%x: f32, %y: f32):\n    %0 = " + result +
         " : f32\n    linalg.yield %0 : f32\n  }\n";
}

std::string squares(const Buffer& from, const Buffer& to) {
  return generic("#each, #each", "parallel", from, to, "arith.mulf %x, %x");
}

std::string sum(const Buffer& from, const Buffer& to = {"%s", "memref<f32>"},
                const std::string& combine = "arith.addf %y, %x fastmath<reassoc>") {
  return generic("#each, #one", "reduction", from, to, combine);
}

// Half of %m from `first` on.
std::string half(const std::string& name, const std::string& first) {
  return "  " + name + " = memref.subview %m[" + first + "] [64] [1] : memref<128xf32> to " +
         "memref<64xf32, strided<[1], offset: " + first + ">>\n";
}

Buffer halfAt(const std::string& name, const std::string& first) {
  return {name, "memref<64xf32, strided<[1], offset: " + first + ">>"};
}

const Buffer kA{"%a"}, kB{"%b"}, kE{"%e"}, kF{"%f"};

} // namespace

TEST_CASE("a sum, maximum or minimum is taken where its elements are written") {
  const Buffer to{"%s", "memref<f32>"};
  CHECK(leftAfterMerging(squares(kA, kE) + sum(kE)) == 0);
  CHECK(leftAfterMerging(squares(kE, kE) + sum(kE)) == 0);
  CHECK(leftAfterMerging(squares(kA, kE) + sum(kE, to, "arith.maximumf %x, %y")) == 0);
  CHECK(leftAfterMerging(squares(kA, kE) + sum(kE, to, "arith.minimumf %y, %x")) == 0);
}

TEST_CASE("a sum is taken where its elements are written over what has nothing to do with them") {
  CHECK(leftAfterMerging(squares(kA, kE) + squares(kB, kF) + sum(kE)) == 1);
  CHECK(leftAfterMerging(squares(kA, kE) + squares(kA, kF) + sum(kE)) == 1);
}

TEST_CASE("elements that are used or made anew before their sum is taken stay where they are") {
  CHECK(leftAfterMerging(squares(kA, kE) + squares(kE, kF) + sum(kE)) == 3);
  CHECK(leftAfterMerging(squares(kA, kE) + squares(kB, kA) + sum(kE)) == 3);
  CHECK(leftAfterMerging(squares(kA, kE) +
                         "  %c = arith.constant 3 : index\n"
                         "  %v = memref.load %e[%c] : memref<64xf32>\n" +
                         sum(kE)) == 2);
  // The later of two that write them is the one.
  CHECK(leftAfterMerging(squares(kA, kE) + squares(kB, kE) + sum(kE)) == 1);
}

TEST_CASE("what reads elements in its body, as a gather does, is a use of them") {
  const std::string gather = generic("#each, #each", "parallel", kB, kF, "arith.addf %x, %v");
  const std::string load = "    %c = arith.constant 3 : index\n"
                           "    %v = memref.load %e[%c] : memref<64xf32>\n";
  const std::string start = "%y: f32):\n";
  std::string reading = gather;
  reading.insert(reading.find(start) + start.size(), load);
  CHECK(leftAfterMerging(squares(kA, kE) + reading + sum(kE)) == 3);
  CHECK(leftAfterMerging(reading + sum(kF)) == 2);
}

TEST_CASE("sums over other parts of the same memory are taken by themselves") {
  const Buffer low = halfAt("%l", "1"), high = halfAt("%h", "33"),
               total{"%t", "memref<f32, strided<[], offset: 3>>"};
  const std::string parts = half("%l", "1") + half("%h", "33");
  CHECK(leftAfterMerging(parts + squares(kA, low) + sum(low)) == 0);
  CHECK(leftAfterMerging(parts + squares(kA, low) + sum(high)) == 2);
  CHECK(leftAfterMerging(parts + squares(kA, low) + squares(kB, high) + sum(low)) == 3);
  const std::string place = "  %t = memref.subview %m[3] [1] [1] : memref<128xf32> to "
                            "memref<f32, strided<[], offset: 3>>\n";
  CHECK(leftAfterMerging(parts + place + squares(low, kE) + sum(kE, total)) == 2);
}

TEST_CASE("sums whose order is fixed are taken by themselves") {
  const Buffer to{"%s", "memref<f32>"};
  CHECK(leftAfterMerging(squares(kA, kE) + sum(kE, to, "arith.addf %y, %x")) == 2);
  CHECK(leftAfterMerging(squares(kA, kE) + sum(kE, to, "arith.subf %y, %x")) == 2);
}

} // namespace nocturne::compiler
