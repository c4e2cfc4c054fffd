// Not softmaxes (maximum along another axis, none at all) and not norms (spread of x or along another axis).
func.func @main(%x: !hlir.tensor<[3, 5], f32>, %w: !hlir.tensor<[5], f32>) -> (!hlir.tensor<[3, 5], f32>, !hlir.tensor<[3, 5], f32>, !hlir.tensor<[3, 5], f32>, !hlir.tensor<[3, 5], f32>) {
  %0 = hlir.max %x {axes = array<i64: 0>} : (!hlir.tensor<[3, 5], f32>) -> !hlir.tensor<[5], f32>
  %1 = hlir.view %0 (d0, d1) -> (d1) : (!hlir.tensor<[5], f32>) -> !hlir.tensor<[3, 5], f32>
  %2 = hlir.sub %x, %1 : !hlir.tensor<[3, 5], f32>
  %3 = hlir.exp %2 : !hlir.tensor<[3, 5], f32>
  %4 = hlir.sum %3 {axes = array<i64: 1>} : (!hlir.tensor<[3, 5], f32>) -> !hlir.tensor<[3], f32>
  %5 = hlir.view %4 (d0, d1) -> (d0) : (!hlir.tensor<[3], f32>) -> !hlir.tensor<[3, 5], f32>
  %6 = hlir.div %3, %5 : !hlir.tensor<[3, 5], f32>
  %7 = hlir.exp %x : !hlir.tensor<[3, 5], f32>
  %8 = hlir.sum %7 {axes = array<i64: 1>} : (!hlir.tensor<[3, 5], f32>) -> !hlir.tensor<[3], f32>
  %9 = hlir.view %8 (d0, d1) -> (d0) : (!hlir.tensor<[3], f32>) -> !hlir.tensor<[3, 5], f32>
  %10 = hlir.div %7, %9 : !hlir.tensor<[3, 5], f32>
  %11 = hlir.sum %x {axes = array<i64: 1>} : (!hlir.tensor<[3, 5], f32>) -> !hlir.tensor<[3], f32>
  %12 = hlir.constant 5.0 : !hlir.tensor<[3], f32>
  %13 = hlir.div %11, %12 : !hlir.tensor<[3], f32>
  %14 = hlir.view %13 (d0, d1) -> (d0) : (!hlir.tensor<[3], f32>) -> !hlir.tensor<[3, 5], f32>
  %15 = hlir.sub %x, %14 : !hlir.tensor<[3, 5], f32>
  %16 = hlir.mul %x, %x : !hlir.tensor<[3, 5], f32>
  %17 = hlir.sum %16 {axes = array<i64: 1>} : (!hlir.tensor<[3, 5], f32>) -> !hlir.tensor<[3], f32>
  %18 = hlir.div %17, %12 : !hlir.tensor<[3], f32>
  %19 = hlir.view %18 (d0, d1) -> (d0) : (!hlir.tensor<[3], f32>) -> !hlir.tensor<[3, 5], f32>
  %20 = hlir.constant 1.0e-05 : !hlir.tensor<[3, 5], f32>
  %21 = hlir.add %19, %20 : !hlir.tensor<[3, 5], f32>
  %22 = hlir.rsqrt %21 : !hlir.tensor<[3, 5], f32>
  %23 = hlir.mul %15, %22 : !hlir.tensor<[3, 5], f32>
  %24 = hlir.mul %15, %15 : !hlir.tensor<[3, 5], f32>
  %25 = hlir.sum %24 {axes = array<i64: 0>} : (!hlir.tensor<[3, 5], f32>) -> !hlir.tensor<[5], f32>
  %26 = hlir.constant 3.0 : !hlir.tensor<[5], f32>
  %27 = hlir.div %25, %26 : !hlir.tensor<[5], f32>
  %28 = hlir.view %27 (d0, d1) -> (d1) : (!hlir.tensor<[5], f32>) -> !hlir.tensor<[3, 5], f32>
  %29 = hlir.add %28, %20 : !hlir.tensor<[3, 5], f32>
  %30 = hlir.rsqrt %29 : !hlir.tensor<[3, 5], f32>
  %31 = hlir.mul %15, %30 : !hlir.tensor<[3, 5], f32>
  func.return %6, %10, %23, %31 : !hlir.tensor<[3, 5], f32>, !hlir.tensor<[3, 5], f32>, !hlir.tensor<[3, 5], f32>, !hlir.tensor<[3, 5], f32>
}
