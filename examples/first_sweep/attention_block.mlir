// Self-attention over a sequence of 512 tokens, 8 heads of 64, bf16 with f32 softmax, repeated by a
// counted loop over 4 layers that share their weights.
//
// Arithmetic of the contractions of one layer (2*M*N*K, times the batch of heads):
//   q, k, v and output projections   4 * 2*512*512*512 = 1,073,741,824
//   scores  q.k^T                    8 * 2*512*512*64  =   268,435,456
//   context p.v                      8 * 2*512*512*64  =   268,435,456
// 1,610,612,736 a layer, 6,442,450,944 for the four trips that the reader derives from the loop.
module @attention_block {
  func.func private @project(%x: tensor<512x512xbf16>, %w: tensor<512x512xbf16>)
      -> tensor<8x512x64xbf16> {
    %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
        : (tensor<512x512xbf16>, tensor<512x512xbf16>) -> tensor<512x512xbf16>
    %heads = stablehlo.reshape %y : (tensor<512x512xbf16>) -> tensor<512x8x64xbf16>
    %t = stablehlo.transpose %heads, dims = [1, 0, 2]
        : (tensor<512x8x64xbf16>) -> tensor<8x512x64xbf16>
    return %t : tensor<8x512x64xbf16>
  }

  func.func private @layer(%x: tensor<512x512xbf16>, %wq: tensor<512x512xbf16>,
                           %wk: tensor<512x512xbf16>, %wv: tensor<512x512xbf16>,
                           %wo: tensor<512x512xbf16>) -> tensor<512x512xbf16> {
    %q = call @project(%x, %wq)
        : (tensor<512x512xbf16>, tensor<512x512xbf16>) -> tensor<8x512x64xbf16>
    %k = call @project(%x, %wk)
        : (tensor<512x512xbf16>, tensor<512x512xbf16>) -> tensor<8x512x64xbf16>
    %v = call @project(%x, %wv)
        : (tensor<512x512xbf16>, tensor<512x512xbf16>) -> tensor<8x512x64xbf16>
    %scores = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2]
        : (tensor<8x512x64xbf16>, tensor<8x512x64xbf16>) -> tensor<8x512x512xf32>
    %scale = stablehlo.constant dense<1.250000e-01> : tensor<8x512x512xf32>
    %scaled = stablehlo.multiply %scores, %scale : tensor<8x512x512xf32>
    %lowest = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %max = stablehlo.reduce(%scaled init: %lowest) applies stablehlo.maximum across dimensions = [2]
        : (tensor<8x512x512xf32>, tensor<f32>) -> tensor<8x512xf32>
    %max_b = stablehlo.broadcast_in_dim %max, dims = [0, 1]
        : (tensor<8x512xf32>) -> tensor<8x512x512xf32>
    %shifted = stablehlo.subtract %scaled, %max_b : tensor<8x512x512xf32>
    %exp = stablehlo.exponential %shifted : tensor<8x512x512xf32>
    %sum = stablehlo.reduce(%exp init: %zero) applies stablehlo.add across dimensions = [2]
        : (tensor<8x512x512xf32>, tensor<f32>) -> tensor<8x512xf32>
    %sum_b = stablehlo.broadcast_in_dim %sum, dims = [0, 1]
        : (tensor<8x512xf32>) -> tensor<8x512x512xf32>
    %p32 = stablehlo.divide %exp, %sum_b : tensor<8x512x512xf32>
    %p = stablehlo.convert %p32 : (tensor<8x512x512xf32>) -> tensor<8x512x512xbf16>
    %context = stablehlo.dot_general %p, %v, batching_dims = [0] x [0], contracting_dims = [2] x [1]
        : (tensor<8x512x512xbf16>, tensor<8x512x64xbf16>) -> tensor<8x512x64xbf16>
    %rows = stablehlo.transpose %context, dims = [1, 0, 2]
        : (tensor<8x512x64xbf16>) -> tensor<512x8x64xbf16>
    %flat = stablehlo.reshape %rows : (tensor<512x8x64xbf16>) -> tensor<512x512xbf16>
    %out = stablehlo.dot_general %flat, %wo, contracting_dims = [1] x [0]
        : (tensor<512x512xbf16>, tensor<512x512xbf16>) -> tensor<512x512xbf16>
    %residual = stablehlo.add %x, %out : tensor<512x512xbf16>
    return %residual : tensor<512x512xbf16>
  }

  func.func public @main(%x: tensor<512x512xbf16>, %wq: tensor<512x512xbf16>,
                         %wk: tensor<512x512xbf16>, %wv: tensor<512x512xbf16>,
                         %wo: tensor<512x512xbf16>) -> tensor<512x512xbf16> {
    %first = stablehlo.constant dense<0> : tensor<i32>
    %result:2 = stablehlo.while(%i = %first, %state = %x) : tensor<i32>, tensor<512x512xbf16>
    cond {
      %layers = stablehlo.constant dense<4> : tensor<i32>
      %more = stablehlo.compare LT, %i, %layers, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %more : tensor<i1>
    } do {
      %next_state = func.call @layer(%state, %wq, %wk, %wv, %wo)
          : (tensor<512x512xbf16>, tensor<512x512xbf16>, tensor<512x512xbf16>,
             tensor<512x512xbf16>, tensor<512x512xbf16>) -> tensor<512x512xbf16>
      %one = stablehlo.constant dense<1> : tensor<i32>
      %next = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %next, %next_state : tensor<i32>, tensor<512x512xbf16>
    }
    return %result#1 : tensor<512x512xbf16>
  }
}
