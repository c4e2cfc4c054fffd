// A factor, an activation that no epilogue computes; a bias that is the front of a longer vector.
func.func @main(%x: !hlir.tensor<[s, 5], f32>, %w: !hlir.tensor<[5, s], f32>, %c: !hlir.tensor<[s], f32>, %r: !hlir.tensor<[s, s], f32>, %y: !hlir.tensor<[s, 3], f32>, %v: !hlir.tensor<[3, 4], f32>, %long: !hlir.tensor<[8], f32>) -> (!hlir.tensor<[s, 4], f32>, !hlir.tensor<[s, s], f32>, !hlir.tensor<[s, s], f32>, !hlir.tensor<[s, s], f32>, !hlir.tensor<[s, s], f32>) {
  %0 = hlir.contract %x, %w {lhs_map = #hlir.map<(d0, d1, d2) -> (d0, d2)>, rhs_map = #hlir.map<(d0, d1, d2) -> (d2, d1)>, axes = array<i64: 2>, space = #hlir.shape<[s, s, 5]>} : (!hlir.tensor<[s, 5], f32>, !hlir.tensor<[5, s], f32>) -> !hlir.tensor<[s, s], f32>
  %1 = hlir.view %c (d0, d1) -> (d0) : (!hlir.tensor<[s], f32>) -> !hlir.tensor<[s, s], f32>
  %2 = hlir.mul %0, %1 : !hlir.tensor<[s, s], f32>
  %3 = hlir.gelu %0 {approximate = "tanh"} : !hlir.tensor<[s, s], f32>
  %4 = hlir.mul %0, %r : !hlir.tensor<[s, s], f32>
  %5 = hlir.tanh %0 : !hlir.tensor<[s, s], f32>
  %6 = hlir.view %long (d0, d1) -> (d1) : (!hlir.tensor<[8], f32>) -> !hlir.tensor<[s, 4], f32>
  %8 = hlir.contract %y, %v {lhs_map = #hlir.map<(d0, d1, d2) -> (d0, d2)>, rhs_map = #hlir.map<(d0, d1, d2) -> (d2, d1)>, axes = array<i64: 2>, space = #hlir.shape<[s, 4, 3]>} : (!hlir.tensor<[s, 3], f32>, !hlir.tensor<[3, 4], f32>) -> !hlir.tensor<[s, 4], f32>
  %7 = hlir.add %8, %6 : !hlir.tensor<[s, 4], f32>
  func.return %7, %2, %3, %4, %5 : !hlir.tensor<[s, 4], f32>, !hlir.tensor<[s, s], f32>, !hlir.tensor<[s, s], f32>, !hlir.tensor<[s, s], f32>, !hlir.tensor<[s, s], f32>
}
