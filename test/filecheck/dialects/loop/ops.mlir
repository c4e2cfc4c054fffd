// RUN: %opt %s | %filecheck %s
// RUN: %opt %s --print-op-generic | %opt | %filecheck %s

sym.symbol @s min 0 max 4096

// CHECK: loop.kernel @rows(%x: !loop.ptr<f32, align 16>, %y: !loop.ptr<bf16>, %s: index) symbols ["s"] modes ["read", "write"] {
loop.kernel @rows(%x: !loop.ptr<f32, align 16>, %y: !loop.ptr<bf16>, %s: index) symbols ["s"] modes ["read", "write"] {
  %n = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  // CHECK: loop.parallel (%i, %b) to (%s, %n) mapping "grid" {
  loop.parallel (%i, %b) to (%s, %n) mapping "grid" {
    // CHECK-NEXT: %t = loop.alloc %n bound 64 : !loop.ptr<f32, align 64>
    %t = loop.alloc %n bound 64 : !loop.ptr<f32, align 64>
    // CHECK-NEXT: %u = loop.alloc %s : !loop.ptr<f32>
    %u = loop.alloc %s : !loop.ptr<f32>
    // CHECK-NEXT: %p = loop.offset %x[%i] : !loop.ptr<f32, align 16> -> !loop.ptr<f32>
    %p = loop.offset %x[%i] : !loop.ptr<f32, align 16> -> !loop.ptr<f32>
    // CHECK-NEXT: %r = loop.reduce (%k) to (%n) add init %zero : f32 mapping "vector" {
    %r = loop.reduce (%k) to (%n) add init %zero : f32 mapping "vector" {
      // CHECK-NEXT: %v = loop.load %p[%k] : !loop.ptr<f32> -> f32
      %v = loop.load %p[%k] : !loop.ptr<f32> -> f32
      // CHECK-NEXT: %w = loop.apply "fmod"(%v, %zero) : f32
      %w = loop.apply "fmod"(%v, %zero) : f32
      // CHECK-NEXT: loop.yield %w : f32
      loop.yield %w : f32
    }
    // CHECK: %m = loop.reduce (%k_1, %l) to (%n, %s) max init %r : f32 {
    %m = loop.reduce (%k, %l) to (%n, %s) max init %r : f32 {
      loop.yield %zero : f32
    }
    // CHECK: loop.parallel (%j) to (%n) attributes {unroll} {
    loop.parallel (%j) to (%n) attributes {unroll} {
      // CHECK-NEXT: %c = arith.truncf %m : f32 to bf16
      %c = arith.truncf %m : f32 to bf16
      // CHECK-NEXT: loop.store %c, %y[%j] : bf16, !loop.ptr<bf16>
      loop.store %c, %y[%j] : bf16, !loop.ptr<bf16>
    }
    // CHECK: %q = loop.load %t[%i] : !loop.ptr<f32, align 64> -> vector<16xf32>
    %q = loop.load %t[%i] : !loop.ptr<f32, align 64> -> vector<16xf32>
    // CHECK-NEXT: loop.store %q, %t[%i] : vector<16xf32>, !loop.ptr<f32, align 64>
    loop.store %q, %t[%i] : vector<16xf32>, !loop.ptr<f32, align 64>
    // CHECK-NEXT: loop.pack %y strides %n, %s into %t lanes %s depth %n width 32 : !loop.ptr<bf16>, !loop.ptr<f32, align 64>
    loop.pack %y strides %n, %s into %t lanes %s depth %n width 32 : !loop.ptr<bf16>, !loop.ptr<f32, align 64>
  }
}

// CHECK: loop.kernel @empty() {
loop.kernel @empty() {
}
