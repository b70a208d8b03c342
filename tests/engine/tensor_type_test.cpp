#include "engine/tensor_type.h"

#include <doctest/doctest.h>

using namespace nocturne;

namespace {

TensorType tensor(std::vector<int64_t> dims, ElementKind kind) {
  return {{kind}, std::move(dims)};
}

constexpr int kKindCount = static_cast<int>(ElementKind::Index) + 1;

} // namespace

TEST_CASE("every element kind has a name of its own that reads back") {
  for (int i = 0; i < kKindCount; ++i) {
    auto kind = static_cast<ElementKind>(i);
    CHECK(elementKindFromName(name(kind)) == kind);
  }
  CHECK_FALSE(elementKindFromName("float"));
  CHECK_FALSE(elementKindFromName(""));
}

TEST_CASE("names are those of MLIR") {
  CHECK(name(ElementKind::I1) == "i1");
  CHECK(name(ElementKind::UI8) == "ui8");
  CHECK(name(ElementKind::BF16) == "bf16");
  CHECK(name(ElementKind::TF32) == "tf32");
  CHECK(name(ElementKind::F4E2M1FN) == "f4E2M1FN");
  CHECK(name(ElementKind::F8E4M3B11FNUZ) == "f8E4M3B11FNUZ");
  CHECK(name(ElementKind::F8E8M0FNU) == "f8E8M0FNU");
  CHECK(name(ElementKind::Complex64) == "complex<f32>");
  CHECK(name(ElementKind::Complex128) == "complex<f64>");
}

TEST_CASE("a value of one bit takes a byte, smaller than a byte is packed otherwise") {
  CHECK(widthInBits(ElementKind::I1) == 1);
  CHECK(storageBits(ElementKind::I1) == 8);
  CHECK(storageBits(ElementKind::I2) == 2);
  CHECK(storageBits(ElementKind::UI4) == 4);
  CHECK(storageBits(ElementKind::F4E2M1FN) == 4);
  CHECK(storageBits(ElementKind::F6E3M2FN) == 6);
  CHECK(widthInBits(ElementKind::TF32) == 19);
  CHECK(storageBits(ElementKind::TF32) == 32);
  CHECK(storageBits(ElementKind::Complex128) == 128);
  CHECK(storageBits(ElementKind::Token) == 0);
}

TEST_CASE("every number kind belongs to one family") {
  for (int i = 0; i < kKindCount; ++i) {
    auto kind = static_cast<ElementKind>(i);
    bool number =
        kind != ElementKind::None && kind != ElementKind::Token && kind != ElementKind::Index;
    CHECK(isFloat(kind) + isInteger(kind) + isComplex(kind) == (number ? 1 : 0));
  }
  CHECK(isInteger(ElementKind::I1));
  CHECK(isFloat(ElementKind::F8E8M0FNU));
  CHECK(isComplex(ElementKind::Complex64));
}

TEST_CASE("the components of complex numbers are floats") {
  CHECK(componentKind(ElementKind::Complex64) == ElementKind::F32);
  CHECK(componentKind(ElementKind::Complex128) == ElementKind::F64);
  CHECK(componentKind(ElementKind::BF16) == ElementKind::BF16);
}

TEST_CASE("bytes are elements times storage, rounded up to whole bytes") {
  CHECK(tensor({128, 512}, ElementKind::F32).bytes() == 262144);
  CHECK(tensor({}, ElementKind::F64).bytes() == 8);
  CHECK(tensor({10}, ElementKind::I1).bytes() == 10);
  CHECK(tensor({3}, ElementKind::I4).bytes() == 2); // 12 bits
  CHECK(tensor({5}, ElementKind::I2).bytes() == 2); // 10 bits
  CHECK(tensor({}, ElementKind::I4).bytes() == 1);
  CHECK(tensor({3}, ElementKind::F6E2M3FN).bytes() == 3); // 18 bits
  CHECK(tensor({0, 4}, ElementKind::F32).bytes() == 0);
  CHECK(tensor({}, ElementKind::Token).bytes() == 0);
  CHECK(tensor({2}, ElementKind::Complex64).bytes() == 16);
  CHECK(tensor({int64_t{1} << 40, int64_t{1} << 20}, ElementKind::I4).bytes() == 0x1p59);
}

TEST_CASE("a dynamic extent counts as one") {
  TensorType type = tensor({kDynamic, 4}, ElementKind::BF16);
  CHECK(type.elementCount() == 4);
  CHECK(type.bytes() == 8);
  CHECK_FALSE(type.isStatic());
  CHECK(tensor({7, 4}, ElementKind::BF16).isStatic());
}

TEST_CASE("an unranked tensor is not static and counts as one element") {
  TensorType type{{ElementKind::F32}, {}, false};
  CHECK_FALSE(type.isStatic());
  CHECK(type.elementCount() == 1);
  CHECK(type.text() == "*xf32");
}

TEST_CASE("types are written as MLIR writes them") {
  CHECK(tensor({128, 512}, ElementKind::F32).text() == "128x512xf32");
  CHECK(tensor({}, ElementKind::F32).text() == "f32");
  CHECK(tensor({kDynamic, 4}, ElementKind::BF16).text() == "?x4xbf16");
  CHECK(tensor({2}, ElementKind::Complex64).text() == "2xcomplex<f32>");
  CHECK(tensor({}, ElementKind::Token).text() == "token");
}

TEST_CASE("a quantized element takes the memory of its storage type") {
  TensorType type{{ElementKind::I8, ElementKind::F32}, {4}};
  CHECK(type.element.isQuantized());
  CHECK(type.bytes() == 4);
  CHECK(type.text() == "4x!quant.uniform<i8:f32>");
}
