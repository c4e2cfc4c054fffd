// RUN: %opt %s -p 'schedule{target=cuda}' | %filecheck %s
// RUN: %opt %s -p 'schedule{target=c simd=256}' | %filecheck %s --check-prefix C

// CHECK: kernel.matmul
// CHECK-SAME: schedule {template = "simt", tile = "{{[0-9]+x[0-9]+}}"}
// C: kernel.matmul
// C-SAME: schedule {simd = 256 : i64}
func.func @main(%x: !hlir.tensor<[64, 8], f32>, %w: !hlir.tensor<[16, 8], f32>) -> !hlir.tensor<[64, 16], f32> {
  %y = kernel.matmul (%a = %x : !hlir.tensor<[64, 8], f32>, %b = %w : !hlir.tensor<[16, 8], f32>) -> (!hlir.tensor<[64, 16], f32>) {
    %c = hlir.contract %a, %b {axes = array<i64: 2>, lhs_map = #hlir.map<(d0, d1, d2) -> (d0, d2)>, rhs_map = #hlir.map<(d0, d1, d2) -> (d1, d2)>, space = #hlir.shape<[64, 16, 8]>} : (!hlir.tensor<[64, 8], f32>, !hlir.tensor<[16, 8], f32>) -> !hlir.tensor<[64, 16], f32>
    kernel.yield %c : !hlir.tensor<[64, 16], f32>
  }
  func.return %y : !hlir.tensor<[64, 16], f32>
}
