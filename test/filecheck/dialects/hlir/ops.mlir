// RUN: %opt %s | %opt | %filecheck %s
// RUN: %opt %s --print-op-generic | %opt | %filecheck %s

sym.symbol @s min 1 max 64

// CHECK-LABEL: func.func @main
// CHECK-SAME: (%x: !hlir.tensor<[s, 8], f32>
func.func @main(%x: !hlir.tensor<[s, 8], f32>, %w: !hlir.tensor<[8], f32>, %table : !hlir.tensor<[9, 8], bf16>,
                %i : !hlir.tensor<[s], i64>) -> !hlir.tensor<[s, 8], f32> {
  // CHECK: hlir.constant -0.0 : !hlir.tensor<[s, 8], f32>
  %zero = hlir.constant -0.0 : !hlir.tensor<[s, 8], f32>
  // A NaN keeps its payload.
  // CHECK: hlir.constant 0x7FC00001 : !hlir.tensor<[], f32>
  %nan = hlir.constant 0x7FC00001 : !hlir.tensor<[], f32>
  // A decimal is rounded to the dtype when it is read: one spelling, one bit pattern.
  // CHECK: hlir.constant 0.1 : !hlir.tensor<[], bf16>
  %tenth = hlir.constant 0.1000001 : !hlir.tensor<[], bf16>
  // CHECK: hlir.constant true : !hlir.tensor<[s, 8], i1>
  %true = hlir.constant true : !hlir.tensor<[s, 8], i1>
  // CHECK: hlir.literal "0000803F00000040" : !hlir.tensor<[2], f32>
  %literal = hlir.literal "0000803F00000040" : !hlir.tensor<[2], f32>
  // CHECK: hlir.iota (d0, d1) -> (d0*8 + d1) : !hlir.tensor<[s, 8], i64>
  %iota = hlir.iota (d0, d1) -> (8*d0 + d1) : !hlir.tensor<[s, 8], i64>
  // CHECK: hlir.view %w (d0, d1) -> (d1) : (!hlir.tensor<[8], f32>) -> !hlir.tensor<[s, 8], f32>
  %rows = hlir.view %w (d0, d1) -> (d1) : (!hlir.tensor<[8], f32>) -> !hlir.tensor<[s, 8], f32>
  // CHECK: hlir.add %x, %{{.*}} : !hlir.tensor<[s, 8], f32>
  %sum = hlir.add %x, %rows : !hlir.tensor<[s, 8], f32>
  // CHECK: hlir.less_than %{{.*}}, %{{.*}} : (!hlir.tensor<[s, 8], f32>, !hlir.tensor<[s, 8], f32>) -> !hlir.tensor<[s, 8], i1>
  %less = hlir.less_than %sum, %zero : (!hlir.tensor<[s, 8], f32>, !hlir.tensor<[s, 8], f32>) -> !hlir.tensor<[s, 8], i1>
  // CHECK: hlir.max %{{.*}} {axes = array<i64: 1>} : (!hlir.tensor<[s, 8], f32>) -> !hlir.tensor<[s], f32>
  %max = hlir.max %sum {axes = array<i64: 1>} : (!hlir.tensor<[s, 8], f32>) -> !hlir.tensor<[s], f32>
  // CHECK: hlir.contract %{{.*}}, %{{.*}} {lhs_map = #hlir.map<(d0, d1, d2) -> (d0, d2)>
  %gram = hlir.contract %x, %x {lhs_map = #hlir.map<(d0, d1, d2) -> (d0, d2)>, rhs_map = #hlir.map<(d0, d1, d2) -> (d1, d2)>,
    axes = array<i64: 2>, space = #hlir.shape<[s, s, 8]>} : (!hlir.tensor<[s, 8], f32>, !hlir.tensor<[s, 8], f32>) -> !hlir.tensor<[s, s], f32>
  // CHECK: hlir.gather %table, %i {axis = #builtin.int<0>}
  %gathered = hlir.gather %table, %i {axis = #builtin.int<0>} : (!hlir.tensor<[9, 8], bf16>, !hlir.tensor<[s], i64>) -> !hlir.tensor<[s, 8], bf16>
  // CHECK: hlir.check_index %i, %{{.*}} {error = "value"} : !hlir.tensor<[s], i64>
  %limit = hlir.constant 8 : !hlir.tensor<[s], i64>
  %checked = hlir.check_index %i, %limit {error = "value"} : !hlir.tensor<[s], i64>
  // CHECK: hlir.sort %{{.*}} {axis = #builtin.int<1>, descending = true} : (!hlir.tensor<[s, 8], f32>) -> (!hlir.tensor<[s, 8], f32>, !hlir.tensor<[s, 8], i64>)
  %values, %order = hlir.sort %x {axis = #builtin.int<1>, descending = true} : (!hlir.tensor<[s, 8], f32>) -> (!hlir.tensor<[s, 8], f32>, !hlir.tensor<[s, 8], i64>)
  // CHECK: hlir.merge_runs %{{.*}}, %{{.*}} {axis = #builtin.int<1>, descending = false, run = #builtin.int<4>, to = #builtin.int<8>}
  %merged, %places = hlir.merge_runs %values, %order {axis = #builtin.int<1>, descending = false, run = #builtin.int<4>, to = #builtin.int<8>} : (!hlir.tensor<[s, 8], f32>, !hlir.tensor<[s, 8], i64>) -> (!hlir.tensor<[s, 8], f32>, !hlir.tensor<[s, 8], i64>)
  // CHECK: hlir.loop 2 carried (%{{.*}}) : (!hlir.tensor<[s, 8], f32>) streams (%w, %w) : (!hlir.tensor<[8], f32>, !hlir.tensor<[8], f32>) invariants (%{{.*}}) : (!hlir.tensor<[s, 8], f32>) -> (!hlir.tensor<[s, 8], f32>)
  %last = hlir.loop 2 carried (%x) : (!hlir.tensor<[s, 8], f32>) streams (%w, %w) : (!hlir.tensor<[8], f32>, !hlir.tensor<[8], f32>) invariants (%zero) : (!hlir.tensor<[s, 8], f32>) -> (!hlir.tensor<[s, 8], f32>) {
  ^bb0(%c : !hlir.tensor<[s, 8], f32>, %b : !hlir.tensor<[8], f32>, %n : !hlir.tensor<[s, 8], f32>):
    %e = hlir.view %b (d0, d1) -> (d1) : (!hlir.tensor<[8], f32>) -> !hlir.tensor<[s, 8], f32>
    %f = hlir.add %c, %e : !hlir.tensor<[s, 8], f32>
    // CHECK: hlir.yield %{{.*}} : !hlir.tensor<[s, 8], f32>
    hlir.yield %f : !hlir.tensor<[s, 8], f32>
  }
  func.return %last : !hlir.tensor<[s, 8], f32>
}
