// RUN: %opt %s -p cse,dce | %filecheck %s

// CHECK-LABEL: func.func @twice
// CHECK-NEXT:    [[SUM:%.*]] = arith.addf %a, %a : f32
// CHECK-NEXT:    func.return [[SUM]], [[SUM]] : f32, f32
func.func @twice(%a: f32) -> (f32, f32) {
  %0 = arith.addf %a, %a : f32
  %1 = arith.addf %a, %a : f32
  func.return %0, %1 : f32, f32
}
