// RUN: %opt %s -p simplify-positions,canonicalize --check-each | %filecheck %s

sym.symbol @s min 1 max 64

// Arithmetic on positions is one iota; a gather at them is a view.
// CHECK-LABEL: func.func @backwards
// CHECK-NEXT: %[[VIEW:.*]] = hlir.view %x (d0, d1) -> (d0, -d1 + 3)
// CHECK-NEXT: func.return %[[VIEW]]
func.func @backwards(%x: !hlir.tensor<[s, 4], f32>) -> !hlir.tensor<[s, 4], f32> {
  %up = hlir.iota (d0) -> (d0) : !hlir.tensor<[4], i64>
  %three = hlir.constant 3 : !hlir.tensor<[4], i64>
  %down = hlir.sub %three, %up : !hlir.tensor<[4], i64>
  %y = hlir.gather %x, %down {axis = #builtin.int<1>} : (!hlir.tensor<[s, 4], f32>, !hlir.tensor<[4], i64>) -> !hlir.tensor<[s, 4], f32>
  func.return %y : !hlir.tensor<[s, 4], f32>
}

// A position that may lie outside is left to the gather, which is checked when it runs.
// CHECK-LABEL: func.func @outside
// CHECK-NEXT: hlir.iota
// CHECK-NEXT: hlir.gather
func.func @outside(%table: !hlir.tensor<[64, 4], f32>, %x: !hlir.tensor<[s], f32>) -> !hlir.tensor<[s, 4], f32> {
  %next = hlir.iota (d0) -> (d0 + 1) : !hlir.tensor<[s], i64>
  %y = hlir.gather %table, %next {axis = #builtin.int<0>} : (!hlir.tensor<[64, 4], f32>, !hlir.tensor<[s], i64>) -> !hlir.tensor<[s, 4], f32>
  func.return %y : !hlir.tensor<[s, 4], f32>
}

// A check of positions that lie inside is nothing; one that may fail stays.
// CHECK-LABEL: func.func @checked
// CHECK-NEXT: %[[UP:.*]] = hlir.iota (d0) -> (d0)
// CHECK-NEXT: %[[LAST:.*]] = hlir.constant 62
// CHECK-NEXT: %[[CHECK:.*]] = hlir.check_index %[[UP]], %[[LAST]]
// CHECK-NEXT: func.return %[[UP]], %[[CHECK]]
func.func @checked(%x: !hlir.tensor<[s], f32>) -> (!hlir.tensor<[s], i64>, !hlir.tensor<[s], i64>) {
  %up = hlir.iota (d0) -> (d0) : !hlir.tensor<[s], i64>
  %last = hlir.iota (d0) -> (s - 1) : !hlir.tensor<[s], i64>
  %below = hlir.constant 62 : !hlir.tensor<[s], i64>
  %0 = hlir.check_index %up, %last {error = "index"} : !hlir.tensor<[s], i64>
  %1 = hlir.check_index %up, %below {error = "index"} : !hlir.tensor<[s], i64>
  func.return %0, %1 : !hlir.tensor<[s], i64>, !hlir.tensor<[s], i64>
}

// Ranges decide a comparison, or leave it.
// CHECK-LABEL: func.func @compared
// CHECK-NEXT: %[[ROW:.*]] = hlir.iota (d0, d1) -> (d0)
// CHECK-NEXT: %[[COLUMN:.*]] = hlir.iota (d0, d1) -> (d1)
// CHECK-NEXT: %[[TRUE:.*]] = hlir.constant true
// CHECK-NEXT: %[[MASK:.*]] = hlir.less_than %[[COLUMN]], %[[ROW]]
// CHECK-NEXT: func.return %[[TRUE]], %[[MASK]]
func.func @compared(%x: !hlir.tensor<[s, 4], f32>) -> (!hlir.tensor<[s, 4], i1>, !hlir.tensor<[s, 4], i1>) {
  %row = hlir.iota (d0, d1) -> (d0) : !hlir.tensor<[s, 4], i64>
  %column = hlir.iota (d0, d1) -> (d1) : !hlir.tensor<[s, 4], i64>
  %size = hlir.iota (d0, d1) -> (s) : !hlir.tensor<[s, 4], i64>
  %0 = hlir.less_than %row, %size : (!hlir.tensor<[s, 4], i64>, !hlir.tensor<[s, 4], i64>) -> !hlir.tensor<[s, 4], i1>
  %1 = hlir.less_than %column, %row : (!hlir.tensor<[s, 4], i64>, !hlir.tensor<[s, 4], i64>) -> !hlir.tensor<[s, 4], i1>
  func.return %0, %1 : !hlir.tensor<[s, 4], i1>, !hlir.tensor<[s, 4], i1>
}
