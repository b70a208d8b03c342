// Cuts matrix products into blocks that stay in a cache while they are used. What becomes of the
// blocks is left to the compiler.
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%module: !transform.any_op) {
    %product = transform.structured.match ops{["linalg.matmul"]} in %module
        : (!transform.any_op) -> !transform.any_op
    %block, %loops:3 = transform.structured.tile_using_for %product tile_sizes [64, 64, 64]
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op, !transform.any_op)
    transform.yield
  }
}
