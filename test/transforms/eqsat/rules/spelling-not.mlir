// Near definitions: another constant, another operand, a cast between that rounds.
func.func @main(%x: !hlir.tensor<[s], f32>, %y: !hlir.tensor<[s], f32>, %h: !hlir.tensor<[s], bf16>) -> (!hlir.tensor<[s], f32>, !hlir.tensor<[s], f32>, !hlir.tensor<[s], bf16>, !hlir.tensor<[s], f32>) {
  %0 = hlir.constant 1.4426951 : !hlir.tensor<[s], f32>
  %1 = hlir.mul %x, %0 : !hlir.tensor<[s], f32>
  %2 = hlir.exp2 %1 : !hlir.tensor<[s], f32>
  %3 = hlir.sigmoid %y : !hlir.tensor<[s], f32>
  %4 = hlir.mul %x, %3 : !hlir.tensor<[s], f32>
  %5 = hlir.cast %h {dtype = f32} : (!hlir.tensor<[s], bf16>) -> !hlir.tensor<[s], f32>
  %6 = hlir.sqrt %5 : !hlir.tensor<[s], f32>
  %7 = hlir.sin %6 : !hlir.tensor<[s], f32>
  %8 = hlir.cast %7 {dtype = bf16} : (!hlir.tensor<[s], f32>) -> !hlir.tensor<[s], bf16>
  %9 = hlir.constant -0.0 : !hlir.tensor<[s], f32>
  %10 = hlir.maximum %x, %9 : !hlir.tensor<[s], f32>
  func.return %2, %4, %8, %10 : !hlir.tensor<[s], f32>, !hlir.tensor<[s], f32>, !hlir.tensor<[s], bf16>, !hlir.tensor<[s], f32>
}
