#include <cstddef>
#include <cstdint>

#include <doctest/doctest.h>

#include "read_text.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

using namespace nocturne;
using namespace nocturne::compiler;
using namespace nocturne::compiler::testing;

namespace {

const char* const kSeed = R"(module @m attributes {mhlo.num_partitions = 1 : i32} {
  func.func private @f(%a: tensor<4x8xf32>) -> tensor<4x8xf32> {
    %0 = stablehlo.tanh %a : tensor<4x8xf32>
    return %0 : tensor<4x8xf32>
  }
  func.func @main(%a: tensor<4x8xf32>, %w: tensor<8x8xf32>) -> tensor<4xf32> {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %mask = stablehlo.constant dense<"0x01000100"> : tensor<4xi1>
    %s = stablehlo.constant dense<0> : tensor<i32>
    %n = stablehlo.constant dense<3> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %r:2 = stablehlo.while(%i = %s, %v = %a) : tensor<i32>, tensor<4x8xf32> cond {
      %p = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %d = stablehlo.dot_general %v, %w, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
      %c = func.call @f(%d) : (tensor<4x8xf32>) -> tensor<4x8xf32>
      %k = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %k, %c : tensor<i32>, tensor<4x8xf32>
    }
    %m = stablehlo.reduce(%r#1 init: %zero) applies stablehlo.maximum across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
    %x = "stablehlo.slice"(%m) <{start_indices = array<i64: 0>, limit_indices = array<i64: 4>, strides = array<i64: 1>}> : (tensor<4xf32>) -> tensor<4xf32> loc("a.py":1:2)
    return %x : tensor<4xf32>
  }
}
)";

// Reading may fail, but only in the one way that it promises: anything else leaves the fuzz target.
void readAnyhow(const std::string& text) {
  CHECK(LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(text.data()), text.size()) == 0);
}

struct Random {
  uint64_t state = 0x2545f4914f6cdd1d;
  uint32_t below(size_t limit) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return static_cast<uint32_t>((state >> 16) % limit);
  }
};

} // namespace

TEST_CASE("the text that is mutated can be read") {
  ModulePtr module = read(kSeed);
  CHECK(runsOf(*module, "stablehlo.dot_general") == 3);
}

TEST_CASE("truncated anywhere, a module is an error or a module") {
  std::string seed = kSeed;
  for (size_t size = 0; size < seed.size(); size += 13)
    readAnyhow(seed.substr(0, size));
}

TEST_CASE("with any byte changed, a module is an error or a module") {
  Random random;
  for (int i = 0; i < 300; ++i) {
    std::string text = kSeed;
    for (uint32_t n = 1 + random.below(3); n > 0; --n)
      text[random.below(text.size())] = static_cast<char>(random.below(256));
    readAnyhow(text);
  }
}

TEST_CASE("with pieces moved, doubled or dropped, a module is an error or a module") {
  Random random;
  std::string seed = kSeed;
  for (int i = 0; i < 300; ++i) {
    std::string text = seed;
    size_t from = random.below(text.size()), size = 1 + random.below(60);
    std::string piece = seed.substr(from, size);
    if (random.below(2) == 0)
      text.erase(from, size);
    if (random.below(2) == 0)
      text.insert(random.below(text.size()), piece);
    readAnyhow(text);
  }
}

TEST_CASE("with any number replaced by a strange one, a module is an error or a module") {
  std::string seed = kSeed;
  for (const char* number :
       {"-1", "0", "99999999999", "9223372036854775807", "184467440737095516159"})
    for (size_t at = 0; at < seed.size(); ++at)
      if (seed[at] >= '0' && seed[at] <= '9' && !(seed[at - 1] >= '0' && seed[at - 1] <= '9')) {
        std::string text = seed;
        text.replace(at, 1, number);
        readAnyhow(text);
      }
}

TEST_CASE("nesting without end is refused, whatever it is made of") {
  auto repeated = [](const std::string& piece, int times) {
    std::string text;
    for (int i = 0; i < times; ++i)
      text += piece;
    return text;
  };
  for (const char* piece : {"(", "[", "{", "<", "\"a.b\"() ({\n", "tensor<", "tuple<", "loc(",
                            "module {\n", "dense<[", "#a.b<", "affine_map<(", "{a = "})
    CHECK(failureOf(repeated(piece, 20000)));
  readAnyhow(repeated("- ", 100000));
  readAnyhow("func.func @main() attributes {a = affine_map<(d0) -> (" + repeated("- ", 100000) +
             "d0)>} { return }");
}
