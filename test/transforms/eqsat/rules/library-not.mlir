// No unit stride, and heads merged in the summed index: a library cannot read these where they lie.
func.func @main(%x: !hlir.tensor<[s, 6], f32>, %w: !hlir.tensor<[5], f32>, %v: !hlir.tensor<[3, 4], f32>, %h: !hlir.tensor<[2, 2, s, 4], f32>, %o: !hlir.tensor<[8, 6], f32>) -> (!hlir.tensor<[s, 4], f32>, !hlir.tensor<[2, s, 6], f32>) {
  %0 = hlir.view %x (d0, d1) -> (d0, d1*2) : (!hlir.tensor<[s, 6], f32>) -> !hlir.tensor<[s, 3], f32>
  %1 = hlir.contract %0, %v {lhs_map = #hlir.map<(d0, d1, d2) -> (d0, d2)>, rhs_map = #hlir.map<(d0, d1, d2) -> (d2, d1)>, axes = array<i64: 2>, space = #hlir.shape<[s, 4, 3]>} : (!hlir.tensor<[s, 3], f32>, !hlir.tensor<[3, 4], f32>) -> !hlir.tensor<[s, 4], f32>
  %2 = hlir.view %h (d0, d1, d2) -> (d0, floordiv(d2, 4), d1, d2 - floordiv(d2, 4)*4) : (!hlir.tensor<[2, 2, s, 4], f32>) -> !hlir.tensor<[2, s, 8], f32>
  %3 = hlir.view %o (d0, d1, d2) -> (d1, d2) : (!hlir.tensor<[8, 6], f32>) -> !hlir.tensor<[2, 8, 6], f32>
  %4 = hlir.contract %2, %3 {lhs_map = #hlir.map<(d0, d1, d2, d3) -> (d0, d1, d3)>, rhs_map = #hlir.map<(d0, d1, d2, d3) -> (d0, d3, d2)>, axes = array<i64: 3>, space = #hlir.shape<[2, s, 6, 8]>} : (!hlir.tensor<[2, s, 8], f32>, !hlir.tensor<[2, 8, 6], f32>) -> !hlir.tensor<[2, s, 6], f32>
  func.return %1, %4 : !hlir.tensor<[s, 4], f32>, !hlir.tensor<[2, s, 6], f32>
}
