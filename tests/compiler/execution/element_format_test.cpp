#include "compiler/execution/element_format.h"

#include <cmath>
#include <cstring>

#include <doctest/doctest.h>

#include "engine/error.h"

namespace nocturne::compiler {

namespace {

double valueOf(const char* dtype, uint64_t bits) {
  return toDouble(elementFormat(dtype), bits);
}

uint64_t bitsOf(const char* dtype, double value) {
  return fromDouble(elementFormat(dtype), value);
}

std::string textOf(const char* dtype, uint64_t low, uint64_t high = 0) {
  ElementFormat format = elementFormat(dtype);
  std::byte data[16];
  storeBits(format, data, low);
  storeBits(format, data + format.bytes, high);
  return elementText(format, data);
}

} // namespace

TEST_CASE("elements narrower than a byte take one, complex ones twice their component") {
  CHECK(elementFormat("i1").bytes == 1);
  CHECK(elementFormat("ui4").bytes == 1);
  CHECK(elementFormat("f4E2M1FN").bytes == 1);
  CHECK(elementFormat("bf16").bytes == 2);
  CHECK(elementFormat("complex<f32>").elementBytes() == 8);
  CHECK(elementFormat("index").bytes == 8);
}

TEST_CASE("types without a form in memory are refused") {
  CHECK_THROWS_AS(elementFormat("token"), UsageError);
  CHECK_THROWS_AS(elementFormat("f17"), UsageError);
}

TEST_CASE("numbers are what their formats say") {
  CHECK(valueOf("i4", 0xF) == -1);
  CHECK(valueOf("ui4", 0xF) == 15);
  CHECK(valueOf("i64", ~uint64_t{0}) == -1);
  CHECK(valueOf("f16", 0x3C00) == 1);
  CHECK(valueOf("bf16", 0xC040) == -3);
  CHECK(valueOf("f8E4M3FN", 0x7E) == 448);
  CHECK(std::isnan(valueOf("f8E4M3FN", 0x7F)));
  CHECK(valueOf("f8E5M2", 0x7C) == INFINITY);
  CHECK(valueOf("f8E8M0FNU", 127) == 1);
  CHECK(valueOf("f4E2M1FN", 0x7) == 6);
}

TEST_CASE("numbers are rounded to the nearest and integers clamped") {
  CHECK(bitsOf("f32", 0.1) == 0x3DCCCCCD);
  CHECK(bitsOf("bf16", 1.00390625) == 0x3F80); // a tie: to even
  CHECK(bitsOf("i8", 300) == 127);
  CHECK(bitsOf("i8", -300) == 128);
  CHECK(bitsOf("ui8", -1) == 0);
  CHECK(bitsOf("i2", 5) == 1);
  CHECK(bitsOf("i1", 3) == 1);
}

TEST_CASE("texts have as many digits as a number needs") {
  CHECK(textOf("f32", 0x3DCCCCCD) == "0.1");
  CHECK(textOf("i1", 1) == "true");
  CHECK(textOf("i16", 0xFFFE) == "-2");
  CHECK(textOf("ui64", ~uint64_t{0}) == "18446744073709551615");
  CHECK(textOf("f32", 0xFFC00000) == "nan");
  CHECK(textOf("complex<f32>", 0x3F800000, 0xFF800000) == "(1,-inf)");
}

} // namespace nocturne::compiler
