// Views that repeat results stay outside what they repeat: the sum and the product would be computed many times.
func.func @main(%x: !hlir.tensor<[s, 3], f32>, %w: !hlir.tensor<[4, 3], f32>) -> (!hlir.tensor<[s, 6], f32>, !hlir.tensor<[5, s, 4], f32>) {
  %0 = hlir.sum %x {axes = array<i64: 1>} : (!hlir.tensor<[s, 3], f32>) -> !hlir.tensor<[s], f32>
  %1 = hlir.view %0 (d0, d1) -> (d0) : (!hlir.tensor<[s], f32>) -> !hlir.tensor<[s, 6], f32>
  %2 = hlir.contract %x, %w {lhs_map = #hlir.map<(d0, d1, d2) -> (d0, d2)>, rhs_map = #hlir.map<(d0, d1, d2) -> (d1, d2)>, axes = array<i64: 2>, space = #hlir.shape<[s, 4, 3]>} : (!hlir.tensor<[s, 3], f32>, !hlir.tensor<[4, 3], f32>) -> !hlir.tensor<[s, 4], f32>
  %3 = hlir.view %2 (d0, d1, d2) -> (d1, d2) : (!hlir.tensor<[s, 4], f32>) -> !hlir.tensor<[5, s, 4], f32>
  func.return %1, %3 : !hlir.tensor<[s, 6], f32>, !hlir.tensor<[5, s, 4], f32>
}
