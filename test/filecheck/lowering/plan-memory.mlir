// RUN: %opt %s -p extract,cover,plan-memory | %filecheck %s
// RUN: %opt %s -p 'extract,cover,plan-memory{target=cuda}' | %filecheck %s --check-prefix=CUDA

sym.symbol @s min 1 max 512

// Two equal layers share a kernel; the first result is written over the input, the second where the caller wants it.
// CHECK: host.program @main target "c" {
// CHECK-NEXT: %x = host.input "x" role "input" align 4 : !host.buffer<[s, 8], f32>
// CHECK-NEXT: %w = host.input "w" role "parameter" align 4 : !host.buffer<[8, 8], f32>
// CHECK-NEXT: %cache = host.input "cache" role "buffer" align 4 mutated 0 : !host.buffer<[s, 8], f32>
// CHECK-NEXT: host.symbol "s" of %x dim 0 min 1 max 512
// CHECK-NEXT: %output0 = host.output "output0" : !host.buffer<[s, 8], f32>
// CHECK-NEXT: host.launch @matmul_0 (read %x, read %w, write %cache)
// CHECK-NEXT: host.launch @matmul_0 (read %cache, read %w, write %output0)
// CHECK-NEXT: }
// CHECK-NEXT: kernel.func @matmul_0(
// CHECK-NOT: kernel.func

// C reads elements, a GPU vectors of them.
// CUDA: %x = host.input "x" role "input" align 16 : !host.buffer<[s, 8], f32>
func.func @main(%x: !hlir.tensor<[s, 8], f32> {hlir.name = "x", hlir.role = "input"}, %w: !hlir.tensor<[8, 8], f32> {hlir.name = "w", hlir.role = "parameter"}, %cache: !hlir.tensor<[s, 8], f32> {hlir.name = "cache", hlir.role = "buffer"}) -> (!hlir.tensor<[s, 8], f32>, !hlir.tensor<[s, 8], f32>) attributes {hlir.outputs = [{kind = "mutation", input = 2 : i64}, {kind = "output"}]} {
  %0 = hlir.linear %x, %w : (!hlir.tensor<[s, 8], f32>, !hlir.tensor<[8, 8], f32>) -> !hlir.tensor<[s, 8], f32>
  %1 = hlir.linear %0, %w : (!hlir.tensor<[s, 8], f32>, !hlir.tensor<[8, 8], f32>) -> !hlir.tensor<[s, 8], f32>
  func.return %0, %1 : !hlir.tensor<[s, 8], f32>, !hlir.tensor<[s, 8], f32>
}
