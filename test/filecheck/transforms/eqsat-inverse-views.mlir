// RUN: %opt %s -p 'eqsat{report=rules}' --check-each 2>&1 | %filecheck %s

// Two reshapes that undo each other make their values views of one another. A cast that turns out to be one of these
// values can be pushed through both, one after the other, for ever; a few rounds must be enough to learn that nothing
// new comes of it.
// CHECK: region @inverse: saturated after
func.func @inverse(%x: !hlir.tensor<[20, 8], bf16>, %w: !hlir.tensor<[8, 32], bf16>) -> (!hlir.tensor<[2, 10, 32], bf16>, !hlir.tensor<[20, 32], bf16>, !hlir.tensor<[20, 32], bf16>) {
  %0 = hlir.contract %x, %w {lhs_map = #hlir.map<(d0, d1, d2) -> (d0, d2)>, rhs_map = #hlir.map<(d0, d1, d2) -> (d2, d1)>, axes = array<i64: 2>, space = #hlir.shape<[20, 32, 8]>} : (!hlir.tensor<[20, 8], bf16>, !hlir.tensor<[8, 32], bf16>) -> !hlir.tensor<[20, 32], bf16>
  %1 = hlir.view %0 (d0, d1, d2) -> (d0*10 + d1, d2) : (!hlir.tensor<[20, 32], bf16>) -> !hlir.tensor<[2, 10, 32], bf16>
  %2 = hlir.view %1 (d0, d1) -> (floordiv(d0, 10), d0 - floordiv(d0, 10)*10, d1) : (!hlir.tensor<[2, 10, 32], bf16>) -> !hlir.tensor<[20, 32], bf16>
  %v = hlir.view %x (d0, d1) -> (19 - d0, d1) : !hlir.tensor<[20, 8], bf16>
  %u = hlir.view %v (d0, d1) -> (19 - d0, d1) : !hlir.tensor<[20, 8], bf16>
  %3 = hlir.cast %u {dtype = f32} : (!hlir.tensor<[20, 8], bf16>) -> !hlir.tensor<[20, 8], f32>
  %4 = hlir.cast %w {dtype = f32} : (!hlir.tensor<[8, 32], bf16>) -> !hlir.tensor<[8, 32], f32>
  %5 = hlir.contract %3, %4 {lhs_map = #hlir.map<(d0, d1, d2) -> (d0, d2)>, rhs_map = #hlir.map<(d0, d1, d2) -> (d2, d1)>, axes = array<i64: 2>, space = #hlir.shape<[20, 32, 8]>} : (!hlir.tensor<[20, 8], f32>, !hlir.tensor<[8, 32], f32>) -> !hlir.tensor<[20, 32], f32>
  %6 = hlir.cast %5 {dtype = bf16} : (!hlir.tensor<[20, 32], f32>) -> !hlir.tensor<[20, 32], bf16>
  func.return %1, %2, %6 : !hlir.tensor<[2, 10, 32], bf16>, !hlir.tensor<[20, 32], bf16>, !hlir.tensor<[20, 32], bf16>
}
