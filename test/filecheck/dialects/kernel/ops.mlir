// RUN: %opt %s | %filecheck %s
// RUN: %opt %s --print-op-generic | %opt | %filecheck %s

sym.symbol @s min 0 max 4096

// CHECK-LABEL: func.func @program
func.func @program(%x: !hlir.tensor<[s, 8], f32>, %w: !hlir.tensor<[4, 8], f32>, %b: !hlir.tensor<[4], f32>) -> (!hlir.tensor<[s], f32>, !hlir.tensor<[s, 4], f32>) {
  // CHECK-NEXT: %t, %m = kernel.fused (%a = %x : !hlir.tensor<[s, 8], f32>) -> (!hlir.tensor<[s, 8], f32>, !hlir.tensor<[s], f32>) schedule {rows = 2 : i64} {
  %t, %m = kernel.fused (%a = %x : !hlir.tensor<[s, 8], f32>) -> (!hlir.tensor<[s, 8], f32>, !hlir.tensor<[s], f32>) schedule {rows = 2 : i64} {
    // CHECK-NEXT: %e = hlir.exp %a : !hlir.tensor<[s, 8], f32>
    %e = hlir.exp %a : !hlir.tensor<[s, 8], f32>
    %r = hlir.sum %e {axes = array<i64: 1>} : (!hlir.tensor<[s, 8], f32>) -> !hlir.tensor<[s], f32>
    // CHECK: kernel.yield %e, %r : !hlir.tensor<[s, 8], f32>, !hlir.tensor<[s], f32>
    kernel.yield %e, %r : !hlir.tensor<[s, 8], f32>, !hlir.tensor<[s], f32>
  }
  // CHECK: %y = kernel.matmul (%l = %t : !hlir.tensor<[s, 8], f32>, %n = %w : !hlir.tensor<[4, 8], f32>) -> (!hlir.tensor<[s, 4], f32>) {
  %y = kernel.matmul (%l = %t : !hlir.tensor<[s, 8], f32>, %n = %w : !hlir.tensor<[4, 8], f32>) -> (!hlir.tensor<[s, 4], f32>) {
    %c = hlir.contract %l, %n {axes = array<i64: 2>, lhs_map = #hlir.map<(d0, d1, d2) -> (d0, d2)>, rhs_map = #hlir.map<(d0, d1, d2) -> (d1, d2)>, space = #hlir.shape<[s, 4, 8]>} : (!hlir.tensor<[s, 8], f32>, !hlir.tensor<[4, 8], f32>) -> !hlir.tensor<[s, 4], f32>
    kernel.yield %c : !hlir.tensor<[s, 4], f32>
  }
  // CHECK: %z = kernel.call_matmul %t, %w, %b
  // CHECK-SAME: epilogue = "bias_gelu"
  %z = kernel.call_matmul %t, %w, %b {axes = array<i64: 2>, epilogue = "bias_gelu", lhs_map = #hlir.map<(d0, d1, d2) -> (d0, d2)>, rhs_map = #hlir.map<(d0, d1, d2) -> (d1, d2)>, space = #hlir.shape<[s, 4, 8]>} : (!hlir.tensor<[s, 8], f32>, !hlir.tensor<[4, 8], f32>, !hlir.tensor<[4], f32>) -> !hlir.tensor<[s, 4], f32>
  // CHECK-NEXT: %q = kernel.irregular (%i = %z : !hlir.tensor<[s, 4], f32>) -> (!hlir.tensor<[s, 4], f32>) {
  %q = kernel.irregular (%i = %z : !hlir.tensor<[s, 4], f32>) -> (!hlir.tensor<[s, 4], f32>) {
    %c = hlir.scan %i {axis = #builtin.int<1>, combine = "add"} : !hlir.tensor<[s, 4], f32>
    kernel.yield %c : !hlir.tensor<[s, 4], f32>
  }
  // CHECK: %u = kernel.literal "0000803F00000040" : !hlir.tensor<[2], f32>
  %u = kernel.literal "0000803F00000040" : !hlir.tensor<[2], f32>
  func.return %m, %q : !hlir.tensor<[s], f32>, !hlir.tensor<[s, 4], f32>
}

// CHECK: kernel.func @k0(%x: !hlir.tensor<[s], f32>) -> (!hlir.tensor<[s], f32>) {
kernel.func @k0(%x: !hlir.tensor<[s], f32>) -> (!hlir.tensor<[s], f32>) {
  %y = kernel.fused (%a = %x : !hlir.tensor<[s], f32>) -> (!hlir.tensor<[s], f32>) {
    %e = hlir.exp %a : !hlir.tensor<[s], f32>
    kernel.yield %e : !hlir.tensor<[s], f32>
  }
  // CHECK: kernel.return %y : !hlir.tensor<[s], f32>
  kernel.return %y : !hlir.tensor<[s], f32>
}
