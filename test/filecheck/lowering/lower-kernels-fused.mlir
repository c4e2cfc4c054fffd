// RUN: %opt %s -p 'lower-kernels{target=c}' | %filecheck %s

sym.symbol @s min 0 max 4096

// Softmax: e^(x - max) is computed in the loop of the sum and kept for the last one.
// CHECK-LABEL: loop.kernel @softmax
// CHECK: loop.parallel (%d0) to (%s) mapping "grid"
// CHECK-NEXT: %kept = loop.alloc %{{.*}} bound 40 : !loop.ptr<f32, align 64>
// CHECK: %max = loop.reduce (%d1) to (%{{.*}}) max init %{{.*}} : f32 mapping "vector" {
// CHECK: %sum = loop.reduce
// CHECK: math.exp
// CHECK-NEXT: loop.store %{{.*}}, %kept[
// CHECK: loop.parallel
// CHECK-NEXT: loop.load %kept[
// CHECK-NEXT: arith.divf
// CHECK-NOT: math.exp
// CHECK-LABEL: loop.kernel @bias
kernel.func @softmax(%x: !hlir.tensor<[s, 40], f32>) -> (!hlir.tensor<[s, 40], f32>) {
  %r = kernel.fused (%a = %x : !hlir.tensor<[s, 40], f32>) -> (!hlir.tensor<[s, 40], f32>) {
    %m = hlir.max %a {axes = array<i64: 1>} : (!hlir.tensor<[s, 40], f32>) -> !hlir.tensor<[s], f32>
    %mb = hlir.view %m (d0, d1) -> (d0) : (!hlir.tensor<[s], f32>) -> !hlir.tensor<[s, 40], f32>
    %d = hlir.sub %a, %mb : !hlir.tensor<[s, 40], f32>
    %e = hlir.exp %d : !hlir.tensor<[s, 40], f32>
    %z = hlir.sum %e {axes = array<i64: 1>} : (!hlir.tensor<[s, 40], f32>) -> !hlir.tensor<[s], f32>
    %zb = hlir.view %z (d0, d1) -> (d0) : (!hlir.tensor<[s], f32>) -> !hlir.tensor<[s, 40], f32>
    %q = hlir.div %e, %zb : !hlir.tensor<[s, 40], f32>
    kernel.yield %q : !hlir.tensor<[s, 40], f32>
  }
  kernel.return %r : !hlir.tensor<[s, 40], f32>
}

// Narrow floats are widened, computed in f32 and rounded after each op; contiguous dims become one loop.
// CHECK: loop.parallel (%d0) to (%s) mapping "grid"
// CHECK: loop.parallel (%d1) to (%{{.*}}) mapping "vector"
// CHECK: %[[A:.*]] = arith.extf %{{.*}} : bf16 to f32
// CHECK-NEXT: %[[B:.*]] = arith.extf %{{.*}} : bf16 to f32
// CHECK-NEXT: %[[C:.*]] = arith.addf %[[A]], %[[B]] : f32
// CHECK-NEXT: %[[D:.*]] = arith.truncf %[[C]] : f32 to bf16
// CHECK-NEXT: %[[E:.*]] = arith.extf %[[D]] : bf16 to f32
// CHECK: arith.maximumf %{{.*}}, %[[E]]
kernel.func @bias(%x: !hlir.tensor<[s, 4, 8], bf16>, %b: !hlir.tensor<[32], bf16>) -> (!hlir.tensor<[s, 4, 8], bf16>) {
  %r = kernel.fused (%a = %x : !hlir.tensor<[s, 4, 8], bf16>, %c = %b : !hlir.tensor<[32], bf16>)
      -> (!hlir.tensor<[s, 4, 8], bf16>) {
    %v = hlir.view %c (d0, d1, d2) -> (d1*8 + d2) : (!hlir.tensor<[32], bf16>) -> !hlir.tensor<[s, 4, 8], bf16>
    %t = hlir.add %a, %v : !hlir.tensor<[s, 4, 8], bf16>
    %y = hlir.relu %t : !hlir.tensor<[s, 4, 8], bf16>
    kernel.yield %y : !hlir.tensor<[s, 4, 8], bf16>
  }
  kernel.return %r : !hlir.tensor<[s, 4, 8], bf16>
}

// A sum over the first dim: neighbouring columns are lanes, their totals stay in scratch.
// CHECK-LABEL: loop.kernel @columns
// CHECK: loop.parallel (%{{.*}}) to (%{{.*}}) mapping "grid"
// CHECK: %sum = loop.alloc %{{.*}} bound 128
// CHECK: scf.for %d1 =
// CHECK: loop.parallel (%d2) to (%lanes) mapping "vector"
// CHECK: loop.store %{{.*}}, %sum[
kernel.func @columns(%x: !hlir.tensor<[s, 300], f32>) -> (!hlir.tensor<[300], f32>) {
  %r = kernel.fused (%a = %x : !hlir.tensor<[s, 300], f32>) -> (!hlir.tensor<[300], f32>) {
    %y = hlir.sum %a {axes = array<i64: 0>} : (!hlir.tensor<[s, 300], f32>) -> !hlir.tensor<[300], f32>
    kernel.yield %y : !hlir.tensor<[300], f32>
  }
  kernel.return %r : !hlir.tensor<[300], f32>
}
