// The installed command in a process of its own, through a shell (the redirection makes lit take its shell).
// RUN: albumen-opt %s -p cse > %t && filecheck %s < %t
// RUN: not albumen-opt %s -p no-such-pass 2> %t && filecheck %s --check-prefix=ERROR < %t
// RUN: xdsl-opt %s -p 'cse,eqsat{nodes=10}' --help > %t && filecheck %s --check-prefix=HELP < %t

// CHECK-LABEL: func.func @twice
// CHECK-NEXT:    [[SUM:%.*]] = arith.addf %a, %a : f32
// CHECK-NEXT:    func.return [[SUM]], [[SUM]] : f32, f32

// ERROR: albumen-opt: error: -p no-such-pass: Unrecognized passes
// ERROR-NEXT: to do: use one of: {{.*}}eqsat
// ERROR-NOT: Traceback

// Stock xdsl-opt knows our passes through the entry point.
// HELP: plan-memory

func.func @twice(%a: f32) -> (f32, f32) {
  %0 = arith.addf %a, %a : f32
  %1 = arith.addf %a, %a : f32
  func.return %0, %1 : f32, f32
}
