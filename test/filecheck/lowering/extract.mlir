// RUN: %opt %s -p extract | %filecheck %s
// RUN: %opt %s -p 'extract{libraries="kernel.call_matmul"}' | %filecheck %s --check-prefix LIBRARY

// The cheaper member of each class is kept: one exp2 of a sum instead of a product of two, and no cycle through x * 1.
// CHECK-LABEL: func.func @main
// CHECK-NEXT: %{{.*}} = hlir.add %x, %y : !hlir.tensor<[64], f32>
// CHECK-NEXT: %{{.*}} = hlir.exp2 %{{.*}} : !hlir.tensor<[64], f32>
// CHECK-NEXT: func.return
func.func @main(%x: !hlir.tensor<[64], f32>, %y: !hlir.tensor<[64], f32>) -> !hlir.tensor<[64], f32> {
  %r = equivalence.graph -> !hlir.tensor<[64], f32> {
    %one = hlir.constant 1.0 : !hlir.tensor<[64], f32>
    %a = hlir.exp2 %x : !hlir.tensor<[64], f32>
    %b = hlir.exp2 %y : !hlir.tensor<[64], f32>
    %s = hlir.add %x, %y : !hlir.tensor<[64], f32>
    %p = hlir.mul %a, %b : !hlir.tensor<[64], f32>
    %q = hlir.exp2 %s : !hlir.tensor<[64], f32>
    %u = hlir.mul %c, %one : !hlir.tensor<[64], f32>
    %c = equivalence.class %u, %p, %q : !hlir.tensor<[64], f32>
    equivalence.yield %c : !hlir.tensor<[64], f32>
  }
  func.return %r : !hlir.tensor<[64], f32>
}

// A library call is chosen only where it is allowed, and where the library has the epilogue.
// CHECK-LABEL: func.func @product
// CHECK: hlir.contract
// LIBRARY-LABEL: func.func @product
// LIBRARY: kernel.call_matmul
func.func @product(%x: !hlir.tensor<[64, 64], f32>, %y: !hlir.tensor<[64, 64], f32>) -> !hlir.tensor<[64, 64], f32> {
  %r = equivalence.graph -> !hlir.tensor<[64, 64], f32> {
    %a = kernel.call_matmul %x, %y {axes = array<i64: 2>, epilogue = "gelu_tanh", lhs_map = #hlir.map<(d0, d1, d2) -> (d0, d2)>, rhs_map = #hlir.map<(d0, d1, d2) -> (d1, d2)>, space = #hlir.shape<[64, 64, 64]>} : !hlir.tensor<[64, 64], f32>
    %b = hlir.contract %x, %y {axes = array<i64: 2>, lhs_map = #hlir.map<(d0, d1, d2) -> (d0, d2)>, rhs_map = #hlir.map<(d0, d1, d2) -> (d1, d2)>, space = #hlir.shape<[64, 64, 64]>} : !hlir.tensor<[64, 64], f32>
    %g = hlir.gelu %b {approximate = "tanh"} : !hlir.tensor<[64, 64], f32>
    %c = equivalence.class %a, %g : !hlir.tensor<[64, 64], f32>
    equivalence.yield %c : !hlir.tensor<[64, 64], f32>
  }
  func.return %r : !hlir.tensor<[64, 64], f32>
}
