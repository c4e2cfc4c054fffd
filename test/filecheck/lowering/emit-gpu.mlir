// RUN: %opt %s -p 'emit{target=cuda}' | %filecheck %s
// RUN: %opt %s -p 'emit{target=metal}' | %filecheck %s --check-prefix=METAL
// RUN: not %opt %s -p 'emit{target=vulkan}' 2>&1 | %filecheck %s --check-prefix=TARGET

// TARGET: emit: there is no target 'vulkan' here
// TARGET-NEXT: to do: use one of: c, cuda, metal

// Each kernel becomes a source of its own name, with the launch geometry that the runtime needs.
// CHECK: host.source @exp2 language "cuda" entry "exp2" parameters ["ptr", "ptr", "i32"] symbols ["n"]
// CHECK-SAME: grid [floordiv(n + 127, 128), 1, 1] block [128, 1, 1] shared 0 [
// CHECK: extern \"C\" __global__ void __launch_bounds__(128, 1) exp2(const float *__restrict__ x,
// CHECK-SAME: float *__restrict__ y, const int n) {
// CHECK-NEXT: const int at = ((int)blockIdx.x * 128) + (int)threadIdx.x;
// CHECK-NEXT: if ((at < n)) {
// CHECK-NEXT: const float v = x[at];
// CHECK-NEXT: y[at] = exp2f(v);
// CHECK-NOT: simt.kernel

// METAL: host.source @exp2 language "metal" entry "exp2" parameters ["ptr", "ptr", "i32"] symbols ["n"]
// METAL: const int at = ((int)alb_block.x * 128) + (int)alb_thread.x;
// METAL: y[at] = precise::exp2(v);
// METAL-NOT: simt.kernel
sym.symbol @n min 1 max 4096
simt.kernel @exp2(%x: !simt.ptr<f32, global, align 16>, %y: !simt.ptr<f32, global, align 16>, %n: i32)
    grid [#sym.expr<floordiv(n + 127, 128)>] block [128, 1, 1] symbols ["n"] modes ["read", "write"] {
  %block = simt.id block.x : i32
  %thread = simt.id thread.x : i32
  %width = arith.constant 128 : i32
  %row = arith.muli %block, %width overflow<nsw> : i32
  %at = arith.addi %row, %thread overflow<nsw> : i32
  %inside = arith.cmpi slt, %at, %n : i32
  scf.if %inside {
    %v = simt.load %x[%at] : !simt.ptr<f32, global, align 16>, i32 -> f32
    %e = math.exp2 %v : f32
    simt.store %e, %y[%at] : f32, !simt.ptr<f32, global, align 16>, i32
  }
}
