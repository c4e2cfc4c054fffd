// Every stage of a compile alone, for each target, evaluated before and after on random inputs: the C program compiled
// and run, the CUDA and Metal text run on the CPU.
// RUN: %opt %s --check-each -p 'canonicalize,simplify-dims,simplify-positions,roll-loops,eqsat,extract,cover,schedule{target=c},plan-memory{target=c},lower-kernels{target=c},emit{target=c}' | %filecheck %s --check-prefix=C
// RUN: %opt %s --check-each -p 'canonicalize,simplify-dims,simplify-positions,roll-loops,eqsat,extract,cover,schedule{target=cuda},plan-memory{target=cuda},lower-kernels{target=cuda},map-threads{target=cuda},emit{target=cuda}' | %filecheck %s --check-prefix=CUDA
// RUN: %opt %s --check-each -p 'canonicalize,simplify-dims,simplify-positions,roll-loops,eqsat,extract,cover,schedule{target=metal},plan-memory{target=metal},lower-kernels{target=metal},map-threads{target=metal},emit{target=metal}' | %filecheck %s --check-prefix=METAL

// C: host.source {{.*}} language "c" entry "albumen_run"
// CUDA: host.source {{.*}} language "cuda"
// CUDA: __global__
// METAL: host.source {{.*}} language "metal"
// METAL: thread_position_in_threadgroup

sym.symbol @s min 1 max 64

func.func @main(%x: !hlir.tensor<[s, 8], f32>, %w: !hlir.tensor<[4, 8], f32>, %b: !hlir.tensor<[4], f32>) -> !hlir.tensor<[s, 4], f32> {
  %h = hlir.linear %x, %w, %b : (!hlir.tensor<[s, 8], f32>, !hlir.tensor<[4, 8], f32>, !hlir.tensor<[4], f32>) -> !hlir.tensor<[s, 4], f32>
  %g = hlir.gelu %h {approximate = "none"} : !hlir.tensor<[s, 4], f32>
  %0 = hlir.softmax %g {axis = #builtin.int<1>} : !hlir.tensor<[s, 4], f32>
  func.return %0 : !hlir.tensor<[s, 4], f32>
}
