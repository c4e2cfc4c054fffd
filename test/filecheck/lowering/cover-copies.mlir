// RUN: %opt %s -p cover --check-each | %filecheck %s

// The pad needs the wide value in memory, where a kernel of its own copies it. The kernel that makes the narrow value
// computes the wide one for its sum: reading the copy, it would wait for itself.
// CHECK: kernel.fused
// CHECK: hlir.cast %{{.*}} {dtype = bf16}
// CHECK: hlir.cast %{{.*}} {dtype = f32}
// CHECK: hlir.sum
// CHECK: kernel.fused
// CHECK-NEXT: hlir.cast %{{.*}} {dtype = f32}
// CHECK-NEXT: kernel.yield
// CHECK: kernel.fused
// CHECK-NEXT: hlir.pad
func.func @main(%x: !hlir.tensor<[6, 8, 3, 3], f32>) -> (!hlir.tensor<[6, 8, 7, 3], f32>, !hlir.tensor<[8], f32>) {
  %narrow = hlir.cast %x {dtype = bf16} : (!hlir.tensor<[6, 8, 3, 3], f32>) -> !hlir.tensor<[6, 8, 3, 3], bf16>
  %wide = hlir.cast %narrow {dtype = f32} : (!hlir.tensor<[6, 8, 3, 3], bf16>) -> !hlir.tensor<[6, 8, 3, 3], f32>
  %padded = hlir.pad %wide {low = #hlir.shape<[0, 0, 2, 0]>, high = #hlir.shape<[0, 0, 2, 0]>, value = #hlir.scalar<0.0 : f32>} : (!hlir.tensor<[6, 8, 3, 3], f32>) -> !hlir.tensor<[6, 8, 7, 3], f32>
  %sum = hlir.sum %wide {axes = array<i64: 0, 2, 3>} : (!hlir.tensor<[6, 8, 3, 3], f32>) -> !hlir.tensor<[8], f32>
  func.return %padded, %sum : !hlir.tensor<[6, 8, 7, 3], f32>, !hlir.tensor<[8], f32>
}
