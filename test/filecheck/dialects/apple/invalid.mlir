// RUN: %opt %s --verify-diagnostics --split-input-file | %filecheck %s

// CHECK: a simdgroup matrix holds f32, f16 or bf16, found i32
simt.kernel @k() grid [#sym.expr<1>] block [32, 1, 1] {
  %m = simt.regs -> !simt.reg<2x!apple.matrix<i32>>
}

// -----

// CHECK: matrix must select one !apple.matrix, found 0 indices
simt.kernel @k(%i: i32, %ld: i32) grid [#sym.expr<1>] block [32, 1, 1] {
  %p = simt.shared 0 : !simt.ptr<f32, shared>
  %m = simt.regs -> !simt.reg<2x!apple.matrix<f32>>
  apple.simdgroup_load %p[%i] stride %ld to %m[] : !simt.ptr<f32, shared>, i32, !simt.reg<2x!apple.matrix<f32>>
}

// -----

// CHECK: a matrix of f32 is loaded and stored as such
simt.kernel @k(%i: i32, %ld: i32) grid [#sym.expr<1>] block [32, 1, 1] {
  %p = simt.shared 0 : !simt.ptr<f16, shared>
  %m = simt.regs -> !simt.reg<2x!apple.matrix<f32>>
  apple.simdgroup_load %p[%i] stride %ld to %m[%i] : !simt.ptr<f16, shared>, i32, !simt.reg<2x!apple.matrix<f32>>
}
