// RUN: %opt %s --verify-diagnostics --split-input-file | %filecheck %s

// CHECK: arguments are pointers, then index values; argument 0 is f32
loop.kernel @k(%x: f32) {
}

// -----

// CHECK: symbols has 0 entries for 1 index arguments
loop.kernel @k(%s: index) {
}

// -----

// CHECK: modes has 0 entries for 1 pointer arguments
loop.kernel @k(%x: !loop.ptr<f32>) {
}

// -----

// CHECK: mode must be "read", "write" or "readwrite", found "both"
loop.kernel @k(%x: !loop.ptr<f32>) modes ["both"] {
}

// -----

loop.kernel @k(%x: !loop.ptr<f32>, %s: index) symbols ["s"] modes ["read"] {
  // CHECK: accesses f64 through a pointer to f32
  %v = loop.load %x[%s] : !loop.ptr<f32> -> f64
}

// -----

loop.kernel @k(%s: index) symbols ["s"] {
  // CHECK: one index for each extent, found 2 for 1
  loop.parallel (%i, %j) to (%s) {
  }
}

// -----

loop.kernel @k(%s: index) symbols ["s"] {
  %z = arith.constant 0.0 : f64
  // CHECK: init is f64, but index is yielded
  %r = loop.reduce (%i) to (%s) add init %z : f64 {
    loop.yield %i : index
  }
}

// -----

loop.kernel @k(%s: index) symbols ["s"] {
  %z = arith.constant 0.0 : f64
  // CHECK: empty block in single-block region that expects at least a terminator
  %r = loop.reduce (%i) to (%s) add init %z : f64 {
  }
}

// -----

loop.kernel @k(%s: index) symbols ["s"] {
  // CHECK: mapping is one of grid, row, vector, sequential, found 'block'
  loop.parallel (%i) to (%s) mapping "block" {
  }
}

// -----

// CHECK: a pointer points to integers or floats, found index
loop.kernel @k(%x: !loop.ptr<index>) modes ["read"] {
}
