// What the module says of its symbols is what a call of the program checks: ranges, multiples, and guards between them.
// RUN: %opt %s -p simplify-dims,extract,cover,plan-memory | %filecheck %s
// RUN: %opt %s -p simplify-dims,extract,cover,plan-memory | %opt | %filecheck %s

sym.symbol @s min 1 max 512
sym.symbol @t min 8 max 64 multiple_of 8
sym.symbol @n min 0
sym.guard s*t - 100 ">="
sym.guard n*2 - t*3 "=="

// CHECK: host.program @main target "c" {
// CHECK-NEXT: %x = host.input
// CHECK-NEXT: %n = host.input "n" role "scalar"
// CHECK-NEXT: host.symbol "s" of %x dim 0 min 1 max 512
// CHECK-NEXT: host.symbol "t" of %x dim 1 min 8 max 64 multiple_of 8
// CHECK-NEXT: host.symbol "n" of %n min 0
// CHECK-NEXT: host.guard s*t - 100 ">="
// CHECK-NEXT: host.guard {{.*}} "=="
// CHECK-NEXT: %output0 = host.output
func.func @main(%x: !hlir.tensor<[s, t], f32> {hlir.name = "x", hlir.role = "input"}, %n: !hlir.tensor<[], i64> {hlir.name = "n", hlir.role = "scalar", hlir.symbol = "n"}) -> !hlir.tensor<[s, t], f32> {
  %0 = hlir.exp %x : !hlir.tensor<[s, t], f32>
  func.return %0 : !hlir.tensor<[s, t], f32>
}
