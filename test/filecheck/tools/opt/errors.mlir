// Every wrong piece of a file gives one error with its place in the file, and no traceback.
// RUN: not %opt %s --split-input-file 2>&1 | %filecheck %s
// RUN: %opt %s --split-input-file --verify-diagnostics --parsing-diagnostics | %filecheck %s

// CHECK:      errors.mlir:14: error: operand is used with type f64
// CHECK-NOT:  Traceback
// CHECK:      errors.mlir:20: error: func.return: Expected arguments to have the same types
// CHECK-NOT:  Traceback
// CHECK:      errors.mlir:26: error: arith.addf: values are used before they are defined
// CHECK-NEXT:   arith.addf {{.*}}errors.mlir:26
// CHECK-NOT:  Traceback

func.func @syntax(%a: f32) -> f32 {
  %0 = arith.addf %a, %a : f64
  func.return %0 : f32
}

// -----
func.func @verify(%a: f32) -> f64 {
  func.return %a : f32
}

// -----

func.func @dominance() -> f32 {
  %1 = arith.addf %0, %0 : f32
  %0 = arith.constant 1.0 : f32
  func.return %1 : f32
}
