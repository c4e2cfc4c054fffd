// RUN: %opt %s -p 'eqsat{theories=spelling}' --check-each | %filecheck %s
// RUN: %opt %s -p 'eqsat{theories=spelling}' | %opt | %filecheck %s
// RUN: %opt %s -p 'eqsat{theories=views,spelling report=rules}' 2>&1 | %filecheck %s --check-prefix=REPORT
// RUN: not %opt %s -p 'eqsat{theories=spellings}' 2>&1 | %filecheck %s --check-prefix=THEORY

// Classes and members come in the order of their smallest terms, arguments first.
// CHECK:      func.func @silu(%x: !hlir.tensor<[s], f32>) -> !hlir.tensor<[s], f32> {
// CHECK-NEXT:   %[[GRAPH:.*]] = equivalence.graph -> !hlir.tensor<[s], f32> {
// CHECK:          %[[ONE:.*]] = hlir.constant 1.0
// CHECK:          %[[NEG:.*]] = hlir.neg %x
// CHECK:          %[[SILU:.*]] = hlir.silu %x
// CHECK:          hlir.mul
// CHECK-NEXT:     hlir.mul
// CHECK-NEXT:     %[[RESULT:.*]] = equivalence.class %[[SILU]]
// CHECK:          equivalence.yield %[[RESULT]]
// CHECK:        func.return %[[GRAPH]]
// REPORT: region @silu: saturated after
// REPORT: matches {{.*}} hlir.silu f32 from its definition
// THEORY: no theory is called 'spellings'
// THEORY: did you mean spelling?
sym.symbol @s
func.func @silu(%x: !hlir.tensor<[s], f32>) -> !hlir.tensor<[s], f32> {
  %0 = hlir.neg %x : !hlir.tensor<[s], f32>
  %1 = hlir.exp %0 : !hlir.tensor<[s], f32>
  %2 = hlir.constant 1.0 : !hlir.tensor<[s], f32>
  %3 = hlir.add %2, %1 : !hlir.tensor<[s], f32>
  %4 = hlir.div %2, %3 : !hlir.tensor<[s], f32>
  %5 = hlir.mul %x, %4 : !hlir.tensor<[s], f32>
  func.return %5 : !hlir.tensor<[s], f32>
}
