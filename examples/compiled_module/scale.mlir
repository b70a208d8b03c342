// y = 2 x + b, row by row.
func.func public @main(%x: tensor<2x3xf32>, %b: tensor<3xf32>) -> tensor<2x3xf32> {
  %two = stablehlo.constant dense<2.0> : tensor<2x3xf32>
  %scaled = stablehlo.multiply %x, %two : tensor<2x3xf32>
  %rows = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<3xf32>) -> tensor<2x3xf32>
  %y = stablehlo.add %scaled, %rows : tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}
