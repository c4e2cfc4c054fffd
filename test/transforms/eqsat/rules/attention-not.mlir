// Softmax along the queries, and a mask that multiplies.
func.func @main(%q: !hlir.tensor<[2, 3, 4, 4], f32>, %k: !hlir.tensor<[2, 3, 5, 4], f32>, %v: !hlir.tensor<[2, 3, 5, 6], f32>, %mask: !hlir.tensor<[2, 3, 4, 5], f32>) -> (!hlir.tensor<[2, 3, 4, 6], f32>, !hlir.tensor<[2, 3, 4, 6], f32>) {
  %0 = hlir.view %k (d0, d1, d2, d3) -> (d0, d1, d3, d2) : (!hlir.tensor<[2, 3, 5, 4], f32>) -> !hlir.tensor<[2, 3, 4, 5], f32>
  %1 = hlir.contract %q, %0 {lhs_map = #hlir.map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d4)>, rhs_map = #hlir.map<(d0, d1, d2, d3, d4) -> (d0, d1, d4, d3)>, axes = array<i64: 4>, space = #hlir.shape<[2, 3, 4, 5, 4]>} : (!hlir.tensor<[2, 3, 4, 4], f32>, !hlir.tensor<[2, 3, 4, 5], f32>) -> !hlir.tensor<[2, 3, 4, 5], f32>
  %2 = hlir.constant 0.3 : !hlir.tensor<[2, 3, 4, 5], f32>
  %3 = hlir.mul %1, %2 : !hlir.tensor<[2, 3, 4, 5], f32>
  %4 = hlir.max %3 {axes = array<i64: 2>} : (!hlir.tensor<[2, 3, 4, 5], f32>) -> !hlir.tensor<[2, 3, 5], f32>
  %5 = hlir.view %4 (d0, d1, d2, d3) -> (d0, d1, d3) : (!hlir.tensor<[2, 3, 5], f32>) -> !hlir.tensor<[2, 3, 4, 5], f32>
  %6 = hlir.sub %3, %5 : !hlir.tensor<[2, 3, 4, 5], f32>
  %7 = hlir.exp %6 : !hlir.tensor<[2, 3, 4, 5], f32>
  %8 = hlir.sum %7 {axes = array<i64: 2>} : (!hlir.tensor<[2, 3, 4, 5], f32>) -> !hlir.tensor<[2, 3, 5], f32>
  %9 = hlir.view %8 (d0, d1, d2, d3) -> (d0, d1, d3) : (!hlir.tensor<[2, 3, 5], f32>) -> !hlir.tensor<[2, 3, 4, 5], f32>
  %10 = hlir.div %7, %9 : !hlir.tensor<[2, 3, 4, 5], f32>
  %11 = hlir.contract %10, %v {lhs_map = #hlir.map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d4)>, rhs_map = #hlir.map<(d0, d1, d2, d3, d4) -> (d0, d1, d4, d3)>, axes = array<i64: 4>, space = #hlir.shape<[2, 3, 4, 6, 5]>} : (!hlir.tensor<[2, 3, 4, 5], f32>, !hlir.tensor<[2, 3, 5, 6], f32>) -> !hlir.tensor<[2, 3, 4, 6], f32>
  %12 = hlir.mul %3, %mask : !hlir.tensor<[2, 3, 4, 5], f32>
  %13 = hlir.max %12 {axes = array<i64: 3>} : (!hlir.tensor<[2, 3, 4, 5], f32>) -> !hlir.tensor<[2, 3, 4], f32>
  %14 = hlir.view %13 (d0, d1, d2, d3) -> (d0, d1, d2) : (!hlir.tensor<[2, 3, 4], f32>) -> !hlir.tensor<[2, 3, 4, 5], f32>
  %15 = hlir.sub %12, %14 : !hlir.tensor<[2, 3, 4, 5], f32>
  %16 = hlir.exp %15 : !hlir.tensor<[2, 3, 4, 5], f32>
  %17 = hlir.sum %16 {axes = array<i64: 3>} : (!hlir.tensor<[2, 3, 4, 5], f32>) -> !hlir.tensor<[2, 3, 4], f32>
  %18 = hlir.view %17 (d0, d1, d2, d3) -> (d0, d1, d2) : (!hlir.tensor<[2, 3, 4], f32>) -> !hlir.tensor<[2, 3, 4, 5], f32>
  %19 = hlir.div %16, %18 : !hlir.tensor<[2, 3, 4, 5], f32>
  %20 = hlir.contract %19, %v {lhs_map = #hlir.map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d4)>, rhs_map = #hlir.map<(d0, d1, d2, d3, d4) -> (d0, d1, d4, d3)>, axes = array<i64: 4>, space = #hlir.shape<[2, 3, 4, 6, 5]>} : (!hlir.tensor<[2, 3, 4, 5], f32>, !hlir.tensor<[2, 3, 5, 6], f32>) -> !hlir.tensor<[2, 3, 4, 6], f32>
  func.return %11, %20 : !hlir.tensor<[2, 3, 4, 6], f32>, !hlir.tensor<[2, 3, 4, 6], f32>
}
