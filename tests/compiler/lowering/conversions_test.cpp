// Changes of type at the edges of their ranges.
#include <doctest/doctest.h>

#include "tests/compiler/lowering/run_operation.h"

using nocturne::compiler::runOperation;

namespace {

std::string runConvert(const std::string& from, const std::string& value, const std::string& to,
                       const std::string& expected, const std::string& name = "convert") {
  return runOperation({{from, value}},
                      "%out = stablehlo." + name + " %in0 : (" + from + ") -> " + to,
                      {to, expected});
}

} // namespace

TEST_CASE("integers change width by their sign") {
  CHECK(runConvert("tensor<2xi8>", "[-1, 5]", "tensor<2xi32>", "[-1, 5]") == "pass");
  CHECK(runConvert("tensor<2xui8>", "[255, 5]", "tensor<2xi32>", "[255, 5]") == "pass");
  CHECK(runConvert("tensor<2xi32>", "[511, -1]", "tensor<2xui8>", "[255, 255]") == "pass");
  CHECK(runConvert("tensor<3xi32>", "[0, 256, -1]", "tensor<3xi1>", "[false, true, true]") ==
        "pass");
  CHECK(runConvert("tensor<2xi1>", "[true, false]", "tensor<2xf32>", "[1.0, 0.0]") == "pass");
}

TEST_CASE("floats become integers towards zero and within the range") {
  CHECK(runConvert("tensor<6xf32>", "[1.9, -1.9, 0x7FC00000, 1.0e9, -1.0e9, 127.5]", "tensor<6xi8>",
                   "[1, -1, 0, 127, -128, 127]") == "pass");
  CHECK(runConvert("tensor<4xf32>", "[-1.0, 5.0e9, 4294967040.0, 0x7F800000]", "tensor<4xui32>",
                   "[0, 4294967295, 4294967040, 4294967295]") == "pass");
  CHECK(runConvert("tensor<3xf64>", "[-1.0e19, 1.0e19, -9223372036854775808.0]", "tensor<3xi64>",
                   "[-9223372036854775808, 9223372036854775807, -9223372036854775808]") == "pass");
  CHECK(runConvert("tensor<2xf64>", "[1.0e19, 1.0e20]", "tensor<2xui64>",
                   "[10000000000000000000, 18446744073709551615]") == "pass");
  CHECK(runConvert("tensor<4xf32>", "[0.0, -0.0, 0.1, 0x7FC00000]", "tensor<4xi1>",
                   "[false, false, true, true]") == "pass");
}

TEST_CASE("numbers are rounded once on their way to a narrow float") {
  // 1 + 2^-11 + 2^-40 lies above the middle of two f16; through f32 it would be on it.
  CHECK(runConvert("tensor<2xf64>", "[1.00048828125090949, 1.00048828125]", "tensor<2xf16>",
                   "[1.0009765625, 1.0]") == "pass");
  // 2^24 + 2^16 + 1, likewise for bf16.
  CHECK(runConvert("tensor<2xi32>", "[16842753, 16842752]", "tensor<2xbf16>",
                   "[1.6908288e+07, 1.6777216e+07]") == "pass");
  // 2^63 + 2^55 + 1 has more bits than f64.
  CHECK(runConvert("tensor<1xui64>", "[9259400833873739777]", "tensor<1xbf16>", "[0x5F01]") ==
        "pass");
  CHECK(runConvert("tensor<1xi64>", "[-4629700416936869889]", "tensor<1xbf16>", "[0xDE81]") ==
        "pass");
}

TEST_CASE("complex numbers gain and lose their imaginary part") {
  CHECK(runConvert("tensor<1xf32>", "[1.5]", "tensor<1xcomplex<f64>>", "[(1.5, 0.0)]") == "pass");
  CHECK(runConvert("tensor<1xcomplex<f64>>", "[(1.5, 2.5)]", "tensor<1xf32>", "[1.5]") == "pass");
  CHECK(runConvert("tensor<1xcomplex<f32>>", "[(1.5, 2.5)]", "tensor<1xcomplex<f64>>",
                   "[(1.5, 2.5)]") == "pass");
  CHECK(runConvert("tensor<1xcomplex<f32>>", "[(1.5, 2.5)]", "tensor<1xf32>", "[2.5]", "imag") ==
        "pass");
  CHECK(runConvert("tensor<1xcomplex<f32>>", "[(1.5, 2.5)]", "tensor<1xf32>", "[1.5]", "real") ==
        "pass");
  CHECK(runConvert("tensor<1xf32>", "[1.5]", "tensor<1xf32>", "[0.0]", "imag") == "pass");
}

TEST_CASE("reduce_precision rounds to even and drops what does not fit") {
  // f16: 65520 is too large, 1e-8 too small, 1 + 2^-11 a tie.
  CHECK(runOperation({{"tensor<6xf32>", "[65520.0, 1.0e-8, 1.00048828125, 0x7FC00000, -65519.0, "
                                        "1.00146484375]"}},
                     "%out = stablehlo.reduce_precision %in0, format = e5m10 : tensor<6xf32>",
                     {"tensor<6xf32>", "[0x7F800000, 0.0, 1.0, 0x7FC00000, -65504.0, "
                                       "1.001953125]"}) == "pass");
}

TEST_CASE("bits are cast to as many, to parts and back") {
  CHECK(runConvert("tensor<1xf32>", "[1.0]", "tensor<1xi32>", "[1065353216]", "bitcast_convert") ==
        "pass");
  // The lowest bits come first.
  CHECK(runConvert("tensor<1xui32>", "[67305985]", "tensor<1x4xui8>", "[[1, 2, 3, 4]]",
                   "bitcast_convert") == "pass");
  CHECK(runConvert("tensor<1x4xui8>", "[[1, 2, 3, 4]]", "tensor<1xui32>", "[67305985]",
                   "bitcast_convert") == "pass");
  CHECK(runConvert("tensor<2xi16>", "[0, 16256]", "tensor<f32>", "1.0", "bitcast_convert") ==
        "pass");
}
