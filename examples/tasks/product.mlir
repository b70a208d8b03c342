// A layer: a matrix product and what is positive of it.
module @product {
  func.func @main(%x: tensor<512x512xf32>, %w: tensor<512x512xf32>) -> tensor<512x512xf32> {
    %zero = stablehlo.constant dense<0.0> : tensor<512x512xf32>
    %product = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
        : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
    %positive = stablehlo.maximum %product, %zero : tensor<512x512xf32>
    return %positive : tensor<512x512xf32>
  }
}
