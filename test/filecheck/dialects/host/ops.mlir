// RUN: %opt %s | %filecheck %s
// RUN: %opt %s --print-op-generic | %opt | %filecheck %s

sym.symbol @s min 0 max 4096 multiple_of 4
sym.guard s - 2*n "=="

// CHECK: host.program @main target "c" {
host.program @main target "c" {
  // CHECK-NEXT: %x = host.input "x" role "input" align 16 : !host.buffer<[s, 4], f32>
  %x = host.input "x" role "input" align 16 : !host.buffer<[s, 4], f32>
  // CHECK-NEXT: %n = host.input "n" role "scalar" align 16 : !host.buffer<[], i64>
  %n = host.input "n" role "scalar" align 16 : !host.buffer<[], i64>
  // CHECK-NEXT: %k = host.input "k" role "buffer" align 16 mutated 0 : !host.buffer<[s, 4], f32>
  %k = host.input "k" role "buffer" align 16 mutated 0 : !host.buffer<[s, 4], f32>
  // CHECK-NEXT: %c = host.input "c" role "constant" align 16 data "0000803F" : !host.buffer<[1], f32>
  %c = host.input "c" role "constant" align 16 data "0000803F" : !host.buffer<[1], f32>
  // CHECK-NEXT: host.symbol "s" of %x dim 0 min 8 max 4096 multiple_of 8
  host.symbol "s" of %x dim 0 min 8 max 4096 multiple_of 8
  // CHECK-NEXT: host.symbol "n" of %n min 0
  host.symbol "n" of %n
  // CHECK-NEXT: host.guard -n*2 + s "=="
  host.guard s - 2*n "=="
  // CHECK-NEXT: host.guard n + max(n, s) - 10 ">="
  host.guard n + max(s, n) - 10 ">="
  // CHECK-NEXT: %y = host.output "y" : !host.buffer<[s, 4], f32>
  %y = host.output "y" : !host.buffer<[s, 4], f32>
  // CHECK-NEXT: %z = host.output "z" alias %x strides [1, 4] offset 0 : !host.buffer<[4, s], f32>
  %z = host.output "z" alias %x strides [1, 4] offset 0 : !host.buffer<[4, s], f32>
  // CHECK-NEXT: host.arena size s*32 bound s*32 align 64
  host.arena size s*32 bound s*32 align 64
  // CHECK-NEXT: %t = host.slice at 0 : !host.buffer<[s, 4], f32>
  %t = host.slice at 0 : !host.buffer<[s, 4], f32>
  // CHECK-NEXT: %u = host.slice at s*16 : !host.buffer<[s, 4], f32>
  %u = host.slice at s*16 : !host.buffer<[s, 4], f32>
  // CHECK-NEXT: host.launch @k0 (read %x, read %c, write %t)
  host.launch @k0 (read %x, read %c, write %t)
  // CHECK-NEXT: host.call "cublaslt.matmul" {m = #sym.expr<s>} (read %t, write %y, scratch %u)
  host.call "cublaslt.matmul" {m = #sym.expr<s>} (read %t, write %y, scratch %u)
  // CHECK-NEXT: host.copy %t to %k
  host.copy %t to %k
}

// CHECK: host.source @k0 language "cuda" entry "k0" parameters ["ptr", "i32"] symbols ["s"] grid [s, 1, 1] block [128, 1, 1] shared 0 [
// CHECK-NEXT: "__global__ void k0(float *x, int s) {",
// CHECK-NEXT: "}"]
host.source @k0 language "cuda" entry "k0" parameters ["ptr", "i32"] symbols ["s"] grid [s, 1, 1] block [128, 1, 1] shared 0 [
  "__global__ void k0(float *x, int s) {",
  "}"]
