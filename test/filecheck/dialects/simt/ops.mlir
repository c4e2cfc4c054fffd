// RUN: %opt %s | %filecheck %s
// RUN: %opt %s --print-op-generic | %opt | %filecheck %s

sym.symbol @s min 1 max 4096

// CHECK: simt.kernel @memory(%x: !simt.ptr<bf16, global, align 16>, %y: !simt.ptr<f32, global>, %rows: i32) grid [#sym.expr<s>, #sym.expr<2>] block [256, 1, 1] smem 4096 min_blocks 2 symbols ["s"] modes ["read", "readwrite"] {
simt.kernel @memory(%x: !simt.ptr<bf16, global, align 16>, %y: !simt.ptr<f32, global>, %rows: i32) grid [#sym.expr<s>, #sym.expr<2>] block [256, 1, 1] smem 4096 min_blocks 2 symbols ["s"] modes ["read", "readwrite"] {
  // CHECK-NEXT: %b = simt.id block.x : i32
  %b = simt.id block.x : i32
  // CHECK-NEXT: %t = simt.id thread.x : i32
  %t = simt.id thread.x : i32
  // CHECK-NEXT: %g = simt.id grid.y : i32
  %g = simt.id grid.y : i32
  // CHECK-NEXT: %lane = simt.id lane : i32
  %lane = simt.id lane : i32
  // CHECK-NEXT: %warp = simt.id warp : i32
  %warp = simt.id warp : i32
  %c = arith.cmpi slt, %t, %rows : i32
  // CHECK: %p = simt.shared 1024 : !simt.ptr<bf16, shared, align 16>
  %p = simt.shared 1024 : !simt.ptr<bf16, shared, align 16>
  // CHECK-NEXT: %q = simt.offset %p[%t] : !simt.ptr<bf16, shared, align 16>, i32 -> !simt.ptr<bf16, shared>
  %q = simt.offset %p[%t] : !simt.ptr<bf16, shared, align 16>, i32 -> !simt.ptr<bf16, shared>
  // CHECK-NEXT: %v = simt.load %x[%t] if %c hint stream : !simt.ptr<bf16, global, align 16>, i32 -> vector<8xbf16>
  %v = simt.load %x[%t] if %c hint stream : !simt.ptr<bf16, global, align 16>, i32 -> vector<8xbf16>
  // CHECK-NEXT: %w = simt.load %y[%t] : !simt.ptr<f32, global>, i32 -> f32
  %w = simt.load %y[%t] : !simt.ptr<f32, global>, i32 -> f32
  // CHECK-NEXT: simt.store %v, %p[%t] : vector<8xbf16>, !simt.ptr<bf16, shared, align 16>, i32
  simt.store %v, %p[%t] : vector<8xbf16>, !simt.ptr<bf16, shared, align 16>, i32
  // CHECK-NEXT: simt.store %w, %y[%t] if %c hint stream : f32, !simt.ptr<f32, global>, i32
  simt.store %w, %y[%t] if %c hint stream : f32, !simt.ptr<f32, global>, i32
  // CHECK-NEXT: simt.atomic_add %w, %y[%b] : f32, !simt.ptr<f32, global>, i32
  simt.atomic_add %w, %y[%b] : f32, !simt.ptr<f32, global>, i32
  // CHECK-NEXT: }
}

// CHECK: simt.kernel @threads(%v: f32) grid [#sym.expr<1>] block [64, 2, 1] smem 16 {
simt.kernel @threads(%v: f32) grid [#sym.expr<1>] block [64, 2, 1] smem 16 {
  // CHECK-NEXT: simt.grid_wait
  simt.grid_wait
  // CHECK-NEXT: simt.grid_release
  simt.grid_release
  %ok = arith.constant true
  // CHECK: simt.assert %ok
  simt.assert %ok
  // CHECK-NEXT: simt.barrier block
  simt.barrier block
  // CHECK-NEXT: simt.barrier warp
  simt.barrier warp
  %n = arith.constant 1 : i32
  // CHECK: %a = simt.shuffle xor %v, %n width 32 : f32
  %a = simt.shuffle xor %v, %n width 32 : f32
  // CHECK-NEXT: %b = simt.shuffle up %a, %n width 16 : f32
  %b = simt.shuffle up %a, %n width 16 : f32
  // CHECK-NEXT: %c = simt.shuffle down %b, %n width 32 : f32
  %c = simt.shuffle down %b, %n width 32 : f32
  // CHECK-NEXT: %d = simt.shuffle idx %c, %n width 32 : f32
  %d = simt.shuffle idx %c, %n width 32 : f32
  // CHECK-NEXT: %e = simt.reduce_warp max %d width 8 : f32
  %e = simt.reduce_warp max %d width 8 : f32
  %red = simt.shared 0 : !simt.ptr<f32, shared>
  // CHECK: %f = simt.reduce_block add %e, %red : f32, !simt.ptr<f32, shared>
  %f = simt.reduce_block add %e, %red : f32, !simt.ptr<f32, shared>
  // CHECK-NEXT: %r = simt.regs fill %f : f32 -> !simt.reg<2x8xf32>
  %r = simt.regs fill %f : f32 -> !simt.reg<2x8xf32>
  // CHECK-NEXT: %u = simt.regs -> !simt.reg<4xi32>
  %u = simt.regs -> !simt.reg<4xi32>
  // CHECK-NEXT: %g = simt.reg_load %r[%n, %n] : !simt.reg<2x8xf32> -> f32
  %g = simt.reg_load %r[%n, %n] : !simt.reg<2x8xf32> -> f32
  // CHECK-NEXT: %h = simt.reg_load %r[%n] : !simt.reg<2x8xf32> -> vector<8xf32>
  %h = simt.reg_load %r[%n] : !simt.reg<2x8xf32> -> vector<8xf32>
  // CHECK-NEXT: simt.reg_store %g, %r[%n, %n] : f32, !simt.reg<2x8xf32>
  simt.reg_store %g, %r[%n, %n] : f32, !simt.reg<2x8xf32>
  // CHECK-NEXT: simt.reg_store %h, %r[%n] : vector<8xf32>, !simt.reg<2x8xf32>
  simt.reg_store %h, %r[%n] : vector<8xf32>, !simt.reg<2x8xf32>
}
