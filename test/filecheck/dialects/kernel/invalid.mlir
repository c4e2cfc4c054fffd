// RUN: %opt %s --verify-diagnostics --split-input-file | %filecheck %s

func.func @k(%x: !hlir.tensor<[4], f32>) {
  // CHECK: the body stores (!hlir.tensor<[4], f32>), the results are (!hlir.tensor<[4], f64>)
  %y = kernel.fused (%a = %x : !hlir.tensor<[4], f32>) -> (!hlir.tensor<[4], f64>) {
    %e = hlir.exp %a : !hlir.tensor<[4], f32>
    kernel.yield %e : !hlir.tensor<[4], f32>
  }
  func.return
}

// -----

func.func @k(%x: !hlir.tensor<[4], f32>) {
  // CHECK: the body ends with kernel.yield
  %y = kernel.fused (%a = %x : !hlir.tensor<[4], f32>) -> (!hlir.tensor<[4], f32>) {
    %e = hlir.exp %a : !hlir.tensor<[4], f32>
    hlir.yield %e : !hlir.tensor<[4], f32>
  }
  func.return
}

// -----

func.func @k(%x: !hlir.tensor<[4], f32>) {
  // CHECK: hlir.scan cannot stand in a row program
  %y = kernel.fused (%a = %x : !hlir.tensor<[4], f32>) -> (!hlir.tensor<[4], f32>) {
    %e = hlir.scan %a {axis = #builtin.int<0>, combine = "add"} : !hlir.tensor<[4], f32>
    kernel.yield %e : !hlir.tensor<[4], f32>
  }
  func.return
}

// -----

func.func @k(%x: !hlir.tensor<[4, 4], f32>) {
  // CHECK: the body is not one kernel: hlir.sum is read at (d0, d1) -> (d1), not once a row
  %y = kernel.fused (%a = %x : !hlir.tensor<[4, 4], f32>) -> (!hlir.tensor<[4, 4], f32>) {
    %s = hlir.sum %a {axes = array<i64: 1>} : (!hlir.tensor<[4, 4], f32>) -> !hlir.tensor<[4], f32>
    %b = hlir.view %s (d0, d1) -> (d1) : (!hlir.tensor<[4], f32>) -> !hlir.tensor<[4, 4], f32>
    %e = hlir.add %a, %b : !hlir.tensor<[4, 4], f32>
    kernel.yield %e : !hlir.tensor<[4, 4], f32>
  }
  func.return
}

// -----

func.func @k(%x: !hlir.tensor<[4, 6], f32>) {
  // CHECK: the body is not one kernel: hlir.max runs over other dims than hlir.sum
  %y, %z = kernel.fused (%a = %x : !hlir.tensor<[4, 6], f32>) -> (!hlir.tensor<[4], f32>, !hlir.tensor<[6], f32>) {
    %s = hlir.sum %a {axes = array<i64: 1>} : (!hlir.tensor<[4, 6], f32>) -> !hlir.tensor<[4], f32>
    %t = hlir.max %a {axes = array<i64: 0>} : (!hlir.tensor<[4, 6], f32>) -> !hlir.tensor<[6], f32>
    kernel.yield %s, %t : !hlir.tensor<[4], f32>, !hlir.tensor<[6], f32>
  }
  func.return
}

// -----

func.func @k(%x: !hlir.tensor<[4], f32>) {
  // CHECK: the body holds exactly one contraction, found 0
  %y = kernel.matmul (%a = %x : !hlir.tensor<[4], f32>) -> (!hlir.tensor<[4], f32>) {
    kernel.yield %a : !hlir.tensor<[4], f32>
  }
  func.return
}

// -----

func.func @k(%x: !hlir.tensor<[4], f32>) {
  // CHECK: the body holds one irregular op, found none
  %y = kernel.irregular (%a = %x : !hlir.tensor<[4], f32>) -> (!hlir.tensor<[4], f32>) {
    kernel.yield %a : !hlir.tensor<[4], f32>
  }
  func.return
}

// -----

func.func @k(%x: !hlir.tensor<[4], f32>, %y: !hlir.tensor<[4, 5], f32>) {
  // CHECK: epilogue must be one of none bias
  %z = kernel.call_matmul %y, %y {axes = array<i64: 1>, epilogue = "softmax", lhs_map = #hlir.map<(d0, d1) -> (d0, d1)>, rhs_map = #hlir.map<(d0, d1) -> (d0, d1)>, space = #hlir.shape<[4, 5]>} : (!hlir.tensor<[4, 5], f32>, !hlir.tensor<[4, 5], f32>) -> !hlir.tensor<[4], f32>
  func.return
}

// -----

// CHECK: the kernel takes the arguments of the function in order
kernel.func @k(%x: !hlir.tensor<[4], f32>, %z: !hlir.tensor<[4], f32>) -> (!hlir.tensor<[4], f32>) {
  %y = kernel.fused (%a = %x : !hlir.tensor<[4], f32>) -> (!hlir.tensor<[4], f32>) {
    kernel.yield %a : !hlir.tensor<[4], f32>
  }
  kernel.return %y : !hlir.tensor<[4], f32>
}
