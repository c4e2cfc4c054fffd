// RUN: %opt %s --verify-diagnostics --split-input-file | %filecheck %s

// CHECK: block has 2048 threads, a device takes at most 1024
simt.kernel @k() grid [#sym.expr<1>] block [1024, 2, 1] {
}

// -----

// CHECK: grid needs one to three extents, found 0
simt.kernel @k() grid [] block [32, 1, 1] {
}

// -----

// CHECK: smem is 300000 bytes, a block has at most 232448
simt.kernel @k() grid [#sym.expr<1>] block [32, 1, 1] smem 300000 {
}

// -----

// CHECK: argument 0 must be a pointer or a scalar, found index
simt.kernel @k(%n: index) grid [#sym.expr<1>] block [32, 1, 1] {
}

// -----

// CHECK: argument 0 is shared; shared memory comes from simt.shared
simt.kernel @k(%p: !simt.ptr<f32, shared>) grid [#sym.expr<1>] block [32, 1, 1] {
}

// -----

// CHECK: mode must be "read", "write" or "readwrite", found "out"
simt.kernel @k(%p: !simt.ptr<f32, global>) grid [#sym.expr<1>] block [32, 1, 1] modes ["out"] {
}

// -----

// CHECK: a 16-byte access needs a pointer aligned to 16 bytes, found align 4
simt.kernel @k(%p: !simt.ptr<f32, global>, %i: i32) grid [#sym.expr<1>] block [32, 1, 1] {
  %v = simt.load %p[%i] : !simt.ptr<f32, global>, i32 -> vector<4xf32>
}

// -----

// CHECK: a vector access moves a power of two of at most 16 bytes, found 12
simt.kernel @k(%p: !simt.ptr<f32, global, align 16>, %i: i32) grid [#sym.expr<1>] block [32, 1, 1] {
  %v = simt.load %p[%i] : !simt.ptr<f32, global, align 16>, i32 -> vector<3xf32>
}

// -----

// CHECK: accesses f16 through a pointer to f32
simt.kernel @k(%p: !simt.ptr<f32, global>, %i: i32) grid [#sym.expr<1>] block [32, 1, 1] {
  %v = simt.load %p[%i] : !simt.ptr<f32, global>, i32 -> f16
}

// -----

// CHECK: a store to global memory may be hinted stream only, one to shared memory not at all
simt.kernel @k(%p: !simt.ptr<f32, global>, %i: i32, %v: f32) grid [#sym.expr<1>] block [32, 1, 1] {
  simt.store %v, %p[%i] hint cached : f32, !simt.ptr<f32, global>, i32
}

// -----

// CHECK: offset 6 must be a non-negative multiple of the alignment 4
simt.kernel @k() grid [#sym.expr<1>] block [32, 1, 1] smem 64 {
  %p = simt.shared 6 : !simt.ptr<f32, shared>
}

// -----

// CHECK: an offset cannot raise the alignment from 4 to 16
simt.kernel @k(%p: !simt.ptr<f32, global>, %i: i32) grid [#sym.expr<1>] block [32, 1, 1] {
  %q = simt.offset %p[%i] : !simt.ptr<f32, global>, i32 -> !simt.ptr<f32, global, align 16>
}

// -----

// CHECK: atomic addition is for f32 and i32, found f16
simt.kernel @k(%p: !simt.ptr<f16, global>, %i: i32, %v: f16) grid [#sym.expr<1>] block [32, 1, 1] {
  simt.atomic_add %v, %p[%i] : f16, !simt.ptr<f16, global>, i32
}

// -----

// CHECK: width must be a power of two up to 32, found 24
simt.kernel @k(%v: f32) grid [#sym.expr<1>] block [32, 1, 1] {
  %r = simt.reduce_warp add %v width 24 : f32
}

// -----

// CHECK: threads reduce f32, f64, i32 or i64, found bf16
simt.kernel @k(%v: bf16) grid [#sym.expr<1>] block [32, 1, 1] {
  %r = simt.reduce_warp add %v width 32 : bf16
}

// -----

// CHECK: scratch must be a shared pointer to f32, found !simt.ptr<f32, global>
simt.kernel @k(%v: f32, %p: !simt.ptr<f32, global>) grid [#sym.expr<1>] block [32, 1, 1] {
  %r = simt.reduce_block add %v, %p : f32, !simt.ptr<f32, global>
}

// -----

// CHECK: 1 indices of !simt.reg<2x8xf32> select 8 x f32, found f32
simt.kernel @k(%i: i32) grid [#sym.expr<1>] block [32, 1, 1] {
  %r = simt.regs -> !simt.reg<2x8xf32>
  %v = simt.reg_load %r[%i] : !simt.reg<2x8xf32> -> f32
}

// -----

// CHECK: alignment 2 must be a power of two and at least the 4 bytes of f32
simt.kernel @k(%p: !simt.ptr<f32, global, align 2>) grid [#sym.expr<1>] block [32, 1, 1] {
}

// -----

// CHECK: simt.shared at 64 lies outside the 64 bytes of smem
simt.kernel @k() grid [#sym.expr<1>] block [32, 1, 1] smem 64 {
  %p = simt.shared 64 : !simt.ptr<f32, shared>
}

// -----

// CHECK: a block reduction needs whole warps, found 48 threads
simt.kernel @k(%v: f32) grid [#sym.expr<1>] block [48, 1, 1] smem 64 {
  %p = simt.shared 0 : !simt.ptr<f32, shared>
  %r = simt.reduce_block add %v, %p : f32, !simt.ptr<f32, shared>
}

// -----

// CHECK: and is for integers, found f32
simt.kernel @k(%v: f32) grid [#sym.expr<1>] block [32, 1, 1] {
  %r = simt.reduce_warp and %v width 32 : f32
}
