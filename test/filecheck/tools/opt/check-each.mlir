// RUN: %opt %s -p canonicalize,simplify-dims,roll-loops --check-each --seed 7 | %filecheck %s

sym.symbol @s min 0 max 64

// CHECK-LABEL: func.func @f
// CHECK-NEXT:    %{{[^ ]*}} = hlir.add %x, %x
// CHECK-NEXT:    func.return
func.func @f(%x: !hlir.tensor<[s, 4], f32>) -> !hlir.tensor<[s, 4], f32> {
  %0 = hlir.add %x, %x : !hlir.tensor<[s, 4], f32>
  %1 = hlir.add %x, %x : !hlir.tensor<[s, 4], f32>
  func.return %1 : !hlir.tensor<[s, 4], f32>
}
