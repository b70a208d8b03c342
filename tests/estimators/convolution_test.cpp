#include "estimators/work.h"
#include "ops.h"

using namespace nocturne;
using namespace nocturne::test;

namespace {

// NHWC x HWIO -> NHWC.
ConvolutionAttributes channelsLast(int64_t size, int64_t stride, int64_t low, int64_t high) {
  ConvolutionAttributes out;
  out.lhsBatch = 0;
  out.lhsFeature = 3;
  out.rhsInputFeature = 2;
  out.rhsOutputFeature = 3;
  out.outBatch = 0;
  out.outFeature = 3;
  out.lhsSpatial = out.outSpatial = {1, 2};
  out.rhsSpatial = {0, 1};
  out.window = {{size, size}, {stride, stride},           {1, 1},
                {1, 1},       {{low, high}, {low, high}}, {false, false}};
  return out;
}

WindowAttributes window(int64_t size, int64_t stride, int64_t base, int64_t spread, int64_t low) {
  return {{size}, {stride}, {base}, {spread}, {{low, low}}, {false}};
}

// The definition, position by position.
double countedTaps(int64_t input, int64_t outputs, const WindowAttributes& w) {
  double pairs = 0;
  for (int64_t o = 0; o < outputs; ++o)
    for (int64_t tap = 0; tap < w.sizes[0]; ++tap) {
      int64_t at = o * w.strides[0] + tap * w.windowDilations[0] - w.padding[0].first;
      bool inside = at >= 0 && at <= (input - 1) * w.baseDilations[0];
      pairs += inside && at % w.baseDilations[0] == 0 ? 1 : 0;
    }
  return pairs;
}

} // namespace

TEST_CASE("useful taps: those that meet an element of the input") {
  CHECK(usefulTaps(4, 2, window(3, 1, 1, 1, 0), 0) == 6);  // no padding: all of 2 * 3
  CHECK(usefulTaps(4, 4, window(3, 1, 1, 1, 1), 0) == 10); // 12, less one at each end
  CHECK(usefulTaps(3, 5, window(3, 1, 2, 1, 1), 0) == 7);  // x.x.x with a hole at every second
  for (int64_t input : {1, 4, 7})
    for (int64_t size : {1, 2, 3, 5})
      for (int64_t stride : {1, 2, 3})
        for (int64_t base : {1, 2, 3, 4})
          for (int64_t spread : {1, 2, 3})
            for (int64_t low : {-1, 0, 1, 4}) {
              WindowAttributes w = window(size, stride, base, spread, low);
              CAPTURE(input);
              CAPTURE(size);
              CAPTURE(stride);
              CAPTURE(base);
              CAPTURE(spread);
              CAPTURE(low);
              REQUIRE(usefulTaps(static_cast<double>(input), 9, w, 0) == countedTaps(input, 9, w));
            }
}

TEST_CASE("taps that cannot meet the input are not visited") {
  // One tap of the 10^12 sits on the only element.
  CHECK(usefulTaps(1, 1, window(1'000'000'000'000, 1, 1, 1, 0), 0) == 1);
  // Too many to look at: all are taken as useful.
  CHECK(usefulTaps(1e12, 1, window(1'000'000'000'000, 1, 1, 1, 0), 0) == 1e12);
  CHECK(usefulTaps(1e18, 1e18, window(2, 4, 1, 1, 0), 0) == 2e18);
}

TEST_CASE("a convolution counts by its dimension numbers") {
  // The stem of ResNet-50 without its padding would be 2 * n(out) * 7 * 7 * 3; the padding of 2 and
  // 3 leaves 112 * 7 - (2 + 0) - (0 + 1 + 3) taps along each dimension.
  ConvolutionAttributes stem = channelsLast(7, 2, 2, 3);
  double taps = usefulTaps(224, 112, stem.window, 0);
  CHECK(taps == countedTaps(224, 112, window(7, 2, 1, 1, 2)));
  CHECK(flopsOf(op("stablehlo.convolution", "256x224x224x3xf16 7x7x3x64xf16", "256x112x112x64xf16",
                   stem)) == 2.0 * 256 * 64 * 3 * taps * taps);
  CHECK(flopsOf(op("stablehlo.convolution", "256x56x56x64xf16 1x1x64x64xf16", "256x56x56x64xf16",
                   channelsLast(1, 1, 0, 0))) == 6576668672.0);
  // A kernel stored [0, 1, o, i].
  ConvolutionAttributes swapped = channelsLast(1, 1, 0, 0);
  swapped.rhsInputFeature = 3;
  swapped.rhsOutputFeature = 2;
  CHECK(flopsOf(op("stablehlo.convolution", "256x7x7x2048xf16 1x1x512x2048xf16", "256x7x7x512xf16",
                   swapped)) == 2.0 * 256 * 7 * 7 * 512 * 2048);
}

TEST_CASE("groups divide the work") {
  ConvolutionAttributes depthwise = channelsLast(3, 1, 0, 0);
  depthwise.featureGroups = 8;
  CHECK(flopsOf(op("stablehlo.convolution", "1x6x6x8xf32 3x3x1x8xf32", "1x4x4x8xf32", depthwise)) ==
        2.0 * 4 * 4 * 8 * 9);
  ConvolutionAttributes batched = channelsLast(3, 1, 0, 0);
  batched.batchGroups = 4;
  CHECK(flopsOf(op("stablehlo.convolution", "8x6x6x5xf32 3x3x5x4xf32", "2x4x4x4xf32", batched)) ==
        2.0 * 2 * 4 * 4 * 4 * 9 * 5);
}

TEST_CASE("f32 convolutions use tf32 unless they ask for more") {
  Json machine = {{"peak_flops", 1e12},
                  {"memory_bandwidth", 1e30},
                  {"per_datatype_flops", {{"f32", 1e12}, {"tf32", 2e12}}}};
  // 2 * 10 * 10 places * 10 * 10 features: 20,000 operations.
  auto seconds = [&](std::vector<std::string> precision) {
    ConvolutionAttributes point = channelsLast(1, 1, 0, 0);
    point.precision = std::move(precision);
    OpInfo info = op("stablehlo.convolution", "1x10x10x10xf32 1x1x10x10xf32", "1x10x10x10xf32",
                     std::move(point));
    return *make("roofline", machine)->getEstimate(moduleOf({info})).runtime;
  };
  CHECK(seconds({}) == doctest::Approx(1e-8));
  CHECK(seconds({"DEFAULT", "DEFAULT"}) == doctest::Approx(1e-8));
  CHECK(seconds({"HIGH", "HIGH"}) == doctest::Approx(2e-8));
  CHECK(seconds({"DEFAULT", "HIGHEST"}) == doctest::Approx(2e-8));
}

TEST_CASE("complex convolutions take four real multiply-adds for each") {
  CHECK(flopsOf(op("stablehlo.convolution", "1x10x10x10xcomplex<f32> 1x1x10x10xcomplex<f32>",
                   "1x10x10x10xcomplex<f32>", channelsLast(1, 1, 0, 0))) == 80000);
}

TEST_CASE("a convolution of one dimension counts the taps along it") {
  ConvolutionAttributes line;
  line.lhsFeature = line.rhsInputFeature = line.outFeature = 1;
  line.lhsSpatial = line.rhsSpatial = line.outSpatial = {2};
  line.rhsOutputFeature = 0;
  line.window = window(3, 1, 1, 1, 0);
  CHECK(flopsOf(op("stablehlo.convolution", "1x2x10xf32 4x2x3xf32", "1x4x8xf32", line)) ==
        2.0 * 8 * 3 * 2 * 4);
}

TEST_CASE("a library convolution and its gradients take the same operations") {
  std::string input = "256x56x56x64xf32", kernel = "3x3x64x32xf32", output = "256x56x56x32xf32";
  double expected = 2.0 * 256 * 56 * 56 * 32 * 9 * 64;
  CHECK(flopsOf(customCall("__cudnn$convForward", input + ' ' + kernel, output)) == expected);
  CHECK(flopsOf(customCall("__cudnn$convBackwardInput", output + ' ' + kernel, input)) == expected);
  CHECK(flopsOf(customCall("__cudnn$convBackwardFilter", input + ' ' + output, kernel)) ==
        expected);
}
