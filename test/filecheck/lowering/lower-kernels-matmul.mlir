// RUN: %opt %s -p 'lower-kernels{target=c}' | %filecheck %s
// RUN: not %opt %s -p 'lower-kernels{target=vulkan}' 2>&1 | %filecheck %s --check-prefix=TARGET

// TARGET: lower-kernels: there is no target 'vulkan' here

// The weights are packed as columns, the rows read where they lie; the heads of the result are runs of 32 columns.
// CHECK-LABEL: loop.kernel @heads
// CHECK: loop.parallel (%{{.*}}, %{{.*}}) to (%{{.*}}, %{{.*}}) mapping "grid"
// CHECK: %packed_columns = loop.alloc
// CHECK-NEXT: %sums = loop.alloc
// CHECK: loop.pack %{{.*}} strides %{{.*}} into %{{.*}} width 32 : !loop.ptr<f32>, !loop.ptr<f32>
// CHECK: scf.for %tile
// CHECK: scf.for %k = %{{.*}} iter_args(%sum = {{.*}}vector<16xf32>
// CHECK: %[[A:.*]] = loop.load {{.*}} -> vector<16xf32>
// CHECK: vector.broadcast
// CHECK-NEXT: vector.fma %{{.*}}, %[[A]], %sum : vector<16xf32>
// CHECK: loop.store %{{.*}}, %sums[
// CHECK: loop.parallel (%{{.*}}) to (%{{.*}}) mapping "vector"
// CHECK: arith.addf
kernel.func @heads(%x: !hlir.tensor<[28, 24], f32>, %w: !hlir.tensor<[64, 24], f32>, %b: !hlir.tensor<[64], f32>)
    -> (!hlir.tensor<[2, 28, 32], f32>) {
  %r = kernel.matmul (%a = %x : !hlir.tensor<[28, 24], f32>, %c = %w : !hlir.tensor<[64, 24], f32>,
      %d = %b : !hlir.tensor<[64], f32>) -> (!hlir.tensor<[2, 28, 32], f32>)
      schedule {mr = 14 : i64, nv = 2 : i64, simd = 512 : i64} {
    %p = hlir.contract %a, %c {lhs_map = #hlir.map<(d0, d1, d2) -> (d0, d2)>,
        rhs_map = #hlir.map<(d0, d1, d2) -> (d1, d2)>, axes = array<i64: 2>, space = #hlir.shape<[28, 64, 24]>}
        : (!hlir.tensor<[28, 24], f32>, !hlir.tensor<[64, 24], f32>) -> !hlir.tensor<[28, 64], f32>
    %v = hlir.view %d (d0, d1) -> (d1) : (!hlir.tensor<[64], f32>) -> !hlir.tensor<[28, 64], f32>
    %s = hlir.add %p, %v : !hlir.tensor<[28, 64], f32>
    %y = hlir.view %s (d0, d1, d2) -> (d1, d0*32 + d2)
        : (!hlir.tensor<[28, 64], f32>) -> !hlir.tensor<[2, 28, 32], f32>
    kernel.yield %y : !hlir.tensor<[2, 28, 32], f32>
  }
  kernel.return %r : !hlir.tensor<[2, 28, 32], f32>
}
