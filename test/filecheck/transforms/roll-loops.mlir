// RUN: %opt %s -p roll-loops --check-each | %filecheck %s
// RUN: %opt %s -p 'roll-loops{minimum=4}' | %filecheck %s --check-prefix=FOUR
// RUN: not %opt %s -p 'roll-loops{minimum=1}' 2>&1 | %filecheck %s --check-prefix=ONE

// The body starts with the product, whose operand is stored anyway; the shift is the same each time, splats are made inside.
// CHECK:      %[[LAST:.*]] = hlir.loop 3 carried (%x)
// CHECK-SAME: streams (%w0, %w1, %w2)
// CHECK-SAME: invariants (%shift)
// CHECK-NEXT: ^bb0(%[[C:.*]]: !hlir.tensor<[s, 4], f32>, %[[W:.*]]: !hlir.tensor<[4, 4], f32>, %[[SHIFT:.*]]: !hlir.tensor<[s, 4], f32>):
// CHECK-NEXT:   %[[Y:.*]] = hlir.linear %[[C]], %[[W]]
// CHECK-NEXT:   %[[SCALE:.*]] = hlir.constant 0.5
// CHECK-NEXT:   %[[M:.*]] = hlir.mul %[[Y]], %[[SCALE]]
// CHECK-NEXT:   %[[R:.*]] = hlir.add %[[M]], %[[SHIFT]]
// CHECK-NEXT:   hlir.yield %[[R]]
// CHECK:      func.return %[[LAST]]
// FOUR-NOT: hlir.loop
// ONE: minimum must be at least 2
sym.symbol @s
func.func @main(%x: !hlir.tensor<[s, 4], f32>, %w0: !hlir.tensor<[4, 4], f32>, %w1: !hlir.tensor<[4, 4], f32>, %w2: !hlir.tensor<[4, 4], f32>, %shift: !hlir.tensor<[s, 4], f32>) -> !hlir.tensor<[s, 4], f32> {
  %scale = hlir.constant 0.5 : !hlir.tensor<[s, 4], f32>
  %0 = hlir.linear %x, %w0 : (!hlir.tensor<[s, 4], f32>, !hlir.tensor<[4, 4], f32>) -> !hlir.tensor<[s, 4], f32>
  %1 = hlir.mul %0, %scale : !hlir.tensor<[s, 4], f32>
  %2 = hlir.add %1, %shift : !hlir.tensor<[s, 4], f32>
  %3 = hlir.linear %2, %w1 : (!hlir.tensor<[s, 4], f32>, !hlir.tensor<[4, 4], f32>) -> !hlir.tensor<[s, 4], f32>
  %4 = hlir.mul %3, %scale : !hlir.tensor<[s, 4], f32>
  %5 = hlir.add %4, %shift : !hlir.tensor<[s, 4], f32>
  %6 = hlir.linear %5, %w2 : (!hlir.tensor<[s, 4], f32>, !hlir.tensor<[4, 4], f32>) -> !hlir.tensor<[s, 4], f32>
  %7 = hlir.mul %6, %scale : !hlir.tensor<[s, 4], f32>
  %8 = hlir.add %7, %shift : !hlir.tensor<[s, 4], f32>
  func.return %8 : !hlir.tensor<[s, 4], f32>
}
