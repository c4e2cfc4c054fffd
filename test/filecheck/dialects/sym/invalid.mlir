// RUN: %opt %s --verify-diagnostics --parsing-diagnostics --split-input-file | %filecheck %s

// CHECK: empty range: min 8, max 4
sym.symbol @s min 8 max 4

// -----

// CHECK: multiple_of must be positive, found 0
sym.symbol @s min 8 multiple_of 0

// -----

// CHECK: the relation is '==', '>=' or '!=', found '<'
sym.guard s "<"

// -----

// CHECK: the divisor must be positive
"test.op"() {value = #sym.expr<floordiv(s, 0)>} : () -> ()

// -----

// CHECK: floordiv takes two arguments, found 1
"test.op"() {value = #sym.expr<floordiv(s)>} : () -> ()
