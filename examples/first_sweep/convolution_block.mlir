// A residual block on 8 images of 56x56x64 in f16: two 3x3 convolutions with folded normalisation,
// a skip connection and a 2x2 max-pool. Layout NHWC, kernels HWIO.
//
// Arithmetic of one 3x3 convolution with padding 1: every output position takes 9 taps of 64 input
// channels for each of 64 output channels, except that taps which fall into the padding do nothing.
// Per spatial dimension 56 positions have 3 taps, less one at either edge: 3*56 - 2 = 166 of 168.
//   2 * 8 images * 166*166 (position, tap) pairs * 64*64 channels = 1,805,910,016
// and there are two of them.
module @convolution_block {
  func.func public @main(%x: tensor<8x56x56x64xf16>, %k1: tensor<3x3x64x64xf16>,
                         %scale1: tensor<64xf16>, %shift1: tensor<64xf16>,
                         %k2: tensor<3x3x64x64xf16>, %scale2: tensor<64xf16>,
                         %shift2: tensor<64xf16>) -> tensor<8x28x28x64xf16> {
    %zero = stablehlo.constant dense<0.0> : tensor<f16>
    %zeros = stablehlo.broadcast_in_dim %zero, dims = [] : (tensor<f16>) -> tensor<8x56x56x64xf16>

    %c1 = stablehlo.convolution(%x, %k1)
        dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
        window = {stride = [1, 1], pad = [[1, 1], [1, 1]]}
        {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
        : (tensor<8x56x56x64xf16>, tensor<3x3x64x64xf16>) -> tensor<8x56x56x64xf16>
    %scale1_b = stablehlo.broadcast_in_dim %scale1, dims = [3]
        : (tensor<64xf16>) -> tensor<8x56x56x64xf16>
    %shift1_b = stablehlo.broadcast_in_dim %shift1, dims = [3]
        : (tensor<64xf16>) -> tensor<8x56x56x64xf16>
    %n1 = stablehlo.multiply %c1, %scale1_b : tensor<8x56x56x64xf16>
    %s1 = stablehlo.add %n1, %shift1_b : tensor<8x56x56x64xf16>
    %r1 = stablehlo.maximum %s1, %zeros : tensor<8x56x56x64xf16>

    %c2 = stablehlo.convolution(%r1, %k2)
        dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
        window = {stride = [1, 1], pad = [[1, 1], [1, 1]]}
        {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
        : (tensor<8x56x56x64xf16>, tensor<3x3x64x64xf16>) -> tensor<8x56x56x64xf16>
    %scale2_b = stablehlo.broadcast_in_dim %scale2, dims = [3]
        : (tensor<64xf16>) -> tensor<8x56x56x64xf16>
    %shift2_b = stablehlo.broadcast_in_dim %shift2, dims = [3]
        : (tensor<64xf16>) -> tensor<8x56x56x64xf16>
    %n2 = stablehlo.multiply %c2, %scale2_b : tensor<8x56x56x64xf16>
    %s2 = stablehlo.add %n2, %shift2_b : tensor<8x56x56x64xf16>
    %skip = stablehlo.add %s2, %x : tensor<8x56x56x64xf16>
    %r2 = stablehlo.maximum %skip, %zeros : tensor<8x56x56x64xf16>

    %lowest = stablehlo.constant dense<0xFC00> : tensor<f16>
    %pooled = "stablehlo.reduce_window"(%r2, %lowest) ({
    ^bb0(%a: tensor<f16>, %b: tensor<f16>):
      %m = stablehlo.maximum %a, %b : tensor<f16>
      stablehlo.return %m : tensor<f16>
    }) {window_dimensions = array<i64: 1, 2, 2, 1>, window_strides = array<i64: 1, 2, 2, 1>}
        : (tensor<8x56x56x64xf16>, tensor<f16>) -> tensor<8x28x28x64xf16>
    return %pooled : tensor<8x28x28x64xf16>
  }
}
