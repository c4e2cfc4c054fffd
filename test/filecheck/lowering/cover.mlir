// RUN: %opt %s -p extract,cover | %filecheck %s

sym.symbol @s min 1 max 512

// A matmul keeps its bias and gelu; the residual goes into the kernel of the norm; one kernel each.
// CHECK-LABEL: func.func @main
// CHECK: kernel.matmul
// CHECK: hlir.contract
// CHECK: hlir.add
// CHECK: hlir.gelu
// CHECK: kernel.yield
// CHECK: kernel.matmul
// CHECK: hlir.contract
// CHECK: hlir.add
// CHECK-NEXT: kernel.yield
// CHECK: kernel.fused
// CHECK: hlir.add
// CHECK: hlir.sum
// CHECK: hlir.rsqrt %{{.*}} : !hlir.tensor<[s], f32>
// CHECK: kernel.yield
// CHECK-NEXT: }
// CHECK-NEXT: func.return
func.func @main(%x: !hlir.tensor<[s, 8], f32>, %u: !hlir.tensor<[16, 8], f32>, %a: !hlir.tensor<[16], f32>, %d: !hlir.tensor<[8, 16], f32>, %b: !hlir.tensor<[8], f32>) -> !hlir.tensor<[s, 8], f32> {
  %0 = hlir.linear %x, %u, %a : (!hlir.tensor<[s, 8], f32>, !hlir.tensor<[16, 8], f32>, !hlir.tensor<[16], f32>) -> !hlir.tensor<[s, 16], f32>
  %1 = hlir.gelu %0 {approximate = "none"} : !hlir.tensor<[s, 16], f32>
  %2 = hlir.linear %1, %d, %b : (!hlir.tensor<[s, 16], f32>, !hlir.tensor<[8, 16], f32>, !hlir.tensor<[8], f32>) -> !hlir.tensor<[s, 8], f32>
  %3 = hlir.add %2, %x : !hlir.tensor<[s, 8], f32>
  %4 = hlir.layer_norm %3 {dims = #builtin.int<1>, epsilon = #hlir.scalar<1.0e-05 : f64>} : !hlir.tensor<[s, 8], f32>
  func.return %4 : !hlir.tensor<[s, 8], f32>
}
