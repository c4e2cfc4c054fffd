// Validation may start at an e-graph, and leaves the module as it was for the passes after it.
// RUN: %opt %s -p eqsat | %opt -p 'extract,cover' --check-each | %filecheck %s

// CHECK: kernel.fused
func.func @main(%x: !hlir.tensor<[3, 4], f32>) -> !hlir.tensor<[3, 4], f32> {
  %y = hlir.softmax %x {axis = #builtin.int<1>} : !hlir.tensor<[3, 4], f32>
  func.return %y : !hlir.tensor<[3, 4], f32>
}
