// RUN: %opt %s -p map-threads --verify-diagnostics --split-input-file | %filecheck %s

// CHECK: the kernel has 2 loops one after another; blocks cannot wait for each other
loop.kernel @two(%x: !loop.ptr<f32>) modes ["write"] {
  %n = arith.constant 8 : index
  %z = arith.constant 0.0 : f32
  loop.parallel (%i) to (%n) mapping "grid" {
    loop.store %z, %x[%i] : f32, !loop.ptr<f32>
  }
  loop.parallel (%i) to (%n) mapping "grid" {
    loop.store %z, %x[%i] : f32, !loop.ptr<f32>
  }
}

// -----

// CHECK: a value of type vector<16xf32> in a loop kernel cannot be mapped to threads
loop.kernel @vectors(%x: !loop.ptr<f32>) modes ["readwrite"] {
  %n = arith.constant 8 : index
  loop.parallel (%i) to (%n) mapping "grid" {
    %v = loop.load %x[%i] : !loop.ptr<f32> -> vector<16xf32>
    loop.store %v, %x[%i] : vector<16xf32>, !loop.ptr<f32>
  }
}

// -----

sym.symbol @n min 1

// CHECK: a row of unknown size cannot be kept in shared memory
loop.kernel @row(%x: !loop.ptr<f32>, %n: index) symbols ["n"] modes ["readwrite"] {
  %rows = arith.constant 8 : index
  %one = arith.constant 1 : index
  loop.parallel (%i) to (%rows) mapping "grid" {
    %base = arith.muli %i, %n : index
    %row = loop.alloc %n : !loop.ptr<f32>
    loop.parallel (%k) to (%n) mapping "row" {
      %o = arith.addi %base, %k : index
      %v = loop.load %x[%o] : !loop.ptr<f32> -> f32
      loop.store %v, %row[%k] : f32, !loop.ptr<f32>
    }
    loop.parallel (%k) to (%n) mapping "row" {
      %next = arith.addi %k, %one : index
      %p = arith.remsi %next, %n : index
      %v = loop.load %row[%p] : !loop.ptr<f32> -> f32
      %o = arith.addi %base, %k : index
      loop.store %v, %x[%o] : f32, !loop.ptr<f32>
    }
  }
}
