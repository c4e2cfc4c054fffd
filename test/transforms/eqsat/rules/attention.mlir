// Attention without mask, with an added and with a chosen one, with scales before the product, and with packed heads.
func.func @main(%q: !hlir.tensor<[2, 3, s, 4], f32>, %k: !hlir.tensor<[2, 3, 5, 4], f32>, %v: !hlir.tensor<[2, 3, 5, 6], f32>, %mask: !hlir.tensor<[2, 3, s, 5], f32>, %keep: !hlir.tensor<[2, 3, s, 5], i1>, %qd: !hlir.tensor<[2, 3, s, 4], f64>, %kd: !hlir.tensor<[2, 3, 5, 4], f64>, %vd: !hlir.tensor<[2, 3, 5, 6], f64>, %maskd: !hlir.tensor<[2, 3, s, 5], f64>, %packed: !hlir.tensor<[2, s, 24], f32>) -> (!hlir.tensor<[2, 3, s, 6], f32>, !hlir.tensor<[2, 3, s, 6], f32>, !hlir.tensor<[2, 3, s, 6], f32>, !hlir.tensor<[2, 3, s, 6], f32>, !hlir.tensor<[2, 3, s, 6], f64>, !hlir.tensor<[2, 3, s, 6], f64>, !hlir.tensor<[2, 3, s, 6], f64>, !hlir.tensor<[2, 3, s, 6], f64>, !hlir.tensor<[2, s, 8], f32>) {
  %0 = hlir.view %k (d0, d1, d2, d3) -> (d0, d1, d3, d2) : (!hlir.tensor<[2, 3, 5, 4], f32>) -> !hlir.tensor<[2, 3, 4, 5], f32>
  %1 = hlir.contract %q, %0 {lhs_map = #hlir.map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d4)>, rhs_map = #hlir.map<(d0, d1, d2, d3, d4) -> (d0, d1, d4, d3)>, axes = array<i64: 4>, space = #hlir.shape<[2, 3, s, 5, 4]>} : (!hlir.tensor<[2, 3, s, 4], f32>, !hlir.tensor<[2, 3, 4, 5], f32>) -> !hlir.tensor<[2, 3, s, 5], f32>
  %2 = hlir.constant 0.3 : !hlir.tensor<[2, 3, s, 5], f32>
  %3 = hlir.mul %1, %2 : !hlir.tensor<[2, 3, s, 5], f32>
  %4 = hlir.max %3 {axes = array<i64: 3>} : (!hlir.tensor<[2, 3, s, 5], f32>) -> !hlir.tensor<[2, 3, s], f32>
  %5 = hlir.view %4 (d0, d1, d2, d3) -> (d0, d1, d2) : (!hlir.tensor<[2, 3, s], f32>) -> !hlir.tensor<[2, 3, s, 5], f32>
  %6 = hlir.sub %3, %5 : !hlir.tensor<[2, 3, s, 5], f32>
  %7 = hlir.exp %6 : !hlir.tensor<[2, 3, s, 5], f32>
  %8 = hlir.sum %7 {axes = array<i64: 3>} : (!hlir.tensor<[2, 3, s, 5], f32>) -> !hlir.tensor<[2, 3, s], f32>
  %9 = hlir.view %8 (d0, d1, d2, d3) -> (d0, d1, d2) : (!hlir.tensor<[2, 3, s], f32>) -> !hlir.tensor<[2, 3, s, 5], f32>
  %10 = hlir.div %7, %9 : !hlir.tensor<[2, 3, s, 5], f32>
  %11 = hlir.contract %10, %v {lhs_map = #hlir.map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d4)>, rhs_map = #hlir.map<(d0, d1, d2, d3, d4) -> (d0, d1, d4, d3)>, axes = array<i64: 4>, space = #hlir.shape<[2, 3, s, 6, 5]>} : (!hlir.tensor<[2, 3, s, 5], f32>, !hlir.tensor<[2, 3, 5, 6], f32>) -> !hlir.tensor<[2, 3, s, 6], f32>
  %12 = hlir.add %3, %mask : !hlir.tensor<[2, 3, s, 5], f32>
  %13 = hlir.max %12 {axes = array<i64: 3>} : (!hlir.tensor<[2, 3, s, 5], f32>) -> !hlir.tensor<[2, 3, s], f32>
  %14 = hlir.constant 0xFF800000 : !hlir.tensor<[2, 3, s], f32>
  %15 = hlir.equal %13, %14 : (!hlir.tensor<[2, 3, s], f32>, !hlir.tensor<[2, 3, s], f32>) -> !hlir.tensor<[2, 3, s], i1>
  %16 = hlir.constant 0.0 : !hlir.tensor<[2, 3, s], f32>
  %17 = hlir.select %15, %16, %13 : (!hlir.tensor<[2, 3, s], i1>, !hlir.tensor<[2, 3, s], f32>, !hlir.tensor<[2, 3, s], f32>) -> !hlir.tensor<[2, 3, s], f32>
  %18 = hlir.view %17 (d0, d1, d2, d3) -> (d0, d1, d2) : (!hlir.tensor<[2, 3, s], f32>) -> !hlir.tensor<[2, 3, s, 5], f32>
  %19 = hlir.sub %12, %18 : !hlir.tensor<[2, 3, s, 5], f32>
  %20 = hlir.exp %19 : !hlir.tensor<[2, 3, s, 5], f32>
  %21 = hlir.sum %20 {axes = array<i64: 3>} : (!hlir.tensor<[2, 3, s, 5], f32>) -> !hlir.tensor<[2, 3, s], f32>
  %22 = hlir.equal %21, %16 : (!hlir.tensor<[2, 3, s], f32>, !hlir.tensor<[2, 3, s], f32>) -> !hlir.tensor<[2, 3, s], i1>
  %23 = hlir.constant 1.0 : !hlir.tensor<[2, 3, s], f32>
  %24 = hlir.select %22, %23, %21 : (!hlir.tensor<[2, 3, s], i1>, !hlir.tensor<[2, 3, s], f32>, !hlir.tensor<[2, 3, s], f32>) -> !hlir.tensor<[2, 3, s], f32>
  %25 = hlir.view %24 (d0, d1, d2, d3) -> (d0, d1, d2) : (!hlir.tensor<[2, 3, s], f32>) -> !hlir.tensor<[2, 3, s, 5], f32>
  %26 = hlir.div %20, %25 : !hlir.tensor<[2, 3, s, 5], f32>
  %27 = hlir.contract %26, %v {lhs_map = #hlir.map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d4)>, rhs_map = #hlir.map<(d0, d1, d2, d3, d4) -> (d0, d1, d4, d3)>, axes = array<i64: 4>, space = #hlir.shape<[2, 3, s, 6, 5]>} : (!hlir.tensor<[2, 3, s, 5], f32>, !hlir.tensor<[2, 3, 5, 6], f32>) -> !hlir.tensor<[2, 3, s, 6], f32>
  %28 = hlir.constant 0xFF800000 : !hlir.tensor<[2, 3, s, 5], f32>
  %29 = hlir.select %keep, %3, %28 : (!hlir.tensor<[2, 3, s, 5], i1>, !hlir.tensor<[2, 3, s, 5], f32>, !hlir.tensor<[2, 3, s, 5], f32>) -> !hlir.tensor<[2, 3, s, 5], f32>
  %30 = hlir.max %29 {axes = array<i64: 3>} : (!hlir.tensor<[2, 3, s, 5], f32>) -> !hlir.tensor<[2, 3, s], f32>
  %31 = hlir.view %30 (d0, d1, d2, d3) -> (d0, d1, d2) : (!hlir.tensor<[2, 3, s], f32>) -> !hlir.tensor<[2, 3, s, 5], f32>
  %32 = hlir.sub %29, %31 : !hlir.tensor<[2, 3, s, 5], f32>
  %33 = hlir.exp %32 : !hlir.tensor<[2, 3, s, 5], f32>
  %34 = hlir.sum %33 {axes = array<i64: 3>} : (!hlir.tensor<[2, 3, s, 5], f32>) -> !hlir.tensor<[2, 3, s], f32>
  %35 = hlir.view %34 (d0, d1, d2, d3) -> (d0, d1, d2) : (!hlir.tensor<[2, 3, s], f32>) -> !hlir.tensor<[2, 3, s, 5], f32>
  %36 = hlir.div %33, %35 : !hlir.tensor<[2, 3, s, 5], f32>
  %37 = hlir.contract %36, %v {lhs_map = #hlir.map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d4)>, rhs_map = #hlir.map<(d0, d1, d2, d3, d4) -> (d0, d1, d4, d3)>, axes = array<i64: 4>, space = #hlir.shape<[2, 3, s, 6, 5]>} : (!hlir.tensor<[2, 3, s, 5], f32>, !hlir.tensor<[2, 3, 5, 6], f32>) -> !hlir.tensor<[2, 3, s, 6], f32>
  %38 = hlir.constant 0.5 : !hlir.tensor<[2, 3, s, 4], f32>
  %39 = hlir.mul %q, %38 : !hlir.tensor<[2, 3, s, 4], f32>
  %40 = hlir.constant 0.7 : !hlir.tensor<[2, 3, 5, 4], f32>
  %41 = hlir.mul %k, %40 : !hlir.tensor<[2, 3, 5, 4], f32>
  %42 = hlir.view %41 (d0, d1, d2, d3) -> (d0, d1, d3, d2) : (!hlir.tensor<[2, 3, 5, 4], f32>) -> !hlir.tensor<[2, 3, 4, 5], f32>
  %43 = hlir.contract %39, %42 {lhs_map = #hlir.map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d4)>, rhs_map = #hlir.map<(d0, d1, d2, d3, d4) -> (d0, d1, d4, d3)>, axes = array<i64: 4>, space = #hlir.shape<[2, 3, s, 5, 4]>} : (!hlir.tensor<[2, 3, s, 4], f32>, !hlir.tensor<[2, 3, 4, 5], f32>) -> !hlir.tensor<[2, 3, s, 5], f32>
  %44 = hlir.max %43 {axes = array<i64: 3>} : (!hlir.tensor<[2, 3, s, 5], f32>) -> !hlir.tensor<[2, 3, s], f32>
  %45 = hlir.view %44 (d0, d1, d2, d3) -> (d0, d1, d2) : (!hlir.tensor<[2, 3, s], f32>) -> !hlir.tensor<[2, 3, s, 5], f32>
  %46 = hlir.sub %43, %45 : !hlir.tensor<[2, 3, s, 5], f32>
  %47 = hlir.exp %46 : !hlir.tensor<[2, 3, s, 5], f32>
  %48 = hlir.sum %47 {axes = array<i64: 3>} : (!hlir.tensor<[2, 3, s, 5], f32>) -> !hlir.tensor<[2, 3, s], f32>
  %49 = hlir.view %48 (d0, d1, d2, d3) -> (d0, d1, d2) : (!hlir.tensor<[2, 3, s], f32>) -> !hlir.tensor<[2, 3, s, 5], f32>
  %50 = hlir.div %47, %49 : !hlir.tensor<[2, 3, s, 5], f32>
  %51 = hlir.contract %50, %v {lhs_map = #hlir.map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d4)>, rhs_map = #hlir.map<(d0, d1, d2, d3, d4) -> (d0, d1, d4, d3)>, axes = array<i64: 4>, space = #hlir.shape<[2, 3, s, 6, 5]>} : (!hlir.tensor<[2, 3, s, 5], f32>, !hlir.tensor<[2, 3, 5, 6], f32>) -> !hlir.tensor<[2, 3, s, 6], f32>
  %52 = hlir.view %kd (d0, d1, d2, d3) -> (d0, d1, d3, d2) : (!hlir.tensor<[2, 3, 5, 4], f64>) -> !hlir.tensor<[2, 3, 4, 5], f64>
  %53 = hlir.contract %qd, %52 {lhs_map = #hlir.map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d4)>, rhs_map = #hlir.map<(d0, d1, d2, d3, d4) -> (d0, d1, d4, d3)>, axes = array<i64: 4>, space = #hlir.shape<[2, 3, s, 5, 4]>} : (!hlir.tensor<[2, 3, s, 4], f64>, !hlir.tensor<[2, 3, 4, 5], f64>) -> !hlir.tensor<[2, 3, s, 5], f64>
  %54 = hlir.constant 0.3 : !hlir.tensor<[2, 3, s, 5], f64>
  %55 = hlir.mul %53, %54 : !hlir.tensor<[2, 3, s, 5], f64>
  %56 = hlir.max %55 {axes = array<i64: 3>} : (!hlir.tensor<[2, 3, s, 5], f64>) -> !hlir.tensor<[2, 3, s], f64>
  %57 = hlir.view %56 (d0, d1, d2, d3) -> (d0, d1, d2) : (!hlir.tensor<[2, 3, s], f64>) -> !hlir.tensor<[2, 3, s, 5], f64>
  %58 = hlir.sub %55, %57 : !hlir.tensor<[2, 3, s, 5], f64>
  %59 = hlir.exp %58 : !hlir.tensor<[2, 3, s, 5], f64>
  %60 = hlir.sum %59 {axes = array<i64: 3>} : (!hlir.tensor<[2, 3, s, 5], f64>) -> !hlir.tensor<[2, 3, s], f64>
  %61 = hlir.view %60 (d0, d1, d2, d3) -> (d0, d1, d2) : (!hlir.tensor<[2, 3, s], f64>) -> !hlir.tensor<[2, 3, s, 5], f64>
  %62 = hlir.div %59, %61 : !hlir.tensor<[2, 3, s, 5], f64>
  %63 = hlir.contract %62, %vd {lhs_map = #hlir.map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d4)>, rhs_map = #hlir.map<(d0, d1, d2, d3, d4) -> (d0, d1, d4, d3)>, axes = array<i64: 4>, space = #hlir.shape<[2, 3, s, 6, 5]>} : (!hlir.tensor<[2, 3, s, 5], f64>, !hlir.tensor<[2, 3, 5, 6], f64>) -> !hlir.tensor<[2, 3, s, 6], f64>
  %64 = hlir.add %55, %maskd : !hlir.tensor<[2, 3, s, 5], f64>
  %65 = hlir.max %64 {axes = array<i64: 3>} : (!hlir.tensor<[2, 3, s, 5], f64>) -> !hlir.tensor<[2, 3, s], f64>
  %66 = hlir.constant 0xFFF0000000000000 : !hlir.tensor<[2, 3, s], f64>
  %67 = hlir.equal %65, %66 : (!hlir.tensor<[2, 3, s], f64>, !hlir.tensor<[2, 3, s], f64>) -> !hlir.tensor<[2, 3, s], i1>
  %68 = hlir.constant 0.0 : !hlir.tensor<[2, 3, s], f64>
  %69 = hlir.select %67, %68, %65 : (!hlir.tensor<[2, 3, s], i1>, !hlir.tensor<[2, 3, s], f64>, !hlir.tensor<[2, 3, s], f64>) -> !hlir.tensor<[2, 3, s], f64>
  %70 = hlir.view %69 (d0, d1, d2, d3) -> (d0, d1, d2) : (!hlir.tensor<[2, 3, s], f64>) -> !hlir.tensor<[2, 3, s, 5], f64>
  %71 = hlir.sub %64, %70 : !hlir.tensor<[2, 3, s, 5], f64>
  %72 = hlir.exp %71 : !hlir.tensor<[2, 3, s, 5], f64>
  %73 = hlir.sum %72 {axes = array<i64: 3>} : (!hlir.tensor<[2, 3, s, 5], f64>) -> !hlir.tensor<[2, 3, s], f64>
  %74 = hlir.equal %73, %68 : (!hlir.tensor<[2, 3, s], f64>, !hlir.tensor<[2, 3, s], f64>) -> !hlir.tensor<[2, 3, s], i1>
  %75 = hlir.constant 1.0 : !hlir.tensor<[2, 3, s], f64>
  %76 = hlir.select %74, %75, %73 : (!hlir.tensor<[2, 3, s], i1>, !hlir.tensor<[2, 3, s], f64>, !hlir.tensor<[2, 3, s], f64>) -> !hlir.tensor<[2, 3, s], f64>
  %77 = hlir.view %76 (d0, d1, d2, d3) -> (d0, d1, d2) : (!hlir.tensor<[2, 3, s], f64>) -> !hlir.tensor<[2, 3, s, 5], f64>
  %78 = hlir.div %72, %77 : !hlir.tensor<[2, 3, s, 5], f64>
  %79 = hlir.contract %78, %vd {lhs_map = #hlir.map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d4)>, rhs_map = #hlir.map<(d0, d1, d2, d3, d4) -> (d0, d1, d4, d3)>, axes = array<i64: 4>, space = #hlir.shape<[2, 3, s, 6, 5]>} : (!hlir.tensor<[2, 3, s, 5], f64>, !hlir.tensor<[2, 3, 5, 6], f64>) -> !hlir.tensor<[2, 3, s, 6], f64>
  %80 = hlir.constant 0xFFF0000000000000 : !hlir.tensor<[2, 3, s, 5], f64>
  %81 = hlir.select %keep, %55, %80 : (!hlir.tensor<[2, 3, s, 5], i1>, !hlir.tensor<[2, 3, s, 5], f64>, !hlir.tensor<[2, 3, s, 5], f64>) -> !hlir.tensor<[2, 3, s, 5], f64>
  %82 = hlir.max %81 {axes = array<i64: 3>} : (!hlir.tensor<[2, 3, s, 5], f64>) -> !hlir.tensor<[2, 3, s], f64>
  %83 = hlir.view %82 (d0, d1, d2, d3) -> (d0, d1, d2) : (!hlir.tensor<[2, 3, s], f64>) -> !hlir.tensor<[2, 3, s, 5], f64>
  %84 = hlir.sub %81, %83 : !hlir.tensor<[2, 3, s, 5], f64>
  %85 = hlir.exp %84 : !hlir.tensor<[2, 3, s, 5], f64>
  %86 = hlir.sum %85 {axes = array<i64: 3>} : (!hlir.tensor<[2, 3, s, 5], f64>) -> !hlir.tensor<[2, 3, s], f64>
  %87 = hlir.view %86 (d0, d1, d2, d3) -> (d0, d1, d2) : (!hlir.tensor<[2, 3, s], f64>) -> !hlir.tensor<[2, 3, s, 5], f64>
  %88 = hlir.div %85, %87 : !hlir.tensor<[2, 3, s, 5], f64>
  %89 = hlir.contract %88, %vd {lhs_map = #hlir.map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d4)>, rhs_map = #hlir.map<(d0, d1, d2, d3, d4) -> (d0, d1, d4, d3)>, axes = array<i64: 4>, space = #hlir.shape<[2, 3, s, 6, 5]>} : (!hlir.tensor<[2, 3, s, 5], f64>, !hlir.tensor<[2, 3, 5, 6], f64>) -> !hlir.tensor<[2, 3, s, 6], f64>
  %90 = hlir.constant 0.5 : !hlir.tensor<[2, 3, s, 4], f64>
  %91 = hlir.mul %qd, %90 : !hlir.tensor<[2, 3, s, 4], f64>
  %92 = hlir.constant 0.7 : !hlir.tensor<[2, 3, 5, 4], f64>
  %93 = hlir.mul %kd, %92 : !hlir.tensor<[2, 3, 5, 4], f64>
  %94 = hlir.view %93 (d0, d1, d2, d3) -> (d0, d1, d3, d2) : (!hlir.tensor<[2, 3, 5, 4], f64>) -> !hlir.tensor<[2, 3, 4, 5], f64>
  %95 = hlir.contract %91, %94 {lhs_map = #hlir.map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d4)>, rhs_map = #hlir.map<(d0, d1, d2, d3, d4) -> (d0, d1, d4, d3)>, axes = array<i64: 4>, space = #hlir.shape<[2, 3, s, 5, 4]>} : (!hlir.tensor<[2, 3, s, 4], f64>, !hlir.tensor<[2, 3, 4, 5], f64>) -> !hlir.tensor<[2, 3, s, 5], f64>
  %96 = hlir.max %95 {axes = array<i64: 3>} : (!hlir.tensor<[2, 3, s, 5], f64>) -> !hlir.tensor<[2, 3, s], f64>
  %97 = hlir.view %96 (d0, d1, d2, d3) -> (d0, d1, d2) : (!hlir.tensor<[2, 3, s], f64>) -> !hlir.tensor<[2, 3, s, 5], f64>
  %98 = hlir.sub %95, %97 : !hlir.tensor<[2, 3, s, 5], f64>
  %99 = hlir.exp %98 : !hlir.tensor<[2, 3, s, 5], f64>
  %100 = hlir.sum %99 {axes = array<i64: 3>} : (!hlir.tensor<[2, 3, s, 5], f64>) -> !hlir.tensor<[2, 3, s], f64>
  %101 = hlir.view %100 (d0, d1, d2, d3) -> (d0, d1, d2) : (!hlir.tensor<[2, 3, s], f64>) -> !hlir.tensor<[2, 3, s, 5], f64>
  %102 = hlir.div %99, %101 : !hlir.tensor<[2, 3, s, 5], f64>
  %103 = hlir.contract %102, %vd {lhs_map = #hlir.map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d4)>, rhs_map = #hlir.map<(d0, d1, d2, d3, d4) -> (d0, d1, d4, d3)>, axes = array<i64: 4>, space = #hlir.shape<[2, 3, s, 6, 5]>} : (!hlir.tensor<[2, 3, s, 5], f64>, !hlir.tensor<[2, 3, 5, 6], f64>) -> !hlir.tensor<[2, 3, s, 6], f64>
  %104 = hlir.view %packed (d0, d1, d2) -> (floordiv(s*d0, s*2), d1, d0*4 + d2 - floordiv(s*d0, s*2)*8) : (!hlir.tensor<[2, s, 24], f32>) -> !hlir.tensor<[4, s, 4], f32>
  %105 = hlir.view %packed (d0, d1, d2) -> (floordiv(s*d0, s*2), d1, d0*4 + d2 - floordiv(s*d0, s*2)*8 + 16) : (!hlir.tensor<[2, s, 24], f32>) -> !hlir.tensor<[4, s, 4], f32>
  %106 = hlir.view %packed (d0, d1, d2) -> (floordiv(s*d0, s*2), d2, d0*4 + d1 - floordiv(s*d0, s*2)*8 + 8) : (!hlir.tensor<[2, s, 24], f32>) -> !hlir.tensor<[4, 4, s], f32>
  %107 = hlir.contract %104, %106 {lhs_map = #hlir.map<(d0, d1, d2, d3) -> (d0, d1, d3)>, rhs_map = #hlir.map<(d0, d1, d2, d3) -> (d0, d3, d2)>, axes = array<i64: 3>, space = #hlir.shape<[4, s, s, 4]>} : (!hlir.tensor<[4, s, 4], f32>, !hlir.tensor<[4, 4, s], f32>) -> !hlir.tensor<[4, s, s], f32>
  %108 = hlir.view %107 (d0, d1, d2, d3) -> (d0*2 + d1, d2, d3) : (!hlir.tensor<[4, s, s], f32>) -> !hlir.tensor<[2, 2, s, s], f32>
  %109 = hlir.constant 0.5 : !hlir.tensor<[2, 2, s, s], f32>
  %110 = hlir.mul %108, %109 : !hlir.tensor<[2, 2, s, s], f32>
  %111 = hlir.max %110 {axes = array<i64: 3>} : (!hlir.tensor<[2, 2, s, s], f32>) -> !hlir.tensor<[2, 2, s], f32>
  %112 = hlir.view %111 (d0, d1, d2, d3) -> (d0, d1, d2) : (!hlir.tensor<[2, 2, s], f32>) -> !hlir.tensor<[2, 2, s, s], f32>
  %113 = hlir.sub %110, %112 : !hlir.tensor<[2, 2, s, s], f32>
  %114 = hlir.exp %113 : !hlir.tensor<[2, 2, s, s], f32>
  %115 = hlir.sum %114 {axes = array<i64: 3>} : (!hlir.tensor<[2, 2, s, s], f32>) -> !hlir.tensor<[2, 2, s], f32>
  %116 = hlir.view %115 (d0, d1, d2, d3) -> (d0, d1, d2) : (!hlir.tensor<[2, 2, s], f32>) -> !hlir.tensor<[2, 2, s, s], f32>
  %117 = hlir.div %114, %116 : !hlir.tensor<[2, 2, s, s], f32>
  %118 = hlir.view %117 (d0, d1, d2) -> (floordiv(s*s*d0, s*s*2), d0 - floordiv(s*s*d0, s*s*2)*2, d1, d2) : (!hlir.tensor<[2, 2, s, s], f32>) -> !hlir.tensor<[4, s, s], f32>
  %119 = hlir.contract %118, %105 {lhs_map = #hlir.map<(d0, d1, d2, d3) -> (d0, d1, d3)>, rhs_map = #hlir.map<(d0, d1, d2, d3) -> (d0, d3, d2)>, axes = array<i64: 3>, space = #hlir.shape<[4, s, 4, s]>} : (!hlir.tensor<[4, s, s], f32>, !hlir.tensor<[4, s, 4], f32>) -> !hlir.tensor<[4, s, 4], f32>
  %120 = hlir.view %119 (d0, d1, d2) -> (d0*2 + floordiv(d2, 4), d1, d2 - floordiv(d2, 4)*4) : (!hlir.tensor<[4, s, 4], f32>) -> !hlir.tensor<[2, s, 8], f32>
  func.return %11, %27, %37, %51, %63, %79, %89, %103, %120 : !hlir.tensor<[2, 3, s, 6], f32>, !hlir.tensor<[2, 3, s, 6], f32>, !hlir.tensor<[2, 3, s, 6], f32>, !hlir.tensor<[2, 3, s, 6], f32>, !hlir.tensor<[2, 3, s, 6], f64>, !hlir.tensor<[2, 3, s, 6], f64>, !hlir.tensor<[2, 3, s, 6], f64>, !hlir.tensor<[2, 3, s, 6], f64>, !hlir.tensor<[2, s, 8], f32>
}
