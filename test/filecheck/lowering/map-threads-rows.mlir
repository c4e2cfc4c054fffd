// RUN: %opt %s -p map-threads | %filecheck %s
// RUN: %opt %s -p map-threads,emit{target=cuda} | %filecheck %s --check-prefix CUDA
// RUN: %opt %s -p map-threads{target=metal},emit{target=metal} | %filecheck %s --check-prefix METAL

sym.symbol @m min 1 max 4096

// A row of 384 elements is shared by a warp, four rows by a block; a thread keeps its part of the row in registers.
// CHECK: simt.kernel @row_sum(%x: !simt.ptr<f32, global, align 16>, %y: !simt.ptr<f32, global, align 16>, %m: i32) grid [#sym.expr<floordiv(m + 3, 4)>] block [128, 1, 1]
// CHECK-SAME: symbols ["m"] modes ["read", "write"]
// CHECK: simt.load %x[{{.*}}] : !simt.ptr<f32, global, align 16>, i32 -> vector<4xf32>
// CHECK: simt.reduce_warp add {{.*}} width 32 : f32
// CHECK: simt.store
// CHECK-SAME: if %{{.*}} : vector<4xf32>

// CUDA: host.source @row_sum language "cuda" entry "row_sum" parameters ["ptr", "ptr", "i32"] symbols ["m"] grid [floordiv(m + 3, 4), 1, 1] block [128, 1, 1] shared 0
// CUDA: extern \"C\" __global__ void __launch_bounds__(128, 8) row_sum(const float *__restrict__ x, float *__restrict__ y, const int m) {
// CUDA: alb_reduce_warp<AlbAdd, 32>

// METAL: host.source @row_sum language "metal"
// METAL: kernel void row_sum(
// METAL: device const float *x {{\[\[}}buffer(0)]]
// METAL: constant int &m {{\[\[}}buffer(2)]]
loop.kernel @row_sum(%x: !loop.ptr<f32, align 16>, %y: !loop.ptr<f32, align 16>, %m: index) symbols ["m"] modes ["read", "write"] {
  %n = arith.constant 384 : index
  %zero = arith.constant 0.0 : f32
  loop.parallel (%i) to (%m) mapping "grid" {
    %base = arith.muli %i, %n : index
    %s = loop.reduce (%k) to (%n) add init %zero : f32 mapping "row" {
      %o = arith.addi %base, %k : index
      %v = loop.load %x[%o] : !loop.ptr<f32, align 16> -> f32
      loop.yield %v : f32
    }
    loop.parallel (%k) to (%n) mapping "row" {
      %o = arith.addi %base, %k : index
      %v = loop.load %x[%o] : !loop.ptr<f32, align 16> -> f32
      %d = arith.divf %v, %s : f32
      loop.store %d, %y[%o] : f32, !loop.ptr<f32, align 16>
    }
  }
}
