// RUN: %opt %s | %filecheck %s
// RUN: %opt %s --print-op-generic | %opt | %filecheck %s

// CHECK: simt.kernel @tile
simt.kernel @tile(%i: i32, %ld: i32) grid [#sym.expr<1>] block [32, 1, 1] smem 2048 {
  %p = simt.shared 0 : !simt.ptr<f32, shared>
  %zero = arith.constant 0.0 : f32
  %d = simt.regs -> !simt.reg<2x2x!apple.matrix<f32>>
  %a = simt.regs -> !simt.reg<2x!apple.matrix<f32>>
  // CHECK: apple.simdgroup_fill %zero, %d[%i, %i] : f32, !simt.reg<2x2x!apple.matrix<f32>>
  apple.simdgroup_fill %zero, %d[%i, %i] : f32, !simt.reg<2x2x!apple.matrix<f32>>
  // CHECK-NEXT: apple.simdgroup_load %p[%i] stride %ld to %a[%i] : !simt.ptr<f32, shared>, i32, !simt.reg<2x!apple.matrix<f32>>
  apple.simdgroup_load %p[%i] stride %ld to %a[%i] : !simt.ptr<f32, shared>, i32, !simt.reg<2x!apple.matrix<f32>>
  // CHECK-NEXT: apple.simdgroup_load %p[%i] stride %ld to %a[%i] trans : !simt.ptr<f32, shared>, i32, !simt.reg<2x!apple.matrix<f32>>
  apple.simdgroup_load %p[%i] stride %ld to %a[%i] trans : !simt.ptr<f32, shared>, i32, !simt.reg<2x!apple.matrix<f32>>
  // CHECK-NEXT: apple.simdgroup_mma %d[%i, %i], %a[%i], %a[%i] : !simt.reg<2x2x!apple.matrix<f32>>, !simt.reg<2x!apple.matrix<f32>>, !simt.reg<2x!apple.matrix<f32>>
  apple.simdgroup_mma %d[%i, %i], %a[%i], %a[%i] : !simt.reg<2x2x!apple.matrix<f32>>, !simt.reg<2x!apple.matrix<f32>>, !simt.reg<2x!apple.matrix<f32>>
  // CHECK-NEXT: apple.simdgroup_store %d[%i, %i] to %p[%i] stride %ld : !simt.reg<2x2x!apple.matrix<f32>>, !simt.ptr<f32, shared>, i32
  apple.simdgroup_store %d[%i, %i] to %p[%i] stride %ld : !simt.reg<2x2x!apple.matrix<f32>>, !simt.ptr<f32, shared>, i32
}
