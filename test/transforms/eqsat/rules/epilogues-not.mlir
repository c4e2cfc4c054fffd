// A factor, an activation that no epilogue computes.
func.func @main(%x: !hlir.tensor<[s, 5], f32>, %w: !hlir.tensor<[5, s], f32>, %c: !hlir.tensor<[s], f32>, %r: !hlir.tensor<[s, s], f32>) -> (!hlir.tensor<[s, s], f32>, !hlir.tensor<[s, s], f32>, !hlir.tensor<[s, s], f32>, !hlir.tensor<[s, s], f32>) {
  %0 = hlir.contract %x, %w {lhs_map = #hlir.map<(d0, d1, d2) -> (d0, d2)>, rhs_map = #hlir.map<(d0, d1, d2) -> (d2, d1)>, axes = array<i64: 2>, space = #hlir.shape<[s, s, 5]>} : (!hlir.tensor<[s, 5], f32>, !hlir.tensor<[5, s], f32>) -> !hlir.tensor<[s, s], f32>
  %1 = hlir.view %c (d0, d1) -> (d0) : (!hlir.tensor<[s], f32>) -> !hlir.tensor<[s, s], f32>
  %2 = hlir.mul %0, %1 : !hlir.tensor<[s, s], f32>
  %3 = hlir.gelu %0 {approximate = "tanh"} : !hlir.tensor<[s, s], f32>
  %4 = hlir.mul %0, %r : !hlir.tensor<[s, s], f32>
  %5 = hlir.tanh %0 : !hlir.tensor<[s, s], f32>
  func.return %2, %3, %4, %5 : !hlir.tensor<[s, s], f32>, !hlir.tensor<[s, s], f32>, !hlir.tensor<[s, s], f32>, !hlir.tensor<[s, s], f32>
}
