// RUN: %opt %s -p 'lower-kernels{target=c}' --verify-diagnostics --split-input-file 2>&1 | %filecheck %s

// CHECK: schedule of a matmul has tile = "big"
kernel.func @tile(%x: !hlir.tensor<[8, 8], f32>) -> (!hlir.tensor<[8, 8], f32>) {
  %r = kernel.matmul (%a = %x : !hlir.tensor<[8, 8], f32>) -> (!hlir.tensor<[8, 8], f32>) schedule {tile = "big"} {
    %p = hlir.contract %a, %a {lhs_map = #hlir.map<(d0, d1, d2) -> (d0, d2)>,
        rhs_map = #hlir.map<(d0, d1, d2) -> (d2, d1)>, axes = array<i64: 2>, space = #hlir.shape<[8, 8, 8]>}
        : !hlir.tensor<[8, 8], f32>
    kernel.yield %p : !hlir.tensor<[8, 8], f32>
  }
  kernel.return %r : !hlir.tensor<[8, 8], f32>
}

// -----

// CHECK: a table of numbers must be an operand of the kernel
kernel.func @table() -> (!hlir.tensor<[2], f32>) {
  %r = kernel.fused () -> (!hlir.tensor<[2], f32>) {
    %t = hlir.literal "0000803F00000040" : !hlir.tensor<[2], f32>
    %y = hlir.exp %t : !hlir.tensor<[2], f32>
    kernel.yield %y : !hlir.tensor<[2], f32>
  }
  kernel.return %r : !hlir.tensor<[2], f32>
}
