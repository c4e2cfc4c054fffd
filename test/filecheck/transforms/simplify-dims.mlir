// RUN: %opt %s -p simplify-dims --check-each --split-input-file | %filecheck %s

// An equation removes the later symbol; its range narrows that of the other.
// CHECK:      sym.symbol @s min 2 max 50
// CHECK-NOT:  @t
// CHECK:      func.func @double(%x: !hlir.tensor<[s], f32>, %y: !hlir.tensor<[s*2], f32>) -> !hlir.tensor<[s, 2], f32>
// CHECK-NEXT: hlir.view %y (d0, d1) -> (d0*2 + d1)
sym.symbol @s min 2 max 64
sym.symbol @t min 2 max 100
sym.guard t - s*2 "=="
func.func @double(%x: !hlir.tensor<[s], f32>, %y: !hlir.tensor<[t], f32>) -> !hlir.tensor<[floordiv(t, 2), 2], f32> {
  %0 = hlir.view %y (d0, d1) -> (d0*2 + d1) : (!hlir.tensor<[t], f32>) -> !hlir.tensor<[floordiv(t, 2), 2], f32>
  func.return %0 : !hlir.tensor<[floordiv(t, 2), 2], f32>
}

// -----

// Ranges decide maxima, multiples decide divisions.
// CHECK: sym.symbol @n min 8 max 512 multiple_of 8
// CHECK: func.func @blocks(%x: !hlir.tensor<[n], f32>) -> (!hlir.tensor<[floordiv(n, 8), 8], f32>, !hlir.tensor<[n], f32>)
// CHECK-NEXT: hlir.view %x (d0, d1) -> (d0*8 + d1)
// CHECK-NEXT: hlir.view %{{.*}} (d0) -> (floordiv(d0, 8), d0 - floordiv(d0, 8)*8) : ({{.*}}) -> !hlir.tensor<[n], f32>
sym.symbol @n min 8 max 512 multiple_of 8
func.func @blocks(%x: !hlir.tensor<[max(1, n)], f32>) -> (!hlir.tensor<[floordiv(n, 8), 8], f32>, !hlir.tensor<[floordiv(n, 8)*8], f32>) {
  %0 = hlir.view %x (d0, d1) -> (d0*8 + d1) : (!hlir.tensor<[max(1, n)], f32>) -> !hlir.tensor<[floordiv(n, 8), 8], f32>
  %1 = hlir.view %0 (d0) -> (floordiv(d0, 8), d0 - floordiv(d0, 8)*8) : (!hlir.tensor<[floordiv(n, 8), 8], f32>) -> !hlir.tensor<[floordiv(n, 8)*8], f32>
  func.return %0, %1 : !hlir.tensor<[floordiv(n, 8), 8], f32>, !hlir.tensor<[floordiv(n, 8)*8], f32>
}

// -----

// A symbol that an argument carries stays.
// CHECK: sym.symbol @k
// CHECK: func.func @given(%x: !hlir.tensor<[k], f32>
sym.symbol @s
sym.symbol @k
sym.guard s - k "=="
func.func @given(%x: !hlir.tensor<[s], f32>, %k: !hlir.tensor<[], i64> {hlir.symbol = "k"}) -> !hlir.tensor<[s], f32> {
  func.return %x : !hlir.tensor<[s], f32>
}
