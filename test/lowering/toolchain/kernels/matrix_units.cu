// Follows the text of albumen_nv.h. One warp a block; every kernel moves its operands through shared memory.

// d[16][8] += a[16][16] b[16][8], 16-bit operands: a by ldmatrix.x4, b (row-major, k by n) by ldmatrix.x2 transposed.
template <class Multiply>
static __device__ __forceinline__ void tile16(const unsigned short* a, const unsigned short* b, float* d, Multiply multiply) {
  __shared__ __align__(16) unsigned short sa[16][24], sb[16][8];
  const int lane = threadIdx.x, g = lane / 4, t = lane % 4;
  alb_cp_async16(&sa[lane / 2][lane % 2 * 8], a + lane * 8);
  alb_cp_async8(&sb[lane / 2][lane % 2 * 4], b + lane * 4);
  alb_cp_async_commit();
  alb_cp_async_wait<0>();
  __syncwarp();
  unsigned ra[4], rb[2];
  float acc[4];
  for (int i = 0; i < 4; ++i) acc[i] = d[(g + 8 * (i / 2)) * 8 + 2 * t + i % 2];
  alb_ldmatrix_x4<false>(ra, &sa[lane % 16][lane / 16 * 8]);
  alb_ldmatrix_x2<true>(rb, &sb[lane % 16][0]);
  multiply(acc, ra, rb);
  for (int i = 0; i < 4; ++i) d[(g + 8 * (i / 2)) * 8 + 2 * t + i % 2] = acc[i];
}
struct MultiplyBf16 {
  __device__ void operator()(float* d, const unsigned* a, const unsigned* b) const { alb_mma_m16n8k16_bf16(d, a, b); }
};
struct MultiplyF16 {
  __device__ void operator()(float* d, const unsigned* a, const unsigned* b) const { alb_mma_m16n8k16_f16(d, a, b); }
};
extern "C" __global__ void mma_bf16(const unsigned short* a, const unsigned short* b, float* d) { tile16(a, b, d, MultiplyBf16()); }
extern "C" __global__ void mma_f16(const unsigned short* a, const unsigned short* b, float* d) { tile16(a, b, d, MultiplyF16()); }

// d[16][8] += a[16][8] b[8][8] in tf32; b is row-major, k by n.
extern "C" __global__ void mma_tf32(const float* a, const float* b, float* d) {
  const int lane = threadIdx.x, g = lane / 4, t = lane % 4;
  unsigned ra[4], rb[2];
  float acc[4];
  for (int i = 0; i < 4; ++i) ra[i] = alb_tf32(a[(g + 8 * (i % 2)) * 8 + t + 4 * (i / 2)]);
  for (int i = 0; i < 2; ++i) rb[i] = alb_tf32(b[(t + 4 * i) * 8 + g]);
  for (int i = 0; i < 4; ++i) acc[i] = d[(g + 8 * (i / 2)) * 8 + 2 * t + i % 2];
  alb_mma_m16n8k8_tf32(acc, ra, rb);
  for (int i = 0; i < 4; ++i) d[(g + 8 * (i / 2)) * 8 + 2 * t + i % 2] = acc[i];
}

// The registers that each form of ldmatrix gives for four 8x8 matrices of numbered elements: out[form][lane][4].
extern "C" __global__ void ldmatrix_forms(const unsigned short* x, unsigned* out) {
  __shared__ __align__(16) unsigned short s[32][8];
  const int lane = threadIdx.x;
  for (int i = 0; i < 8; ++i) s[lane][i] = x[lane * 8 + i];
  __syncwarp();
  unsigned r[6][4] = {};
  alb_ldmatrix_x1<false>(r[0], s[lane]);
  alb_ldmatrix_x1<true>(r[1], s[lane]);
  alb_ldmatrix_x2<false>(r[2], s[lane]);
  alb_ldmatrix_x2<true>(r[3], s[lane]);
  alb_ldmatrix_x4<false>(r[4], s[lane]);
  alb_ldmatrix_x4<true>(r[5], s[lane]);
#pragma unroll
  for (int form = 0; form < 6; ++form)
#pragma unroll
    for (int i = 0; i < 4; ++i) out[(form * 32 + lane) * 4 + i] = r[form][i];
}

// Copies n floats through shared memory in 16-, 8- and 4-byte pieces; what lies behind n arrives as zero. 128 floats a block.
extern "C" __global__ void copy_edge(const float* x, float* y, int n) {
  __shared__ __align__(16) float s[3][128];
  const int t = threadIdx.x, base = blockIdx.x * 128;
  auto valid = [&](int first, int bytes) { return max(0, min(bytes, (n - base - first) * 4)); };
  alb_grid_wait();
  const int v16 = valid(t * 4, 16);
  alb_cp_async16(&s[0][t * 4], v16 ? x + base + t * 4 : x, v16);
  alb_cp_async_commit();
  for (int i = t; i < 64; i += 32) {
    const int v8 = valid(i * 2, 8);
    alb_cp_async8(&s[1][i * 2], v8 ? x + base + i * 2 : x, v8);
  }
  alb_cp_async_commit();
  for (int i = t; i < 128; i += 32) {
    const int v4 = valid(i, 4);
    alb_cp_async4(&s[2][i], v4 ? x + base + i : x, v4);
  }
  alb_cp_async_commit();
  alb_cp_async_wait<1>();
  __syncwarp();
  for (int i = t; i < 128; i += 32) y[(base + i) * 3] = s[0][i], y[(base + i) * 3 + 1] = s[1][i];
  alb_cp_async_wait<0>();
  __syncwarp();
  for (int i = t; i < 128; i += 32) y[(base + i) * 3 + 2] = s[2][i];
  alb_grid_release();
}

struct alignas(16) Eight { unsigned short e[8]; };
struct alignas(16) Sixteen { unsigned short e[16]; };
// One more than every element, by streaming accesses of every size: bytes at a time 1, 2, 4, 8, 16, 32.
extern "C" __global__ void stream(const unsigned char* x1, unsigned char* y1, const unsigned short* x2, unsigned short* y2, const float* x4,
                                  float* y4, const double* x8, double* y8, const Eight* x16, Eight* y16, const Sixteen* x32, Sixteen* y32) {
  const int i = threadIdx.x;
  alb_store_stream(y1 + i, static_cast<unsigned char>(alb_load_stream(x1 + i) + 1));
  alb_store_stream(y2 + i, static_cast<unsigned short>(alb_load_stream(x2 + i) + 1));
  alb_store_stream(y4 + i, alb_load_stream(x4 + i) + 1.0f);
  alb_store_stream(y8 + i, alb_load_stream(x8 + i) + 1.0);
  Eight v = alb_load_stream(x16 + i);
  for (int j = 0; j < 8; ++j) v.e[j] += 1;
  alb_store_stream(y16 + i, v);
  Sixteen w = alb_load_stream(x32 + i);
  for (int j = 0; j < 16; ++j) w.e[j] += 1;
  alb_store_stream(y32 + i, w);
}

// c[m][n] = a[m][k] b[n][k]^T, bfloat16 in, f32 out: 64x64 tiles, four warps, three stages of cp.async, swizzled shared memory.
extern "C" __global__ void __launch_bounds__(128) gemm_bf16(const unsigned short* __restrict__ a, const unsigned short* __restrict__ b,
                                                            float* __restrict__ c, int m, int n, int k) {
  extern __shared__ __align__(128) unsigned short tiles[];
  const int t = threadIdx.x, warp = t / 32, lane = t % 32, m0 = blockIdx.y * 64, n0 = blockIdx.x * 64;
  const int wm = warp % 2 * 32, wn = warp / 2 * 32, steps = (k + 31) / 32;
  auto address = [&](int stage, int matrix, int row, int chunk) {
    return tiles + ((stage * 2 + matrix) * 64 + row) * 32 + (chunk ^ (row / 2 & 3)) * 8;
  };
  auto load = [&](int step) {
    for (int i = t; i < 512; i += 128) {
      const int matrix = i / 256, row = i % 256 / 4, chunk = i % 4, column = step * 32 + chunk * 8;
      const int index = (matrix ? n0 : m0) + row, rows = matrix ? n : m;
      const bool inside = index < rows && column < k;
      const unsigned short* source = matrix ? b : a;
      alb_cp_async16(address(step % 3, matrix, row, chunk), inside ? source + index * k + column : source, inside ? min(16, (k - column) * 2) : 0);
    }
  };
  float acc[2][4][4] = {};
  for (int step = 0; step < 2; ++step) {
    if (step < steps) load(step);
    alb_cp_async_commit();
  }
  for (int step = 0; step < steps; ++step) {
    alb_cp_async_wait<1>();
    __syncthreads();
    if (step + 2 < steps) load(step + 2);
    alb_cp_async_commit();
#pragma unroll
    for (int kk = 0; kk < 2; ++kk) {
      unsigned ra[2][4], rb[2][4];
#pragma unroll
      for (int i = 0; i < 2; ++i) alb_ldmatrix_x4<false>(ra[i], address(step % 3, 0, wm + i * 16 + lane % 16, kk * 2 + lane / 16));
#pragma unroll
      for (int j = 0; j < 2; ++j)
        alb_ldmatrix_x4<false>(rb[j], address(step % 3, 1, wn + j * 16 + lane % 8 + lane / 16 * 8, kk * 2 + lane / 8 % 2));
#pragma unroll
      for (int i = 0; i < 2; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j) alb_mma_m16n8k16_bf16(acc[i][j], ra[i], rb[j / 2] + j % 2 * 2);
    }
  }
#pragma unroll
  for (int i = 0; i < 2; ++i)
#pragma unroll
    for (int j = 0; j < 4; ++j)
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        const int row = m0 + wm + i * 16 + lane / 4 + e / 2 * 8, column = n0 + wn + j * 8 + lane % 4 * 2 + e % 2;
        if (row < m && column < n) c[row * n + column] = acc[i][j][e];
      }
}
