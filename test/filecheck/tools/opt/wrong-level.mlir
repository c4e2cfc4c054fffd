// A stage refuses a module that is not at the level it takes; a pass from graph to graph runs on any module.
// RUN: not %opt %s -p 'emit{target=c}' 2>&1 | %filecheck %s --check-prefix=EMIT
// RUN: not %opt %s -p 'map-threads{target=cuda}' 2>&1 | %filecheck %s --check-prefix=THREADS
// RUN: not %opt %s -p schedule 2>&1 | %filecheck %s --check-prefix=SCHEDULE
// RUN: %opt %s -p canonicalize,cover,canonicalize | %filecheck %s

// EMIT: wrong-level.mlir:18: error: emit: func.func: the module is not at level loop, which does not allow:
// EMIT: to do: run lower-kernels and what comes before it first

// THREADS: error: map-threads: func.func: the module is not at level loop
// THREADS: to do: run lower-kernels

// SCHEDULE: wrong-level.mlir:19: error: schedule: hlir.add: the module is not at level kernel
// SCHEDULE: to do: run cover and what comes before it first

// CHECK: kernel.fused

func.func @f(%x: !hlir.tensor<[4], f32>) -> !hlir.tensor<[4], f32> {
  %0 = hlir.add %x, %x : !hlir.tensor<[4], f32>
  func.return %0 : !hlir.tensor<[4], f32>
}
