#include <metal_stdlib>
#include <metal_simdgroup_matrix>
using namespace metal;

constant float scales[2] = {1.0f, 2.0f};
struct alignas(16) Half8 {
  half e[8];
};

// Row softmax: SIMD-group reductions, threadgroup memory, barriers.
[[kernel, max_total_threads_per_threadgroup(256)]] void unused(device float* x [[buffer(0)]]) { x[0] = 1.0f; }
kernel void softmax(device const float* x [[buffer(0)]],
                    device float* y [[buffer(1)]],
                    constant int& n [[buffer(2)]],
                    uint3 group [[threadgroup_position_in_grid]],
                    uint t [[thread_index_in_threadgroup]],
                    uint lane [[thread_index_in_simdgroup]],
                    uint simd [[simdgroup_index_in_threadgroup]]) {
  threadgroup float partial[8];
  const uint row = group.x;
  float m = -INFINITY;
  for (int i = t; i < n; i += 256) m = max(m, x[row * n + i]);
  m = simd_max(m);
  if (lane == 0) partial[simd] = m;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  m = partial[0];
  for (int i = 1; i < 8; ++i) m = max(m, partial[i]);
  float s = 0.0f;
  for (int i = t; i < n; i += 256) s += precise::exp(x[row * n + i] - m);
  s = simd_sum(s);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (lane == 0) partial[simd] = s;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  s = 0.0f;
  for (int i = 0; i < 8; ++i) s += partial[i];
  for (int i = t; i < n; i += 256) y[row * n + i] = precise::exp(x[row * n + i] - m) / s;
}

// c = a b on SIMD-group matrices, 32x32 tiles; threadgroup memory as a parameter, the sizes as a vector in a buffer.
kernel void matmul(device const half* a [[buffer(0)]],
                   device const half* b [[buffer(1)]],
                   device float* c [[buffer(2)]],
                   constant uint3& mnk [[buffer(3)]],
                   uint2 group [[threadgroup_position_in_grid]],
                   uint simd [[simdgroup_index_in_threadgroup]],
                   uint lane [[thread_index_in_simdgroup]],
                   threadgroup half* tiles [[threadgroup(0)]]) {
  threadgroup half* ta = tiles;
  threadgroup half* tb = tiles + 256;
  const uint n = mnk.y, k = mnk.z, row = group.y * 32, column = group.x * 32, t = simd * 32 + lane;
  simdgroup_float8x8 acc[4];
  for (int i = 0; i < 4; ++i) acc[i] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
  for (uint k0 = 0; k0 < k; k0 += 8) {
    for (uint i = t; i < 256; i += 128) {
      ta[i] = a[(row + i / 8) * k + k0 + i % 8];
      tb[i] = b[(k0 + i / 32) * n + column + i % 32];
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    simdgroup_half8x8 ma, mb;
    simdgroup_load(ma, ta + simd * 64, 8);
    for (int j = 0; j < 4; ++j) {
      simdgroup_load(mb, tb + j * 8, 32);
      simdgroup_multiply_accumulate(acc[j], ma, mb, acc[j]);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  for (int j = 0; j < 4; ++j) simdgroup_store(acc[j], c + (row + simd * 8) * n + column + j * 8, n);
}

// A transposed load, a product without addend, the elements of a lane.
kernel void transpose(device const float* x [[buffer(0)]], device float* y [[buffer(1)]], uint lane [[thread_index_in_simdgroup]]) {
  simdgroup_float8x8 m, identity = simdgroup_float8x8(1.0f), product;
  simdgroup_load(m, x, 8, ulong2(0, 0), true);
  simdgroup_multiply(product, m, identity);
  product.thread_elements()[0] += 1.0f;
  product.thread_elements()[1] += 1.0f;
  simdgroup_store(product, y, 8);
}

// Arithmetic of the narrow types rounds after every operation.
kernel void narrow(device const half* a [[buffer(0)]], device const half* b [[buffer(1)]], device half* c [[buffer(2)]],
                   device const bfloat* p [[buffer(3)]], device bfloat* q [[buffer(4)]], uint i [[thread_position_in_grid]]) {
  c[i] = a[i] * b[i] + a[i] - 1.0h;
  q[i] = p[i] * p[i] + bfloat(1.0f);
}

kernel void vectors(device const half4* x [[buffer(0)]], device half4* y [[buffer(1)]], constant float& scale [[buffer(2)]],
                    device const Half8* v [[buffer(3)]], device Half8* w [[buffer(4)]], uint i [[thread_position_in_grid]],
                    uint count [[threads_per_grid]]) {
  const float4 f = float4(x[i]) * scale + float4(scales[0]);
  y[i] = half4(f);
  if (i < count / 2) {
    Half8 r = v[i];
    for (int j = 0; j < 8; ++j) r.e[j] = r.e[j] * half(scales[1]);
    w[i] = r;
  }
}

// Shuffles, votes, prefix sums, atomics; 14 numbers a thread.
kernel void lanes(device int* out [[buffer(0)]], device atomic_int* count [[buffer(1)]], device atomic_float* sum [[buffer(2)]],
                  uint3 position [[thread_position_in_threadgroup]], uint3 size [[threads_per_threadgroup]],
                  uint lane [[thread_index_in_simdgroup]], uint simds [[simdgroups_per_threadgroup]]) {
  threadgroup atomic_uint hits;
  const uint t = position.x;
  device int* o = out + t * 14;
  if (t == 0) atomic_store_explicit(&hits, 0u, memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  o[0] = simd_shuffle(int(lane), 3);
  o[1] = simd_shuffle_up(int(lane), 2);
  o[2] = simd_shuffle_down(int(lane), 2);
  o[3] = simd_shuffle_xor(int(lane), 5);
  o[4] = simd_broadcast(int(t), 7);
  o[5] = simd_prefix_inclusive_sum(int(lane));
  o[6] = simd_prefix_exclusive_sum(int(lane));
  o[7] = simd_all(lane < 32) + 2 * simd_any(lane == 32);
  o[8] = simd_min(int(lane) - 4);
  atomic_fetch_add_explicit(&hits, 1u, memory_order_relaxed);
  atomic_fetch_add_explicit(count, 1, memory_order_relaxed);
  atomic_fetch_add_explicit(sum, 0.5f, memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  o[9] = int(atomic_load_explicit(&hits, memory_order_relaxed));
  o[10] = int(size.x + size.y * 1000);
  o[11] = int(simds);
  o[12] = as_type<int>(fma(1.5f, 2.0f, 1.0f));
  o[13] = select(clamp(int(lane), 4, 9), popcount(lane), lane > 15);
}

kernel void early_return(device float* x [[buffer(0)]], constant int& n [[buffer(1)]], uint t [[thread_index_in_threadgroup]]) {
  if (int(t) >= n) return;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  x[t] = 1.0f;
}
