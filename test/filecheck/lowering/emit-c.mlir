// RUN: %opt %s -p 'emit{target=c}' | %filecheck %s

sym.symbol @s min 0 max 4096

// CHECK: host.program @main target "c"
host.program @main target "c" {
  %x = host.input "x" role "input" align 16 : !host.buffer<[s, 40], f32>
  host.symbol "s" of %x dim 0 min 0 max 4096
  %y = host.output "y" : !host.buffer<[s, 40], f32>
  host.arena size s*160 bound s*160 align 64
  %t = host.slice at 0 : !host.buffer<[s, 40], f32>
  host.launch @double (read %x, write %t)
  host.copy %t to %y
}

// CHECK: host.source @main_c language "c" entry "albumen_run" [
// CHECK: "struct kernel_double_context0 {"
// CHECK: "static void kernel_double_body0(void *context_, int64_t begin, int64_t end) {"
// CHECK: "  for (int64_t i = begin; i < end; ++i) {"
// CHECK: "    const int64_t row = i * 40;"
// CHECK: "    #pragma omp simd"
// CHECK: "      y[o] = v + v;"
// CHECK: "static int kernel_double(const albumen_host *host, const float *restrict x, float *restrict y, int64_t s) {"
// CHECK: "  if (s > 0) alb_parallel(host, kernel_double_body0, &context_, s, 8);"
// CHECK: "  void *const t0 = (char *)arena + (0);"
// CHECK: "  if ((status = kernel_double(host, buffers[0], t0, symbols[0])) != ALBUMEN_OK) return status;"
// CHECK: "  memcpy(buffers[1], t0, (size_t)(symbols[0] * 160));"
// CHECK-NOT: loop.kernel
loop.kernel @double(%x: !loop.ptr<f32>, %y: !loop.ptr<f32>, %s: index) symbols ["s"] modes ["read", "write"] {
  %n = arith.constant 40 : index
  loop.parallel (%i) to (%s) mapping "grid" attributes {grain = 8 : i64} {
    %row = arith.muli %i, %n : index
    loop.parallel (%j) to (%n) mapping "vector" {
      %o = arith.addi %row, %j : index
      %v = loop.load %x[%o] : !loop.ptr<f32> -> f32
      %w = arith.addf %v, %v : f32
      loop.store %w, %y[%o] : f32, !loop.ptr<f32>
    }
  }
}
