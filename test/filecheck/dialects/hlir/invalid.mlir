// RUN: %opt %s --verify-diagnostics --parsing-diagnostics --split-input-file | %filecheck %s

// CHECK: unknown element type 'f31'
"test.op"() : () -> !hlir.tensor<[2], f31>

// -----

// CHECK: map of 1 indices uses d1
"test.op"() {map = #hlir.map<(d0) -> (d1)>} : () -> ()

// -----

// CHECK: the index variables of a map are d0, d1, ... in order, found d1, d0
"test.op"() {map = #hlir.map<(d1, d0) -> (d1)>} : () -> ()

// -----

// CHECK: 300 is not a value of u8
%0 = hlir.constant 300 : !hlir.tensor<[], u8>

// -----

// CHECK: 0x123456789 has more than 32 bits
%0 = hlir.constant 0x123456789 : !hlir.tensor<[], f32>

// -----

%0 = "test.op"() : () -> !hlir.tensor<[s, 1], f32>
// CHECK: the map (d0, d1) -> (d0, d1) is not canonical for [s, 1], expected (d0, d1) -> (d0, 0)
%1 = hlir.view %0 (d0, d1) -> (d0, d1) : !hlir.tensor<[s, 1], f32>

// -----

%0, %1 = "test.op"() : () -> (!hlir.tensor<[2], f32>, !hlir.tensor<[2], bf16>)
// CHECK: operand types differ: !hlir.tensor<[2], f32>, !hlir.tensor<[2], bf16>
%2 = hlir.add %0, %1 : (!hlir.tensor<[2], f32>, !hlir.tensor<[2], bf16>) -> !hlir.tensor<[2], f32>

// -----

%0 = "test.op"() : () -> !hlir.tensor<[2, 3], f32>
// CHECK: result types !hlir.tensor<[2], f32> do not follow from the operands, expected !hlir.tensor<[3], f32>
%1 = hlir.sum %0 {axes = array<i64: 0>} : (!hlir.tensor<[2, 3], f32>) -> !hlir.tensor<[2], f32>

// -----

%0 = "test.op"() : () -> !hlir.tensor<[2], f32>
// CHECK: the body takes (!hlir.tensor<[3], f32>), the operands are (!hlir.tensor<[2], f32>)
%1 = hlir.loop 2 carried (%0) : (!hlir.tensor<[2], f32>) streams () : () invariants () : () -> (!hlir.tensor<[2], f32>) {
^bb0(%c : !hlir.tensor<[3], f32>):
  hlir.yield %c : !hlir.tensor<[3], f32>
}
