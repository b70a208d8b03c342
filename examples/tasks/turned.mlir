// The same as product.mlir: the product of the transposed matrices, transposed.
module @turned {
  func.func @main(%x: tensor<512x512xf32>, %w: tensor<512x512xf32>) -> tensor<512x512xf32> {
    %zero = stablehlo.constant dense<0.0> : tensor<512x512xf32>
    %product = stablehlo.dot_general %w, %x, contracting_dims = [0] x [1]
        : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
    %turned = stablehlo.transpose %product, dims = [1, 0]
        : (tensor<512x512xf32>) -> tensor<512x512xf32>
    %positive = stablehlo.maximum %turned, %zero : tensor<512x512xf32>
    return %positive : tensor<512x512xf32>
  }
}
