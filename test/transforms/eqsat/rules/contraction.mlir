// Products and sums written out, views on both sides, operands swapped; a narrow product in wide ops.
func.func @main(%x: !hlir.tensor<[s, 5], f32>, %w: !hlir.tensor<[3, 5], f32>, %b: !hlir.tensor<[3], f32>, %h: !hlir.tensor<[s, 5], bf16>, %g: !hlir.tensor<[3, 5], bf16>) -> (!hlir.tensor<[s, 3], f32>, !hlir.tensor<[s, 3], f32>, !hlir.tensor<[3, s], bf16>) {
  %0 = hlir.view %x (d0, d1, d2) -> (d0, d2) : (!hlir.tensor<[s, 5], f32>) -> !hlir.tensor<[s, 3, 5], f32>
  %1 = hlir.view %w (d0, d1) -> (d1, d0) : (!hlir.tensor<[3, 5], f32>) -> !hlir.tensor<[5, 3], f32>
  %2 = hlir.view %1 (d0, d1, d2) -> (d2, d1) : (!hlir.tensor<[5, 3], f32>) -> !hlir.tensor<[s, 3, 5], f32>
  %3 = hlir.mul %2, %0 : !hlir.tensor<[s, 3, 5], f32>
  %4 = hlir.sum %3 {axes = array<i64: 2>} : (!hlir.tensor<[s, 3, 5], f32>) -> !hlir.tensor<[s, 3], f32>
  %5 = hlir.view %b (d0, d1) -> (d1) : (!hlir.tensor<[3], f32>) -> !hlir.tensor<[s, 3], f32>
  %6 = hlir.add %4, %5 : !hlir.tensor<[s, 3], f32>
  %7 = hlir.cast %h {dtype = f32} : (!hlir.tensor<[s, 5], bf16>) -> !hlir.tensor<[s, 5], f32>
  %8 = hlir.cast %g {dtype = f32} : (!hlir.tensor<[3, 5], bf16>) -> !hlir.tensor<[3, 5], f32>
  %9 = hlir.contract %8, %7 {lhs_map = #hlir.map<(d0, d1, d2) -> (d0, d2)>, rhs_map = #hlir.map<(d0, d1, d2) -> (d1, d2)>, axes = array<i64: 2>, space = #hlir.shape<[3, s, 5]>} : (!hlir.tensor<[3, 5], f32>, !hlir.tensor<[s, 5], f32>) -> !hlir.tensor<[3, s], f32>
  %10 = hlir.cast %9 {dtype = bf16} : (!hlir.tensor<[3, s], f32>) -> !hlir.tensor<[3, s], bf16>
  func.return %4, %6, %10 : !hlir.tensor<[s, 3], f32>, !hlir.tensor<[s, 3], f32>, !hlir.tensor<[3, s], bf16>
}
