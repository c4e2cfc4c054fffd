#include <cuda_bf16.h>

// Row softmax: shuffles, static shared memory, barriers.
extern "C" __global__ void __launch_bounds__(256) softmax(const float* __restrict__ x, float* __restrict__ y, int n) {
  __shared__ float partial[8];
  const int row = blockIdx.x, t = threadIdx.x, lane = t & 31, warp = t >> 5;
  float m = __int_as_float(0xff800000);
  for (int i = t; i < n; i += blockDim.x) m = fmaxf(m, x[row * n + i]);
#pragma unroll
  for (int o = 16; o; o >>= 1) m = fmaxf(m, __shfl_xor_sync(0xffffffffu, m, o));
  if (lane == 0) partial[warp] = m;
  __syncthreads();
  m = partial[0];
  for (int i = 1; i < 8; ++i) m = fmaxf(m, partial[i]);
  float s = 0.0f;
  for (int i = t; i < n; i += blockDim.x) s += expf(x[row * n + i] - m);
#pragma unroll
  for (int o = 16; o; o >>= 1) s += __shfl_xor_sync(0xffffffffu, s, o);
  __syncthreads();
  if (lane == 0) partial[warp] = s;
  __syncthreads();
  s = 0.0f;
  for (int i = 0; i < 8; ++i) s += partial[i];
  for (int i = t; i < n; i += blockDim.x) y[row * n + i] = expf(x[row * n + i] - m) / s;
}

#if defined(ALBUMEN_SHIM) || __CUDA_ARCH__ >= 900
#define CLUSTER __cluster_dims__(1, 1, 1)
#else
#define CLUSTER
#endif
// Tiled matmul of bfloat16 with dynamic shared memory; a cluster attribute means nothing on the CPU.
extern "C" __global__ void CLUSTER __launch_bounds__(256, 2)
matmul_bf16(const __nv_bfloat16* __restrict__ a, const __nv_bfloat16* __restrict__ b, float* __restrict__ c, int m, int n, int k) {
  extern __shared__ __align__(1024) unsigned char tiles[];
  __nv_bfloat16 (*ta)[16] = reinterpret_cast<__nv_bfloat16 (*)[16]>(tiles);
  __nv_bfloat16 (*tb)[16] = ta + 16;
  const int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 16 + ty, column = blockIdx.x * 16 + tx;
  float sum = 0.0f;
  for (int k0 = 0; k0 < k; k0 += 16) {
    ta[ty][tx] = row < m && k0 + tx < k ? a[row * k + k0 + tx] : __nv_bfloat16(0.0f);
    tb[ty][tx] = column < n && k0 + ty < k ? b[(k0 + ty) * n + column] : __nv_bfloat16(0.0f);
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 16; ++i) sum += __bfloat162float(ta[ty][i]) * __bfloat162float(tb[i][tx]);
    __syncthreads();
  }
  if (row < m && column < n) c[row * n + column] = sum;
}

// Shuffles with widths and part masks, votes, a counting barrier: one value of each kind for every thread.
extern "C" __global__ void lanes(int* out) {
  const int t = threadIdx.x, lane = t & 31;
  int* o = out + t * 12;
  o[0] = __shfl_sync(~0u, lane, 3, 8);
  o[1] = __shfl_up_sync(~0u, lane, 2, 16);
  o[2] = __shfl_down_sync(~0u, lane, 2, 16);
  o[3] = __shfl_xor_sync(~0u, lane, 5);
  o[4] = static_cast<int>(__ballot_sync(~0u, lane % 3 == 0));
  o[5] = __any_sync(~0u, lane == 31) + 2 * __all_sync(~0u, lane < 31);
  o[6] = __reduce_add_sync(~0u, lane);
  o[7] = __syncthreads_count(t % 2);
  o[8] = __syncthreads_or(t == 40) + 2 * __syncthreads_and(t < 40);
  if (lane < 16)
    o[9] = __shfl_xor_sync(0x0000ffffu, lane, 1);
  else
    o[9] = __shfl_xor_sync(0xffff0000u, lane, 2);
  o[10] = static_cast<int>(__match_any_sync(~0u, lane % 4));
  o[11] = __shfl_sync(~0u, static_cast<int>(blockIdx.x * 100 + threadIdx.y), 0);
}

// Histogram and sums by atomics of several types, also on shared memory.
extern "C" __global__ void atomics(const int* values, int n, unsigned* histogram, float* sum, int* extremes, unsigned long long* count) {
  __shared__ unsigned local[8];
  if (threadIdx.x < 8) local[threadIdx.x] = 0;
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    atomicAdd(&local[values[i] & 7], 1);
    atomicAdd(sum, 0.5f);
    atomicMin(extremes, values[i]);
    atomicMax(extremes + 1, values[i]);
    atomicCAS(extremes + 2, 0, 7);
    atomicAdd(count, 1ull);
  }
  __syncthreads();
  if (threadIdx.x < 8) atomicAdd(histogram + threadIdx.x, local[threadIdx.x]);
}

// Block after block: each reads shared memory before anybody wrote it.
extern "C" __global__ void uninitialised(float* out) {
  extern __shared__ float dynamic[];
  __shared__ float fixed[32];
  const int t = threadIdx.x;
  out[blockIdx.x * 64 + t] = fixed[t];
  out[blockIdx.x * 64 + 32 + t] = dynamic[t];
  __syncthreads();
  fixed[t] = dynamic[t] = 1.0f;
}
