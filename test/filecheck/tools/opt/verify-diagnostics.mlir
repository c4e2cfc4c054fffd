// RUN: %opt %s --split-input-file --verify-diagnostics | %filecheck %s

// CHECK: func.func @right
func.func @right(%a: f32) -> f32 {
  func.return %a : f32
}

// -----

func.func @wrong(%a: f32) -> f64 {
  // expected-error@below {{Expected arguments to have the same types as the function output types}}
  func.return %a : f32
}

// -----

func.func @syntax(%a: f32) -> f32 {
  %0 = arith.addf %a, %a : f64 // expected-error {{operand is used with type f64}}
  func.return %0 : f32
}
