// RUN: %opt %s -p canonicalize --check-each | %filecheck %s

sym.symbol @s

// CHECK-LABEL: func.func @views
func.func @views(%x: !hlir.tensor<[2, 3], f32>) -> (!hlir.tensor<[2, 3], f32>, !hlir.tensor<[3, 2, 4], f32>) {
  // CHECK-NEXT: %[[VIEW:.*]] = hlir.view %x (d0, d1, d2) -> (d1, d0)
  // CHECK-NEXT: func.return %x, %[[VIEW]]
  %0 = hlir.view %x (d0, d1) -> (d1, d0) : (!hlir.tensor<[2, 3], f32>) -> !hlir.tensor<[3, 2], f32>
  %1 = hlir.view %0 (d0, d1) -> (d1, d0) : (!hlir.tensor<[3, 2], f32>) -> !hlir.tensor<[2, 3], f32>
  %2 = hlir.view %0 (d0, d1, d2) -> (d0, d1) : (!hlir.tensor<[3, 2], f32>) -> !hlir.tensor<[3, 2, 4], f32>
  func.return %1, %2 : !hlir.tensor<[2, 3], f32>, !hlir.tensor<[3, 2, 4], f32>
}

// CHECK-LABEL: func.func @signed_zero
func.func @signed_zero(%x: !hlir.tensor<[s], f32>) -> (!hlir.tensor<[s], f32>, !hlir.tensor<[s], f32>) {
  // CHECK-NEXT: hlir.constant 0.0
  // CHECK-NEXT: %[[SUM:.*]] = hlir.add
  // CHECK-NEXT: func.return %[[SUM]], %x
  %zero = hlir.constant 0.0 : !hlir.tensor<[s], f32>
  %minus = hlir.constant -0.0 : !hlir.tensor<[s], f32>
  %0 = hlir.add %x, %zero : !hlir.tensor<[s], f32>
  %1 = hlir.add %minus, %x : !hlir.tensor<[s], f32>
  func.return %0, %1 : !hlir.tensor<[s], f32>, !hlir.tensor<[s], f32>
}

// CHECK-LABEL: func.func @mask
func.func @mask() -> !hlir.tensor<[2, 3], f32> {
  // CHECK-NEXT: hlir.literal "000000000000000000000000000000000000803F00000000"
  // CHECK-NEXT: func.return
  %row = hlir.iota (d0, d1) -> (d0*2 + 1) : !hlir.tensor<[2, 3], i64>
  %column = hlir.iota (d0) -> (d0) : !hlir.tensor<[3], i64>
  %columns = hlir.view %column (d0, d1) -> (d1) : (!hlir.tensor<[3], i64>) -> !hlir.tensor<[2, 3], i64>
  %equal = hlir.equal %row, %columns : (!hlir.tensor<[2, 3], i64>, !hlir.tensor<[2, 3], i64>) -> !hlir.tensor<[2, 3], i1>
  %flip = hlir.view %equal (d0, d1) -> (-d0 + 1, -d1 + 2) : (!hlir.tensor<[2, 3], i1>) -> !hlir.tensor<[2, 3], i1>
  %0 = hlir.cast %flip {dtype = f32} : (!hlir.tensor<[2, 3], i1>) -> !hlir.tensor<[2, 3], f32>
  func.return %0 : !hlir.tensor<[2, 3], f32>
}

// CHECK-LABEL: func.func @loop
func.func @loop(%x: !hlir.tensor<[2], f32>, %w: !hlir.tensor<[2], f32>, %v: !hlir.tensor<[2], f32>) -> !hlir.tensor<[2], f32> {
  %0 = hlir.loop 2 carried (%x) : (!hlir.tensor<[2], f32>) streams (%w, %v) : (!hlir.tensor<[2], f32>, !hlir.tensor<[2], f32>) invariants () : () -> (!hlir.tensor<[2], f32>) {
  ^bb0(%c: !hlir.tensor<[2], f32>, %s: !hlir.tensor<[2], f32>):
    // CHECK: hlir.mul
    // CHECK-NEXT: hlir.yield
    %dead = hlir.add %c, %s : !hlir.tensor<[2], f32>
    %1 = hlir.mul %c, %s : !hlir.tensor<[2], f32>
    %2 = hlir.mul %c, %s : !hlir.tensor<[2], f32>
    %3 = hlir.maximum %1, %2 : !hlir.tensor<[2], f32>
    hlir.yield %3 : !hlir.tensor<[2], f32>
  }
  func.return %0 : !hlir.tensor<[2], f32>
}
