// One training step of a two-layer perceptron, batch 32, 784 -> 256 -> 10, softmax cross-entropy, SGD.
//
// Arithmetic of the contractions (2*M*N*K each):
//   forward   x.w1        2*32*256*784 = 12,845,056
//             h.w2        2*32*10*256  =    163,840
//   backward  h^T.dlogits 2*256*10*32  =    163,840
//             dlogits.w2^T 2*32*256*10 =    163,840
//             x^T.dh      2*784*256*32 = 12,845,056
// together 26,181,632 of the step's operations; the rest is elementwise.
module @mlp_train_step {
  func.func public @main(%x: tensor<32x784xf32>, %labels: tensor<32x10xf32>,
                         %w1: tensor<784x256xf32>, %b1: tensor<256xf32>,
                         %w2: tensor<256x10xf32>, %b2: tensor<10xf32>)
      -> (tensor<784x256xf32>, tensor<256xf32>, tensor<256x10xf32>, tensor<10xf32>) {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %lowest = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %zeros = stablehlo.broadcast_in_dim %zero, dims = [] : (tensor<f32>) -> tensor<32x256xf32>

    // Forward.
    %xw1 = stablehlo.dot_general %x, %w1, contracting_dims = [1] x [0]
        : (tensor<32x784xf32>, tensor<784x256xf32>) -> tensor<32x256xf32>
    %b1_rows = stablehlo.broadcast_in_dim %b1, dims = [1] : (tensor<256xf32>) -> tensor<32x256xf32>
    %pre = stablehlo.add %xw1, %b1_rows : tensor<32x256xf32>
    %h = stablehlo.maximum %pre, %zeros : tensor<32x256xf32>
    %hw2 = stablehlo.dot_general %h, %w2, contracting_dims = [1] x [0]
        : (tensor<32x256xf32>, tensor<256x10xf32>) -> tensor<32x10xf32>
    %b2_rows = stablehlo.broadcast_in_dim %b2, dims = [1] : (tensor<10xf32>) -> tensor<32x10xf32>
    %logits = stablehlo.add %hw2, %b2_rows : tensor<32x10xf32>

    // Softmax.
    %max = stablehlo.reduce(%logits init: %lowest) applies stablehlo.maximum across dimensions = [1]
        : (tensor<32x10xf32>, tensor<f32>) -> tensor<32xf32>
    %max_rows = stablehlo.broadcast_in_dim %max, dims = [0] : (tensor<32xf32>) -> tensor<32x10xf32>
    %shifted = stablehlo.subtract %logits, %max_rows : tensor<32x10xf32>
    %exp = stablehlo.exponential %shifted : tensor<32x10xf32>
    %sum = stablehlo.reduce(%exp init: %zero) applies stablehlo.add across dimensions = [1]
        : (tensor<32x10xf32>, tensor<f32>) -> tensor<32xf32>
    %sum_rows = stablehlo.broadcast_in_dim %sum, dims = [0] : (tensor<32xf32>) -> tensor<32x10xf32>
    %p = stablehlo.divide %exp, %sum_rows : tensor<32x10xf32>

    // Backward.
    %scale = stablehlo.constant dense<3.125000e-02> : tensor<32x10xf32>
    %diff = stablehlo.subtract %p, %labels : tensor<32x10xf32>
    %dlogits = stablehlo.multiply %diff, %scale : tensor<32x10xf32>
    %dw2 = stablehlo.dot_general %h, %dlogits, contracting_dims = [0] x [0]
        : (tensor<32x256xf32>, tensor<32x10xf32>) -> tensor<256x10xf32>
    %db2 = stablehlo.reduce(%dlogits init: %zero) applies stablehlo.add across dimensions = [0]
        : (tensor<32x10xf32>, tensor<f32>) -> tensor<10xf32>
    %dh_all = stablehlo.dot_general %dlogits, %w2, contracting_dims = [1] x [1]
        : (tensor<32x10xf32>, tensor<256x10xf32>) -> tensor<32x256xf32>
    %alive = stablehlo.compare GT, %pre, %zeros, FLOAT
        : (tensor<32x256xf32>, tensor<32x256xf32>) -> tensor<32x256xi1>
    %dh = stablehlo.select %alive, %dh_all, %zeros : tensor<32x256xi1>, tensor<32x256xf32>
    %dw1 = stablehlo.dot_general %x, %dh, contracting_dims = [0] x [0]
        : (tensor<32x784xf32>, tensor<32x256xf32>) -> tensor<784x256xf32>
    %db1 = stablehlo.reduce(%dh init: %zero) applies stablehlo.add across dimensions = [0]
        : (tensor<32x256xf32>, tensor<f32>) -> tensor<256xf32>

    // Update with learning rate 0.1.
    %lr = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %lr_w1 = stablehlo.broadcast_in_dim %lr, dims = [] : (tensor<f32>) -> tensor<784x256xf32>
    %step_w1 = stablehlo.multiply %dw1, %lr_w1 : tensor<784x256xf32>
    %new_w1 = stablehlo.subtract %w1, %step_w1 : tensor<784x256xf32>
    %lr_b1 = stablehlo.broadcast_in_dim %lr, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %step_b1 = stablehlo.multiply %db1, %lr_b1 : tensor<256xf32>
    %new_b1 = stablehlo.subtract %b1, %step_b1 : tensor<256xf32>
    %lr_w2 = stablehlo.broadcast_in_dim %lr, dims = [] : (tensor<f32>) -> tensor<256x10xf32>
    %step_w2 = stablehlo.multiply %dw2, %lr_w2 : tensor<256x10xf32>
    %new_w2 = stablehlo.subtract %w2, %step_w2 : tensor<256x10xf32>
    %lr_b2 = stablehlo.broadcast_in_dim %lr, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %step_b2 = stablehlo.multiply %db2, %lr_b2 : tensor<10xf32>
    %new_b2 = stablehlo.subtract %b2, %step_b2 : tensor<10xf32>
    return %new_w1, %new_b1, %new_w2, %new_b2
        : tensor<784x256xf32>, tensor<256xf32>, tensor<256x10xf32>, tensor<10xf32>
  }
}
