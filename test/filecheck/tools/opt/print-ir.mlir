// RUN: %opt %s -p 'cse,dce' --print-ir-after-all 2>&1 | %filecheck %s --check-prefix=ALL
// RUN: %opt %s -p 'cse,dce' --print-ir-before-all 2>&1 | %filecheck %s --check-prefix=BEFORE
// RUN: %opt %s -p 'cse,dce' --print-ir-after dce 2>&1 | %filecheck %s --check-prefix=ONE
// RUN: %opt %s -p 'cse,dce' --print-ir-before=dce 2>&1 | %filecheck %s --check-prefix=ONE-BEFORE
// RUN: %opt %s -p 'cse,dce' --print-ir-after-change 2>&1 | %filecheck %s --check-prefix=CHANGE
// RUN: %opt %s -p 'cse,dce' --time-passes 2>&1 | %filecheck %s --check-prefix=TIME

// ALL: IR Dump After cse //
// ALL: arith.addf
// ALL-NOT: arith.addf
// ALL: IR Dump After dce //

// BEFORE: IR Dump Before cse //
// BEFORE: arith.addf
// BEFORE-NEXT: arith.addf
// BEFORE: IR Dump Before dce //

// ONE-NOT: IR Dump After cse
// ONE: IR Dump After dce //
// ONE-BEFORE-NOT: IR Dump Before cse
// ONE-BEFORE: IR Dump Before dce //

// CHANGE: IR Dump After cse //
// CHANGE-NOT: IR Dump After dce

// TIME: pass execution time
// TIME: {{[0-9.]+ +[0-9.]+%}}  cse
// TIME: {{[0-9.]+ +[0-9.]+%}}  dce
// TIME: total

func.func @twice(%a: f32) -> (f32, f32) {
  %0 = arith.addf %a, %a : f32
  %1 = arith.addf %a, %a : f32
  func.return %0, %1 : f32, f32
}
