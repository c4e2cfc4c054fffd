// A program followed to the threads of its kernels: the text that they print as is run on the CPU.
// RUN: %opt %s -p 'lower-kernels{target="c"}' --check-each | %filecheck %s --check-prefix=LOOP
// RUN: %opt %s -p 'lower-kernels{target="cuda"},map-threads{target="cuda"}' --check-each | %filecheck %s --check-prefix=SIMT

// LOOP: loop.kernel @k0
// SIMT: simt.kernel @k0

sym.symbol @s min 1 max 16
host.program @main target "cuda" {
  %x = host.input "x" role "input" align 16 : !host.buffer<[s, 8], f32>
  host.symbol "s" of %x dim 0 min 1 max 16
  %y = host.output "y" : !host.buffer<[s, 8], f32>
  host.arena size s*32 bound 512 align 64
  %t = host.slice at 0 : !host.buffer<[s, 8], f32>
  host.launch @k0 (read %x, write %t)
  host.launch @k0 (read %t, write %y)
}
kernel.func @k0(%x: !hlir.tensor<[s, 8], f32>) -> (!hlir.tensor<[s, 8], f32>) {
  %y = kernel.fused (%a = %x : !hlir.tensor<[s, 8], f32>) -> (!hlir.tensor<[s, 8], f32>) {
    %e = hlir.exp %a : !hlir.tensor<[s, 8], f32>
    kernel.yield %e : !hlir.tensor<[s, 8], f32>
  }
  kernel.return %y : !hlir.tensor<[s, 8], f32>
}
