// Softmaxes and norms written out in f32 and, through casts, in bf16; means as quotients and as products.
func.func @main(%x: !hlir.tensor<[s, 5], f32>, %w: !hlir.tensor<[5], f32>, %b: !hlir.tensor<[5], f32>, %p: !hlir.tensor<[s, 4], f32>, %h: !hlir.tensor<[s, 5], bf16>, %h2: !hlir.tensor<[s, 5], bf16>, %hw: !hlir.tensor<[5], bf16>, %hb: !hlir.tensor<[5], bf16>) -> (!hlir.tensor<[s, 5], f32>, !hlir.tensor<[s, 5], f32>, !hlir.tensor<[s, 5], f32>, !hlir.tensor<[s, 5], f32>, !hlir.tensor<[s, 5], f32>, !hlir.tensor<[s, 5], f32>, !hlir.tensor<[s, 5], f32>, !hlir.tensor<[s, 5], bf16>, !hlir.tensor<[s, 5], bf16>, !hlir.tensor<[s, 5], bf16>, !hlir.tensor<[s, 5], bf16>, !hlir.tensor<[s, 5], bf16>, !hlir.tensor<[s, 5], bf16>, !hlir.tensor<[s, 5], bf16>, !hlir.tensor<[s, 5], bf16>, !hlir.tensor<[s, 5], bf16>, !hlir.tensor<[s, 5], bf16>, !hlir.tensor<[s, 5], f32>, !hlir.tensor<[s, 4], f32>) {
  %0 = hlir.max %x {axes = array<i64: 1>} : (!hlir.tensor<[s, 5], f32>) -> !hlir.tensor<[s], f32>
  %1 = hlir.view %0 (d0, d1) -> (d0) : (!hlir.tensor<[s], f32>) -> !hlir.tensor<[s, 5], f32>
  %2 = hlir.sub %x, %1 : !hlir.tensor<[s, 5], f32>
  %3 = hlir.exp %2 : !hlir.tensor<[s, 5], f32>
  %4 = hlir.sum %3 {axes = array<i64: 1>} : (!hlir.tensor<[s, 5], f32>) -> !hlir.tensor<[s], f32>
  %5 = hlir.view %4 (d0, d1) -> (d0) : (!hlir.tensor<[s], f32>) -> !hlir.tensor<[s, 5], f32>
  %6 = hlir.div %3, %5 : !hlir.tensor<[s, 5], f32>
  %7 = hlir.mul %x, %x : !hlir.tensor<[s, 5], f32>
  %8 = hlir.max %7 {axes = array<i64: 1>} : (!hlir.tensor<[s, 5], f32>) -> !hlir.tensor<[s], f32>
  %9 = hlir.view %8 (d0, d1) -> (d0) : (!hlir.tensor<[s], f32>) -> !hlir.tensor<[s, 5], f32>
  %10 = hlir.sub %7, %9 : !hlir.tensor<[s, 5], f32>
  %11 = hlir.exp %10 : !hlir.tensor<[s, 5], f32>
  %12 = hlir.sum %11 {axes = array<i64: 1>} : (!hlir.tensor<[s, 5], f32>) -> !hlir.tensor<[s], f32>
  %13 = hlir.view %12 (d0, d1) -> (d0) : (!hlir.tensor<[s], f32>) -> !hlir.tensor<[s, 5], f32>
  %14 = hlir.recip %13 : !hlir.tensor<[s, 5], f32>
  %15 = hlir.mul %11, %14 : !hlir.tensor<[s, 5], f32>
  %16 = hlir.log %5 : !hlir.tensor<[s, 5], f32>
  %17 = hlir.sub %2, %16 : !hlir.tensor<[s, 5], f32>
  %18 = hlir.sum %x {axes = array<i64: 1>} : (!hlir.tensor<[s, 5], f32>) -> !hlir.tensor<[s], f32>
  %19 = hlir.constant 5.0 : !hlir.tensor<[s], f32>
  %20 = hlir.div %18, %19 : !hlir.tensor<[s], f32>
  %21 = hlir.view %20 (d0, d1) -> (d0) : (!hlir.tensor<[s], f32>) -> !hlir.tensor<[s, 5], f32>
  %22 = hlir.sub %x, %21 : !hlir.tensor<[s, 5], f32>
  %23 = hlir.mul %22, %22 : !hlir.tensor<[s, 5], f32>
  %24 = hlir.sum %23 {axes = array<i64: 1>} : (!hlir.tensor<[s, 5], f32>) -> !hlir.tensor<[s], f32>
  %25 = hlir.div %24, %19 : !hlir.tensor<[s], f32>
  %26 = hlir.view %25 (d0, d1) -> (d0) : (!hlir.tensor<[s], f32>) -> !hlir.tensor<[s, 5], f32>
  %27 = hlir.constant 1.0e-05 : !hlir.tensor<[s, 5], f32>
  %28 = hlir.add %26, %27 : !hlir.tensor<[s, 5], f32>
  %29 = hlir.rsqrt %28 : !hlir.tensor<[s, 5], f32>
  %30 = hlir.mul %22, %29 : !hlir.tensor<[s, 5], f32>
  %31 = hlir.view %w (d0, d1) -> (d1) : (!hlir.tensor<[5], f32>) -> !hlir.tensor<[s, 5], f32>
  %32 = hlir.mul %31, %30 : !hlir.tensor<[s, 5], f32>
  %33 = hlir.view %b (d0, d1) -> (d1) : (!hlir.tensor<[5], f32>) -> !hlir.tensor<[s, 5], f32>
  %34 = hlir.add %32, %33 : !hlir.tensor<[s, 5], f32>
  %35 = hlir.sum %7 {axes = array<i64: 1>} : (!hlir.tensor<[s, 5], f32>) -> !hlir.tensor<[s], f32>
  %36 = hlir.div %35, %19 : !hlir.tensor<[s], f32>
  %37 = hlir.view %36 (d0, d1) -> (d0) : (!hlir.tensor<[s], f32>) -> !hlir.tensor<[s, 5], f32>
  %38 = hlir.add %37, %27 : !hlir.tensor<[s, 5], f32>
  %39 = hlir.rsqrt %38 : !hlir.tensor<[s, 5], f32>
  %40 = hlir.mul %x, %39 : !hlir.tensor<[s, 5], f32>
  %41 = hlir.mul %31, %40 : !hlir.tensor<[s, 5], f32>
  %42 = hlir.add %x, %x : !hlir.tensor<[s, 5], f32>
  %43 = hlir.sum %42 {axes = array<i64: 1>} : (!hlir.tensor<[s, 5], f32>) -> !hlir.tensor<[s], f32>
  %44 = hlir.div %43, %19 : !hlir.tensor<[s], f32>
  %45 = hlir.view %44 (d0, d1) -> (d0) : (!hlir.tensor<[s], f32>) -> !hlir.tensor<[s, 5], f32>
  %46 = hlir.sub %42, %45 : !hlir.tensor<[s, 5], f32>
  %47 = hlir.mul %46, %46 : !hlir.tensor<[s, 5], f32>
  %48 = hlir.sum %47 {axes = array<i64: 1>} : (!hlir.tensor<[s, 5], f32>) -> !hlir.tensor<[s], f32>
  %49 = hlir.div %48, %19 : !hlir.tensor<[s], f32>
  %50 = hlir.view %49 (d0, d1) -> (d0) : (!hlir.tensor<[s], f32>) -> !hlir.tensor<[s, 5], f32>
  %51 = hlir.add %50, %27 : !hlir.tensor<[s, 5], f32>
  %52 = hlir.sqrt %51 : !hlir.tensor<[s, 5], f32>
  %53 = hlir.div %46, %52 : !hlir.tensor<[s, 5], f32>
  %54 = hlir.mul %31, %53 : !hlir.tensor<[s, 5], f32>
  %55 = hlir.add %54, %33 : !hlir.tensor<[s, 5], f32>
  %56 = hlir.mul %42, %42 : !hlir.tensor<[s, 5], f32>
  %57 = hlir.sum %56 {axes = array<i64: 1>} : (!hlir.tensor<[s, 5], f32>) -> !hlir.tensor<[s], f32>
  %58 = hlir.div %57, %19 : !hlir.tensor<[s], f32>
  %59 = hlir.view %58 (d0, d1) -> (d0) : (!hlir.tensor<[s], f32>) -> !hlir.tensor<[s, 5], f32>
  %60 = hlir.add %59, %27 : !hlir.tensor<[s, 5], f32>
  %61 = hlir.sqrt %60 : !hlir.tensor<[s, 5], f32>
  %62 = hlir.div %42, %61 : !hlir.tensor<[s, 5], f32>
  %63 = hlir.mul %31, %62 : !hlir.tensor<[s, 5], f32>
  %64 = hlir.cast %h {dtype = f32} : (!hlir.tensor<[s, 5], bf16>) -> !hlir.tensor<[s, 5], f32>
  %65 = hlir.cast %hw {dtype = f32} : (!hlir.tensor<[5], bf16>) -> !hlir.tensor<[5], f32>
  %66 = hlir.cast %hb {dtype = f32} : (!hlir.tensor<[5], bf16>) -> !hlir.tensor<[5], f32>
  %67 = hlir.sum %64 {axes = array<i64: 1>} : (!hlir.tensor<[s, 5], f32>) -> !hlir.tensor<[s], f32>
  %68 = hlir.div %67, %19 : !hlir.tensor<[s], f32>
  %69 = hlir.view %68 (d0, d1) -> (d0) : (!hlir.tensor<[s], f32>) -> !hlir.tensor<[s, 5], f32>
  %70 = hlir.sub %64, %69 : !hlir.tensor<[s, 5], f32>
  %71 = hlir.mul %70, %70 : !hlir.tensor<[s, 5], f32>
  %72 = hlir.sum %71 {axes = array<i64: 1>} : (!hlir.tensor<[s, 5], f32>) -> !hlir.tensor<[s], f32>
  %73 = hlir.div %72, %19 : !hlir.tensor<[s], f32>
  %74 = hlir.view %73 (d0, d1) -> (d0) : (!hlir.tensor<[s], f32>) -> !hlir.tensor<[s, 5], f32>
  %75 = hlir.add %74, %27 : !hlir.tensor<[s, 5], f32>
  %76 = hlir.rsqrt %75 : !hlir.tensor<[s, 5], f32>
  %77 = hlir.mul %70, %76 : !hlir.tensor<[s, 5], f32>
  %78 = hlir.cast %77 {dtype = bf16} : (!hlir.tensor<[s, 5], f32>) -> !hlir.tensor<[s, 5], bf16>
  %79 = hlir.view %65 (d0, d1) -> (d1) : (!hlir.tensor<[5], f32>) -> !hlir.tensor<[s, 5], f32>
  %80 = hlir.mul %79, %77 : !hlir.tensor<[s, 5], f32>
  %81 = hlir.cast %80 {dtype = bf16} : (!hlir.tensor<[s, 5], f32>) -> !hlir.tensor<[s, 5], bf16>
  %82 = hlir.view %66 (d0, d1) -> (d1) : (!hlir.tensor<[5], f32>) -> !hlir.tensor<[s, 5], f32>
  %83 = hlir.add %80, %82 : !hlir.tensor<[s, 5], f32>
  %84 = hlir.cast %83 {dtype = bf16} : (!hlir.tensor<[s, 5], f32>) -> !hlir.tensor<[s, 5], bf16>
  %85 = hlir.mul %64, %64 : !hlir.tensor<[s, 5], f32>
  %86 = hlir.sum %85 {axes = array<i64: 1>} : (!hlir.tensor<[s, 5], f32>) -> !hlir.tensor<[s], f32>
  %87 = hlir.div %86, %19 : !hlir.tensor<[s], f32>
  %88 = hlir.view %87 (d0, d1) -> (d0) : (!hlir.tensor<[s], f32>) -> !hlir.tensor<[s, 5], f32>
  %89 = hlir.add %88, %27 : !hlir.tensor<[s, 5], f32>
  %90 = hlir.rsqrt %89 : !hlir.tensor<[s, 5], f32>
  %91 = hlir.mul %64, %90 : !hlir.tensor<[s, 5], f32>
  %92 = hlir.cast %91 {dtype = bf16} : (!hlir.tensor<[s, 5], f32>) -> !hlir.tensor<[s, 5], bf16>
  %93 = hlir.mul %79, %91 : !hlir.tensor<[s, 5], f32>
  %94 = hlir.cast %93 {dtype = bf16} : (!hlir.tensor<[s, 5], f32>) -> !hlir.tensor<[s, 5], bf16>
  %95 = hlir.cast %h2 {dtype = f32} : (!hlir.tensor<[s, 5], bf16>) -> !hlir.tensor<[s, 5], f32>
  %96 = hlir.sum %95 {axes = array<i64: 1>} : (!hlir.tensor<[s, 5], f32>) -> !hlir.tensor<[s], f32>
  %97 = hlir.div %96, %19 : !hlir.tensor<[s], f32>
  %98 = hlir.view %97 (d0, d1) -> (d0) : (!hlir.tensor<[s], f32>) -> !hlir.tensor<[s, 5], f32>
  %99 = hlir.sub %95, %98 : !hlir.tensor<[s, 5], f32>
  %100 = hlir.mul %99, %99 : !hlir.tensor<[s, 5], f32>
  %101 = hlir.sum %100 {axes = array<i64: 1>} : (!hlir.tensor<[s, 5], f32>) -> !hlir.tensor<[s], f32>
  %102 = hlir.div %101, %19 : !hlir.tensor<[s], f32>
  %103 = hlir.view %102 (d0, d1) -> (d0) : (!hlir.tensor<[s], f32>) -> !hlir.tensor<[s, 5], f32>
  %104 = hlir.add %103, %27 : !hlir.tensor<[s, 5], f32>
  %105 = hlir.sqrt %104 : !hlir.tensor<[s, 5], f32>
  %106 = hlir.div %99, %105 : !hlir.tensor<[s, 5], f32>
  %107 = hlir.cast %106 {dtype = bf16} : (!hlir.tensor<[s, 5], f32>) -> !hlir.tensor<[s, 5], bf16>
  %108 = hlir.mul %79, %106 : !hlir.tensor<[s, 5], f32>
  %109 = hlir.cast %108 {dtype = bf16} : (!hlir.tensor<[s, 5], f32>) -> !hlir.tensor<[s, 5], bf16>
  %110 = hlir.add %108, %82 : !hlir.tensor<[s, 5], f32>
  %111 = hlir.cast %110 {dtype = bf16} : (!hlir.tensor<[s, 5], f32>) -> !hlir.tensor<[s, 5], bf16>
  %112 = hlir.mul %95, %95 : !hlir.tensor<[s, 5], f32>
  %113 = hlir.sum %112 {axes = array<i64: 1>} : (!hlir.tensor<[s, 5], f32>) -> !hlir.tensor<[s], f32>
  %114 = hlir.div %113, %19 : !hlir.tensor<[s], f32>
  %115 = hlir.view %114 (d0, d1) -> (d0) : (!hlir.tensor<[s], f32>) -> !hlir.tensor<[s, 5], f32>
  %116 = hlir.add %115, %27 : !hlir.tensor<[s, 5], f32>
  %117 = hlir.sqrt %116 : !hlir.tensor<[s, 5], f32>
  %118 = hlir.div %95, %117 : !hlir.tensor<[s, 5], f32>
  %119 = hlir.cast %118 {dtype = bf16} : (!hlir.tensor<[s, 5], f32>) -> !hlir.tensor<[s, 5], bf16>
  %120 = hlir.mul %79, %118 : !hlir.tensor<[s, 5], f32>
  %121 = hlir.cast %120 {dtype = bf16} : (!hlir.tensor<[s, 5], f32>) -> !hlir.tensor<[s, 5], bf16>
  %122 = hlir.sub %x, %7 : !hlir.tensor<[s, 5], f32>
  %123 = hlir.sum %122 {axes = array<i64: 1>} : (!hlir.tensor<[s, 5], f32>) -> !hlir.tensor<[s], f32>
  %124 = hlir.constant 0.2 : !hlir.tensor<[s], f32>
  %125 = hlir.mul %123, %124 : !hlir.tensor<[s], f32>
  %126 = hlir.view %125 (d0, d1) -> (d0) : (!hlir.tensor<[s], f32>) -> !hlir.tensor<[s, 5], f32>
  %127 = hlir.sub %122, %126 : !hlir.tensor<[s, 5], f32>
  %128 = hlir.mul %127, %127 : !hlir.tensor<[s, 5], f32>
  %129 = hlir.sum %128 {axes = array<i64: 1>} : (!hlir.tensor<[s, 5], f32>) -> !hlir.tensor<[s], f32>
  %130 = hlir.mul %129, %124 : !hlir.tensor<[s], f32>
  %131 = hlir.view %130 (d0, d1) -> (d0) : (!hlir.tensor<[s], f32>) -> !hlir.tensor<[s, 5], f32>
  %132 = hlir.add %131, %27 : !hlir.tensor<[s, 5], f32>
  %133 = hlir.rsqrt %132 : !hlir.tensor<[s, 5], f32>
  %134 = hlir.mul %127, %133 : !hlir.tensor<[s, 5], f32>
  %135 = hlir.mul %p, %p : !hlir.tensor<[s, 4], f32>
  %136 = hlir.sub %p, %135 : !hlir.tensor<[s, 4], f32>
  %137 = hlir.sum %136 {axes = array<i64: 1>} : (!hlir.tensor<[s, 4], f32>) -> !hlir.tensor<[s], f32>
  %138 = hlir.constant 0.25 : !hlir.tensor<[s], f32>
  %139 = hlir.mul %137, %138 : !hlir.tensor<[s], f32>
  %140 = hlir.view %139 (d0, d1) -> (d0) : (!hlir.tensor<[s], f32>) -> !hlir.tensor<[s, 4], f32>
  %141 = hlir.sub %136, %140 : !hlir.tensor<[s, 4], f32>
  %142 = hlir.mul %141, %141 : !hlir.tensor<[s, 4], f32>
  %143 = hlir.sum %142 {axes = array<i64: 1>} : (!hlir.tensor<[s, 4], f32>) -> !hlir.tensor<[s], f32>
  %144 = hlir.mul %143, %138 : !hlir.tensor<[s], f32>
  %145 = hlir.view %144 (d0, d1) -> (d0) : (!hlir.tensor<[s], f32>) -> !hlir.tensor<[s, 4], f32>
  %146 = hlir.constant 1.0e-05 : !hlir.tensor<[s, 4], f32>
  %147 = hlir.add %145, %146 : !hlir.tensor<[s, 4], f32>
  %148 = hlir.rsqrt %147 : !hlir.tensor<[s, 4], f32>
  %149 = hlir.mul %141, %148 : !hlir.tensor<[s, 4], f32>
  func.return %6, %15, %17, %34, %41, %55, %63, %78, %81, %84, %92, %94, %107, %109, %111, %119, %121, %134, %149 : !hlir.tensor<[s, 5], f32>, !hlir.tensor<[s, 5], f32>, !hlir.tensor<[s, 5], f32>, !hlir.tensor<[s, 5], f32>, !hlir.tensor<[s, 5], f32>, !hlir.tensor<[s, 5], f32>, !hlir.tensor<[s, 5], f32>, !hlir.tensor<[s, 5], bf16>, !hlir.tensor<[s, 5], bf16>, !hlir.tensor<[s, 5], bf16>, !hlir.tensor<[s, 5], bf16>, !hlir.tensor<[s, 5], bf16>, !hlir.tensor<[s, 5], bf16>, !hlir.tensor<[s, 5], bf16>, !hlir.tensor<[s, 5], bf16>, !hlir.tensor<[s, 5], bf16>, !hlir.tensor<[s, 5], bf16>, !hlir.tensor<[s, 5], f32>, !hlir.tensor<[s, 4], f32>
}
