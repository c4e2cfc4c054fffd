// Views of views, of nothing, of constants, of index expressions, of checked indices, of reductions and of a product.
func.func @main(%x: !hlir.tensor<[s, 3, 4], f32>, %w: !hlir.tensor<[4, 4], f32>, %i: !hlir.tensor<[s, 2], i64>) -> (!hlir.tensor<[2, s], i64>, !hlir.tensor<[s, 3, 4], f32>, !hlir.tensor<[4, s], f32>, !hlir.tensor<[2, s], i64>, !hlir.tensor<[3, s], f32>, !hlir.tensor<[3, s], f32>, !hlir.tensor<[3, s], f32>, !hlir.tensor<[3, s], f32>, !hlir.tensor<[s*3, 4], f32>) {
  %0 = hlir.view %x (d0, d1, d2) -> (d1, d0, d2) : (!hlir.tensor<[s, 3, 4], f32>) -> !hlir.tensor<[3, s, 4], f32>
  %1 = hlir.view %0 (d0, d1, d2) -> (d1, d0, d2) : (!hlir.tensor<[3, s, 4], f32>) -> !hlir.tensor<[s, 3, 4], f32>
  %2 = hlir.constant -0.0 : !hlir.tensor<[s, 4], f32>
  %3 = hlir.view %2 (d0, d1) -> (d1, d0) : (!hlir.tensor<[s, 4], f32>) -> !hlir.tensor<[4, s], f32>
  %4 = hlir.iota (d0, d1) -> (d0*7 - d1) : !hlir.tensor<[s, 2], i64>
  %5 = hlir.view %4 (d0, d1) -> (d1, d0) : (!hlir.tensor<[s, 2], i64>) -> !hlir.tensor<[2, s], i64>
  %6 = hlir.sum %x {axes = array<i64: 2>} : (!hlir.tensor<[s, 3, 4], f32>) -> !hlir.tensor<[s, 3], f32>
  %7 = hlir.view %6 (d0, d1) -> (d1, d0) : (!hlir.tensor<[s, 3], f32>) -> !hlir.tensor<[3, s], f32>
  %8 = hlir.prod %x {axes = array<i64: 2>} : (!hlir.tensor<[s, 3, 4], f32>) -> !hlir.tensor<[s, 3], f32>
  %9 = hlir.view %8 (d0, d1) -> (d1, d0) : (!hlir.tensor<[s, 3], f32>) -> !hlir.tensor<[3, s], f32>
  %10 = hlir.max %x {axes = array<i64: 2>} : (!hlir.tensor<[s, 3, 4], f32>) -> !hlir.tensor<[s, 3], f32>
  %11 = hlir.view %10 (d0, d1) -> (d1, d0) : (!hlir.tensor<[s, 3], f32>) -> !hlir.tensor<[3, s], f32>
  %12 = hlir.min %x {axes = array<i64: 2>} : (!hlir.tensor<[s, 3, 4], f32>) -> !hlir.tensor<[s, 3], f32>
  %13 = hlir.view %12 (d0, d1) -> (d1, d0) : (!hlir.tensor<[s, 3], f32>) -> !hlir.tensor<[3, s], f32>
  %14 = hlir.contract %x, %w {lhs_map = #hlir.map<(d0, d1, d2, d3) -> (d0, d1, d3)>, rhs_map = #hlir.map<(d0, d1, d2, d3) -> (d2, d3)>, axes = array<i64: 3>, space = #hlir.shape<[s, 3, 4, 4]>} : (!hlir.tensor<[s, 3, 4], f32>, !hlir.tensor<[4, 4], f32>) -> !hlir.tensor<[s, 3, 4], f32>
  %15 = hlir.view %14 (d0, d1) -> (floordiv(d0, 3), d0 - floordiv(d0, 3)*3, d1) : (!hlir.tensor<[s, 3, 4], f32>) -> !hlir.tensor<[s*3, 4], f32>
  %16 = hlir.constant 6 : !hlir.tensor<[s, 2], i64>
  %17 = hlir.check_index %i, %16 {error = "index"} : !hlir.tensor<[s, 2], i64>
  %18 = hlir.view %17 (d0, d1) -> (d1, d0) : (!hlir.tensor<[s, 2], i64>) -> !hlir.tensor<[2, s], i64>
  func.return %18, %1, %3, %5, %7, %9, %11, %13, %15 : !hlir.tensor<[2, s], i64>, !hlir.tensor<[s, 3, 4], f32>, !hlir.tensor<[4, s], f32>, !hlir.tensor<[2, s], i64>, !hlir.tensor<[3, s], f32>, !hlir.tensor<[3, s], f32>, !hlir.tensor<[3, s], f32>, !hlir.tensor<[3, s], f32>, !hlir.tensor<[s*3, 4], f32>
}
