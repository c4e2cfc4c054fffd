// RUN: %opt %s --verify-diagnostics --split-input-file | %filecheck %s

// CHECK: copies from global to shared memory
simt.kernel @k(%x: !simt.ptr<f32, global>, %i: i32) grid [#sym.expr<1>] block [32, 1, 1] {
  nv.cp_async %x[%i] to %x[%i] bytes 4 : !simt.ptr<f32, global>, i32, !simt.ptr<f32, global>, i32
}

// -----

// CHECK: copies 4, 8 or 16 bytes, found 2
simt.kernel @k(%x: !simt.ptr<f32, global>, %i: i32) grid [#sym.expr<1>] block [32, 1, 1] {
  %p = simt.shared 0 : !simt.ptr<f32, shared>
  nv.cp_async %x[%i] to %p[%i] bytes 2 : !simt.ptr<f32, global>, i32, !simt.ptr<f32, shared>, i32
}

// -----

// CHECK: a 16-byte copy needs both pointers aligned to 16 bytes
simt.kernel @k(%x: !simt.ptr<f32, global>, %i: i32) grid [#sym.expr<1>] block [32, 1, 1] {
  %p = simt.shared 0 : !simt.ptr<f32, shared, align 16>
  nv.cp_async %x[%i] to %p[%i] bytes 16 : !simt.ptr<f32, global>, i32, !simt.ptr<f32, shared, align 16>, i32
}

// -----

// CHECK: waits for 0 to 7 pending groups, found 9
simt.kernel @k() grid [#sym.expr<1>] block [32, 1, 1] {
  nv.cp_async_wait 9
}

// -----

// CHECK: fragment must be 4 x i32, found 2 x i32
simt.kernel @k(%i: i32) grid [#sym.expr<1>] block [32, 1, 1] {
  %p = simt.shared 0 : !simt.ptr<bf16, shared, align 16>
  %a = simt.regs -> !simt.reg<2xi32>
  nv.ldmatrix %p[%i] to %a[] count 4 : !simt.ptr<bf16, shared, align 16>, i32, !simt.reg<2xi32>
}

// -----

// CHECK: loads 16-bit elements, found f32
simt.kernel @k(%i: i32) grid [#sym.expr<1>] block [32, 1, 1] {
  %p = simt.shared 0 : !simt.ptr<f32, shared, align 16>
  %a = simt.regs -> !simt.reg<4xi32>
  nv.ldmatrix %p[%i] to %a[] count 4 : !simt.ptr<f32, shared, align 16>, i32, !simt.reg<4xi32>
}

// -----

// CHECK: acc must be 4 x f32, found 4 x i32
simt.kernel @k() grid [#sym.expr<1>] block [32, 1, 1] {
  %a = simt.regs -> !simt.reg<4xi32>
  %b = simt.regs -> !simt.reg<2xi32>
  nv.mma m16n8k16_f16 %a[], %a[], %b[] : !simt.reg<4xi32>, !simt.reg<4xi32>, !simt.reg<2xi32>
}
