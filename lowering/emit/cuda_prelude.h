// Device functions of emitted CUDA text. A block is pasted where one of the names before the colon of its first line occurs.

// ALB_DEVICE: how a device function begins
#ifndef ALB_DEVICE
#define ALB_DEVICE static __device__ __forceinline__
#endif

// alb_maximum, alb_minimum: NaN if either side is NaN
template <class T> ALB_DEVICE T alb_maximum(T a, T b) { return a > b || a != a ? a : b; }
template <class T> ALB_DEVICE T alb_minimum(T a, T b) { return a < b || a != a ? a : b; }
#ifndef ALBUMEN_SHIM
ALB_DEVICE float alb_maximum(float a, float b) {
  float result;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
  return result;
}
ALB_DEVICE float alb_minimum(float a, float b) {
  float result;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
  return result;
}
#endif

// alb_floordiv, alb_ceildiv: integer division rounded down and up
template <class T> ALB_DEVICE T alb_floordiv(T a, T b) {
  const T quotient = a / b;
  return quotient * b != a && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}
template <class T> ALB_DEVICE T alb_ceildiv(T a, T b) {
  const T quotient = a / b;
  return quotient * b != a && (a < 0) == (b < 0) ? quotient + 1 : quotient;
}

// alb_gcd: Euclid's greatest common divisor of the magnitudes
ALB_DEVICE long long alb_gcd(long long a, long long b) {
  unsigned long long x = a < 0 ? 0 - (unsigned long long)a : (unsigned long long)a, y = b < 0 ? 0 - (unsigned long long)b : (unsigned long long)b;
  while (y != 0) {
    const unsigned long long rest = x % y;
    x = y;
    y = rest;
  }
  return (long long)x;
}

// alb_pow_i64: a^b, which wraps; for b < 0 the whole part of 1 / a^-b, 0 for a = 0
ALB_DEVICE long long alb_pow_i64(long long a, long long b) {
  if (b < 0) return a == 1 ? 1 : a == -1 ? (b & 1 ? -1 : 1) : 0;
  unsigned long long power = 1, factor = (unsigned long long)a;
  for (; b; b >>= 1, factor *= factor)
    if (b & 1) power *= factor;
  return (long long)power;
}

// alb_hermite, alb_hermite_e, alb_laguerre, alb_legendre: orthogonal polynomials of degree trunc(n) by their recurrences
#define ALB_POLYNOMIAL(name, first, step, limited) \
  template <class T> ALB_DEVICE T name(T x, T n) { \
    if (!(n > -1 && n < (T)9223372036854775808.0f)) return 0; \
    const long long degree = (long long)n; \
    if (limited && degree > (sizeof(T) == 4 ? 128 : 512)) return (T)0 / (T)0; \
    if (degree == 0) return 1; \
    T p = 1, q = first; \
    for (long long k = 1; k < degree && q == q; ++k) { const T r = step; p = q; q = r; } \
    return q; \
  }
ALB_POLYNOMIAL(alb_hermite, x + x, fma(x + x, q, -((T)(2 * k) * p)), 1)
ALB_POLYNOMIAL(alb_hermite_e, x, fma(x, q, -((T)k * p)), 1)
ALB_POLYNOMIAL(alb_laguerre, 1 - x, fma((T)(2 * k) + (1 - x), q, -((T)k * p)) / (T)(k + 1), 0)
ALB_POLYNOMIAL(alb_legendre, x, fma((T)(2 * k + 1) * x, q, -((T)k * p)) / (T)(k + 1), 0)

// alb_bits: the bits of a value read as another type of its size
template <class To, class From> ALB_DEVICE To alb_bits(From value) {
  static_assert(sizeof(To) == sizeof(From), "a bitcast keeps the size");
  To result;
  memcpy(&result, &value, sizeof result);
  return result;
}

// AlbAdd, AlbMul, AlbMax, AlbMin, AlbAnd, AlbOr: what joins two values of a reduction
struct AlbAdd { template <class T> static __device__ __forceinline__ T of(T a, T b) { return a + b; } };
struct AlbMul { template <class T> static __device__ __forceinline__ T of(T a, T b) { return a * b; } };
struct AlbMax { template <class T> static __device__ __forceinline__ T of(T a, T b) { return alb_maximum(a, b); } };
struct AlbMin { template <class T> static __device__ __forceinline__ T of(T a, T b) { return alb_minimum(a, b); } };
struct AlbAnd { template <class T> static __device__ __forceinline__ T of(T a, T b) { return a & b; } };
struct AlbOr { template <class T> static __device__ __forceinline__ T of(T a, T b) { return a | b; } };

// alb_reduce_warp: every lane gets the reduction over its group of Width lanes
template <class Combiner, int Width, class T> ALB_DEVICE T alb_reduce_warp(T value) {
#pragma unroll
  for (int lanes = Width / 2; lanes > 0; lanes /= 2)
    value = Combiner::of(value, (T)__shfl_xor_sync(0xffffffffu, value, lanes));  // narrow integers come back as int
  return value;
}

// alb_reduce_block: every thread gets the reduction over the block; scratch has one element a warp
template <class Combiner, int Threads, bool Fresh, class T> ALB_DEVICE T alb_reduce_block(T value, T *scratch) {
  constexpr int warps = Threads / 32;
  const int thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  value = alb_reduce_warp<Combiner, 32>(value);
  if constexpr (warps > 1) {
    if constexpr (!Fresh) __syncthreads();
    if (thread % 32 == 0) scratch[thread / 32] = value;
    __syncthreads();
    value = scratch[0];
#pragma unroll
    for (int warp = 1; warp < warps; ++warp) value = Combiner::of(value, scratch[warp]);
  }
  return value;
}
