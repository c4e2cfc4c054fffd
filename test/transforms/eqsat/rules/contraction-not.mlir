// A sum of products that were rounded to bf16, a sum of squares, and an outer product without a sum: none is a contraction.
func.func @main(%x: !hlir.tensor<[s, 5], bf16>, %w: !hlir.tensor<[3, 5], bf16>, %y: !hlir.tensor<[5, s], f32>) -> (!hlir.tensor<[s, 3], bf16>, !hlir.tensor<[s], f32>, !hlir.tensor<[s, 3, 5], bf16>) {
  %0 = hlir.view %x (d0, d1, d2) -> (d0, d2) : (!hlir.tensor<[s, 5], bf16>) -> !hlir.tensor<[s, 3, 5], bf16>
  %1 = hlir.view %w (d0, d1, d2) -> (d1, d2) : (!hlir.tensor<[3, 5], bf16>) -> !hlir.tensor<[s, 3, 5], bf16>
  %2 = hlir.mul %0, %1 : !hlir.tensor<[s, 3, 5], bf16>
  %3 = hlir.sum %2 {axes = array<i64: 2>} : (!hlir.tensor<[s, 3, 5], bf16>) -> !hlir.tensor<[s, 3], bf16>
  %4 = hlir.view %y (d0, d1) -> (d1, d0) : (!hlir.tensor<[5, s], f32>) -> !hlir.tensor<[s, 5], f32>
  %5 = hlir.mul %4, %4 : !hlir.tensor<[s, 5], f32>
  %6 = hlir.sum %5 {axes = array<i64: 1>} : (!hlir.tensor<[s, 5], f32>) -> !hlir.tensor<[s], f32>
  func.return %3, %6, %2 : !hlir.tensor<[s, 3], bf16>, !hlir.tensor<[s], f32>, !hlir.tensor<[s, 3, 5], bf16>
}
