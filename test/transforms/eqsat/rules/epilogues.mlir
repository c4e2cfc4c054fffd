// Products followed by bias, residual and activations, in f32 and bf16.
func.func @main(%x: !hlir.tensor<[s, 5], f32>, %w: !hlir.tensor<[3, 5], f32>, %b: !hlir.tensor<[3], f32>, %r: !hlir.tensor<[s, 3], f32>, %h: !hlir.tensor<[s, 5], bf16>, %g: !hlir.tensor<[3, 5], bf16>, %hb: !hlir.tensor<[3], bf16>, %hr: !hlir.tensor<[s, 3], bf16>) -> (!hlir.tensor<[s, 3], f32>, !hlir.tensor<[s, 3], f32>, !hlir.tensor<[s, 3], f32>, !hlir.tensor<[s, 3], f32>, !hlir.tensor<[s, 3], f32>, !hlir.tensor<[s, 3], f32>, !hlir.tensor<[s, 3], bf16>, !hlir.tensor<[s, 3], bf16>, !hlir.tensor<[s, 3], bf16>, !hlir.tensor<[s, 3], bf16>, !hlir.tensor<[s, 3], bf16>, !hlir.tensor<[s, 3], bf16>, !hlir.tensor<[s, 3], bf16>) {
  %0 = hlir.view %w (d0, d1) -> (d1, d0) : (!hlir.tensor<[3, 5], f32>) -> !hlir.tensor<[5, 3], f32>
  %1 = hlir.contract %x, %0 {lhs_map = #hlir.map<(d0, d1, d2) -> (d0, d2)>, rhs_map = #hlir.map<(d0, d1, d2) -> (d2, d1)>, axes = array<i64: 2>, space = #hlir.shape<[s, 3, 5]>} : (!hlir.tensor<[s, 5], f32>, !hlir.tensor<[5, 3], f32>) -> !hlir.tensor<[s, 3], f32>
  %2 = hlir.view %b (d0, d1) -> (d1) : (!hlir.tensor<[3], f32>) -> !hlir.tensor<[s, 3], f32>
  %3 = hlir.add %1, %2 : !hlir.tensor<[s, 3], f32>
  %4 = hlir.add %3, %r : !hlir.tensor<[s, 3], f32>
  %5 = hlir.add %1, %r : !hlir.tensor<[s, 3], f32>
  %6 = hlir.relu %1 : !hlir.tensor<[s, 3], f32>
  %7 = hlir.relu %3 : !hlir.tensor<[s, 3], f32>
  %8 = hlir.gelu %1 {approximate = "none"} : !hlir.tensor<[s, 3], f32>
  %9 = hlir.gelu %3 {approximate = "none"} : !hlir.tensor<[s, 3], f32>
  %10 = hlir.view %g (d0, d1) -> (d1, d0) : (!hlir.tensor<[3, 5], bf16>) -> !hlir.tensor<[5, 3], bf16>
  %11 = hlir.contract %h, %10 {lhs_map = #hlir.map<(d0, d1, d2) -> (d0, d2)>, rhs_map = #hlir.map<(d0, d1, d2) -> (d2, d1)>, axes = array<i64: 2>, space = #hlir.shape<[s, 3, 5]>} : (!hlir.tensor<[s, 5], bf16>, !hlir.tensor<[5, 3], bf16>) -> !hlir.tensor<[s, 3], bf16>
  %12 = hlir.view %hb (d0, d1) -> (d1) : (!hlir.tensor<[3], bf16>) -> !hlir.tensor<[s, 3], bf16>
  %13 = hlir.add %11, %12 : !hlir.tensor<[s, 3], bf16>
  %14 = hlir.add %13, %hr : !hlir.tensor<[s, 3], bf16>
  %15 = hlir.add %11, %hr : !hlir.tensor<[s, 3], bf16>
  %16 = hlir.relu %11 : !hlir.tensor<[s, 3], bf16>
  %17 = hlir.relu %13 : !hlir.tensor<[s, 3], bf16>
  %18 = hlir.gelu %11 {approximate = "none"} : !hlir.tensor<[s, 3], bf16>
  %19 = hlir.gelu %13 {approximate = "none"} : !hlir.tensor<[s, 3], bf16>
  %20 = hlir.cast %h {dtype = f32} : (!hlir.tensor<[s, 5], bf16>) -> !hlir.tensor<[s, 5], f32>
  %21 = hlir.cast %g {dtype = f32} : (!hlir.tensor<[3, 5], bf16>) -> !hlir.tensor<[3, 5], f32>
  %22 = hlir.view %21 (d0, d1) -> (d1, d0) : (!hlir.tensor<[3, 5], f32>) -> !hlir.tensor<[5, 3], f32>
  %23 = hlir.contract %20, %22 {lhs_map = #hlir.map<(d0, d1, d2) -> (d0, d2)>, rhs_map = #hlir.map<(d0, d1, d2) -> (d2, d1)>, axes = array<i64: 2>, space = #hlir.shape<[s, 3, 5]>} : (!hlir.tensor<[s, 5], f32>, !hlir.tensor<[5, 3], f32>) -> !hlir.tensor<[s, 3], f32>
  %24 = hlir.cast %hb {dtype = f32} : (!hlir.tensor<[3], bf16>) -> !hlir.tensor<[3], f32>
  %25 = hlir.view %24 (d0, d1) -> (d1) : (!hlir.tensor<[3], f32>) -> !hlir.tensor<[s, 3], f32>
  %26 = hlir.add %23, %25 : !hlir.tensor<[s, 3], f32>
  %27 = hlir.cast %26 {dtype = bf16} : (!hlir.tensor<[s, 3], f32>) -> !hlir.tensor<[s, 3], bf16>
  func.return %4, %5, %6, %7, %8, %9, %14, %15, %16, %17, %18, %19, %27 : !hlir.tensor<[s, 3], f32>, !hlir.tensor<[s, 3], f32>, !hlir.tensor<[s, 3], f32>, !hlir.tensor<[s, 3], f32>, !hlir.tensor<[s, 3], f32>, !hlir.tensor<[s, 3], f32>, !hlir.tensor<[s, 3], bf16>, !hlir.tensor<[s, 3], bf16>, !hlir.tensor<[s, 3], bf16>, !hlir.tensor<[s, 3], bf16>, !hlir.tensor<[s, 3], bf16>, !hlir.tensor<[s, 3], bf16>, !hlir.tensor<[s, 3], bf16>
}
