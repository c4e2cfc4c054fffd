// RUN: %opt %s | %opt | %filecheck %s
// RUN: %opt %s --print-op-generic | %opt | %filecheck %s

// CHECK: sym.symbol @s min 1 max 4096 multiple_of 8
sym.symbol @s min 1 max 4096 multiple_of 8
// CHECK-NEXT: sym.symbol @t min 0
sym.symbol @t
// CHECK-NEXT: sym.guard s - t*2 "=="
sym.guard s - 2*t "=="
// Equal polynomials have one spelling.
// CHECK-NEXT: sym.guard s + max(s, t) - 1 ">="
sym.guard -1 + max(t, s) + floordiv(s, 8)*8 + s - 8*floordiv(s, 8) ">="
// CHECK-NEXT: {value = #sym.expr<floordiv(s + 7, 8)*8>}
"test.op"() {value = #sym.expr<8*floordiv(s + 7, 8)>} : () -> ()
