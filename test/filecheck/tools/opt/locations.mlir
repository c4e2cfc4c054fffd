// What is printed with locations parses back, also where ops name arguments before their body.
// RUN: %opt %s --print-debuginfo | %opt | %filecheck %s
// RUN: %opt %s --print-debuginfo | %filecheck %s --check-prefix=LOC

sym.symbol @s min 1 max 16

// CHECK: kernel.func @k(%x: !hlir.tensor<[s], f32>) -> (!hlir.tensor<[s], f32>) {
// LOC: kernel.func @k(%x: !hlir.tensor<[s], f32>) -> (!hlir.tensor<[s], f32>) {
kernel.func @k(%x: !hlir.tensor<[s], f32>) -> (!hlir.tensor<[s], f32>) {
  %y = kernel.fused (%a = %x : !hlir.tensor<[s], f32>) -> (!hlir.tensor<[s], f32>) {
    // LOC: %e = hlir.exp %a : !hlir.tensor<[s], f32> loc("model.py":7:3)
    %e = hlir.exp %a : !hlir.tensor<[s], f32> loc("model.py":7:3)
    kernel.yield %e : !hlir.tensor<[s], f32>
  }
  kernel.return %y : !hlir.tensor<[s], f32>
}

// CHECK: loop.kernel @l(%x: !loop.ptr<i64>) modes ["readwrite"] {
loop.kernel @l(%x: !loop.ptr<i64>) modes ["readwrite"] {
  %zero = arith.constant 0 : index
  %n = arith.constant 10 : i64
  %start = loop.load %x[%zero] : !loop.ptr<i64> -> i64
  // CHECK: %end = scf.while (%i = %start) : (i64) -> i64 {
  %end = scf.while (%i = %start) : (i64) -> i64 {
    %more = arith.cmpi slt, %i, %n : i64
    scf.condition(%more) %i : i64
  } do {
  ^bb0(%j: i64):
    %next = arith.addi %j, %j : i64
    scf.yield %next : i64
  }
  loop.store %end, %x[%zero] : i64, !loop.ptr<i64>
}

// CHECK: simt.kernel @t(%p: !simt.ptr<f32, global>, %m: i32) grid [#sym.expr<s>] block [32, 1, 1] symbols ["s"] modes ["read"] {
simt.kernel @t(%p: !simt.ptr<f32, global>, %m: i32) grid [#sym.expr<s>] block [32, 1, 1] symbols ["s"] modes ["read"] {
  %zero = arith.constant 0 : i32
}
