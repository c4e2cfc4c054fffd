// RUN: %opt %s | %filecheck %s
// RUN: %opt %s --print-op-generic | %opt | %filecheck %s

// CHECK: simt.kernel @tile
simt.kernel @tile(%x: !simt.ptr<bf16, global, align 16>, %i: i32, %c: i1) grid [#sym.expr<1>] block [32, 1, 1] smem 2048 {
  %p = simt.shared 0 : !simt.ptr<bf16, shared, align 16>
  // CHECK: nv.cp_async %x[%i] to %p[%i] bytes 16 if %c : !simt.ptr<bf16, global, align 16>, i32, !simt.ptr<bf16, shared, align 16>, i32
  nv.cp_async %x[%i] to %p[%i] bytes 16 if %c : !simt.ptr<bf16, global, align 16>, i32, !simt.ptr<bf16, shared, align 16>, i32
  // CHECK-NEXT: nv.cp_async_commit
  nv.cp_async_commit
  // CHECK-NEXT: nv.cp_async_wait 1
  nv.cp_async_wait 1
  %a = simt.regs -> !simt.reg<2x4xi32>
  %b = simt.regs -> !simt.reg<2x2xi32>
  %zero = arith.constant 0.0 : f32
  %acc = simt.regs fill %zero : f32 -> !simt.reg<2x2x4xf32>
  // CHECK: nv.ldmatrix %p[%i] to %a[%i] count 4 : !simt.ptr<bf16, shared, align 16>, i32, !simt.reg<2x4xi32>
  nv.ldmatrix %p[%i] to %a[%i] count 4 : !simt.ptr<bf16, shared, align 16>, i32, !simt.reg<2x4xi32>
  // CHECK-NEXT: nv.ldmatrix %p[%i] to %b[] count 4 trans : !simt.ptr<bf16, shared, align 16>, i32, !simt.reg<2x2xi32>
  nv.ldmatrix %p[%i] to %b[] count 4 trans : !simt.ptr<bf16, shared, align 16>, i32, !simt.reg<2x2xi32>
  // CHECK-NEXT: nv.mma m16n8k16_bf16 %acc[%i, %i], %a[%i], %b[%i] : !simt.reg<2x2x4xf32>, !simt.reg<2x4xi32>, !simt.reg<2x2xi32>
  nv.mma m16n8k16_bf16 %acc[%i, %i], %a[%i], %b[%i] : !simt.reg<2x2x4xf32>, !simt.reg<2x4xi32>, !simt.reg<2x2xi32>
}
