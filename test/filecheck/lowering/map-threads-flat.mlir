// RUN: %opt %s -p map-threads | %filecheck %s

sym.symbol @m min 1 max 100000
sym.symbol @big min 1

// Both dims are stepped through as one; each thread takes a vector.
// CHECK: simt.kernel @double({{.*}}%m: i32) grid [#sym.expr<floordiv(m*3 + 7, 8)>] block [256, 1, 1]
// CHECK: simt.load %x[{{.*}}] : !simt.ptr<f32, global, align 16>, i32 -> vector<4xf32>
// CHECK: simt.store {{.*}} : vector<4xf32>, !simt.ptr<f32, global, align 16>, i32
loop.kernel @double(%x: !loop.ptr<f32, align 16>, %y: !loop.ptr<f32, align 16>, %m: index) symbols ["m"] modes ["read", "write"] {
  %n = arith.constant 384 : index
  loop.parallel (%i) to (%m) mapping "grid" {
    loop.parallel (%j) to (%n) mapping "vector" {
      %a = arith.muli %i, %n : index
      %o = arith.addi %a, %j : index
      %v = loop.load %x[%o] : !loop.ptr<f32, align 16> -> f32
      %w = arith.addf %v, %v : f32
      loop.store %w, %y[%o] : f32, !loop.ptr<f32, align 16>
    }
  }
}

// A symbol without a maximum may reach 2^31: offsets are 64 bits wide. Without a promise of alignment, no vectors.
// CHECK: simt.kernel @copy({{.*}}%big: i64)
// CHECK: simt.load %x[{{.*}}] : !simt.ptr<f32, global>, i64 -> f32
loop.kernel @copy(%x: !loop.ptr<f32>, %y: !loop.ptr<f32>, %big: index) symbols ["big"] modes ["read", "write"] {
  %four = arith.constant 4 : index
  loop.parallel (%i, %j) to (%big, %four) mapping "grid" {
    %a = arith.muli %i, %four : index
    %o = arith.addi %a, %j : index
    %v = loop.load %x[%o] : !loop.ptr<f32> -> f32
    loop.store %v, %y[%o] : f32, !loop.ptr<f32>
  }
}

// The schedule chooses threads, vector width and streaming.
// CHECK: simt.kernel @scheduled
// CHECK-SAME: block [128, 1, 1]
// CHECK: simt.load {{.*}} hint stream : !simt.ptr<f32, global, align 16>, i32 -> vector<2xf32>
// CHECK: simt.store {{.*}} hint stream : vector<2xf32>
loop.kernel @scheduled(%x: !loop.ptr<f32, align 16>, %y: !loop.ptr<f32, align 16>) modes ["read", "write"]
    attributes {schedule = {threads = 128 : i64, vector = 2 : i64, stream = 1 : i64}} {
  %n = arith.constant 384 : index
  loop.parallel (%i) to (%n) mapping "grid" {
    %v = loop.load %x[%i] : !loop.ptr<f32, align 16> -> f32
    loop.store %v, %y[%i] : f32, !loop.ptr<f32, align 16>
  }
}
