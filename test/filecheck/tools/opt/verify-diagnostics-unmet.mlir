// RUN: not %opt %s --split-input-file --verify-diagnostics 2>&1 | %filecheck %s

// An error that is announced and does not come, and one that comes on another line.
// CHECK: verify-diagnostics-unmet.mlir:8: error: expected error "no such error" was not produced
// CHECK: verify-diagnostics-unmet.mlir:16: error: func.return: Expected arguments to have the same types
// CHECK: verify-diagnostics-unmet.mlir:14: error: expected error "Expected arguments" was not produced
func.func @right(%a: f32) -> f32 {
  func.return %a : f32 // expected-error {{no such error}}
}

// -----

func.func @wrong(%a: f32) -> f64 {
  // expected-error {{Expected arguments}}

  func.return %a : f32
}
