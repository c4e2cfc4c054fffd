// Device functions of emitted Metal text. A block is pasted where one of the names before the colon of its first line occurs.

// alb_maximum, alb_minimum: NaN if either side is NaN
template <class T> T alb_maximum(T a, T b) { return a > b || a != a ? a : b; }
template <class T> T alb_minimum(T a, T b) { return a < b || a != a ? a : b; }

// alb_floordiv, alb_ceildiv: integer division rounded down and up
template <class T> T alb_floordiv(T a, T b) {
  const T quotient = a / b;
  return quotient * b != a && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}
template <class T> T alb_ceildiv(T a, T b) {
  const T quotient = a / b;
  return quotient * b != a && (a < 0) == (b < 0) ? quotient + 1 : quotient;
}

// alb_gcd: Euclid's greatest common divisor of the magnitudes
inline long alb_gcd(long a, long b) {
  ulong x = a < 0 ? 0 - (ulong)a : (ulong)a, y = b < 0 ? 0 - (ulong)b : (ulong)b;
  while (y != 0) {
    const ulong rest = x % y;
    x = y;
    y = rest;
  }
  return (long)x;
}

// alb_pow_i64: a^b, which wraps; for b < 0 the whole part of 1 / a^-b, 0 for a = 0
inline long alb_pow_i64(long a, long b) {
  if (b < 0) return a == 1 ? 1 : a == -1 ? (b & 1 ? -1 : 1) : 0;
  ulong power = 1, factor = (ulong)a;
  for (; b; b >>= 1, factor *= factor)
    if (b & 1) power *= factor;
  return (long)power;
}

// alb_hermite, alb_hermite_e, alb_laguerre, alb_legendre: orthogonal polynomials of degree trunc(n) by their recurrences
#define ALB_POLYNOMIAL(name, first, step, limited) \
  template <class T> T name(T x, T n) { \
    if (!(n > -1 && n < (T)9223372036854775808.0f)) return 0; \
    const long degree = (long)n; \
    if (limited && degree > (sizeof(T) == 4 ? 128 : 512)) return (T)0 / (T)0; \
    if (degree == 0) return 1; \
    T p = 1, q = first; \
    for (long k = 1; k < degree && q == q; ++k) { const T r = step; p = q; q = r; } \
    return q; \
  }
ALB_POLYNOMIAL(alb_hermite, x + x, fma(x + x, q, -((T)(2 * k) * p)), 1)
ALB_POLYNOMIAL(alb_hermite_e, x, fma(x, q, -((T)k * p)), 1)
ALB_POLYNOMIAL(alb_laguerre, 1 - x, fma((T)(2 * k) + (1 - x), q, -((T)k * p)) / (T)(k + 1), 0)
ALB_POLYNOMIAL(alb_legendre, x, fma((T)(2 * k + 1) * x, q, -((T)k * p)) / (T)(k + 1), 0)

// AlbAdd, AlbMul, AlbMax, AlbMin, AlbAnd, AlbOr: what joins two values of a reduction
struct AlbAdd { template <class T> static T of(T a, T b) { return a + b; } };
struct AlbMul { template <class T> static T of(T a, T b) { return a * b; } };
struct AlbMax { template <class T> static T of(T a, T b) { return alb_maximum(a, b); } };
struct AlbMin { template <class T> static T of(T a, T b) { return alb_minimum(a, b); } };
struct AlbAnd { template <class T> static T of(T a, T b) { return a & b; } };
struct AlbOr { template <class T> static T of(T a, T b) { return a | b; } };

// alb_shuffle_up, alb_shuffle_down: the own value where the source lies outside the group of width lanes
template <class T> T alb_shuffle_up(T value, uint lane, uint lanes, uint width) {
  return simd_shuffle(value, ushort((lane & (width - 1)) >= lanes ? lane - lanes : lane));
}
template <class T> T alb_shuffle_down(T value, uint lane, uint lanes, uint width) {
  return simd_shuffle(value, ushort((lane & (width - 1)) + lanes < width ? lane + lanes : lane));
}

// alb_reduce_warp: every lane gets the reduction over its group of Width lanes
template <class Combiner, int Width, class T> T alb_reduce_warp(T value) {
#pragma unroll
  for (int lanes = Width / 2; lanes > 0; lanes /= 2)
    value = Combiner::of(value, simd_shuffle_xor(value, ushort(lanes)));
  return value;
}

// alb_reduce_block: every thread gets the reduction over the block; scratch has one element a simdgroup
template <class Combiner, int Threads, bool Fresh, class T>
T alb_reduce_block(T value, threadgroup T *scratch, uint lane, uint warp) {
  constexpr int warps = Threads / 32;
  value = alb_reduce_warp<Combiner, 32>(value);
  if (warps > 1) {
    if (!Fresh) threadgroup_barrier(mem_flags::mem_threadgroup);
    if (lane == 0) scratch[warp] = value;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    value = scratch[0];
#pragma unroll
    for (int other = 1; other < warps; ++other) value = Combiner::of(value, scratch[other]);
  }
  return value;
}

// alb_erf: within 2 ulp; an odd polynomial below 1, 1 - exp(-x q(x)) above
inline float alb_erf(float x) {
  const float a = min(fabs(x), 4.0f), t = x * x;
  float p = -9.66704457149e-6f;
  p = fma(p, t, 0.000112659590256f);
  p = fma(p, t, -0.000848408040554f);
  p = fma(p, t, 0.00522103180786f);
  p = fma(p, t, -0.0268654307277f);
  p = fma(p, t, 0.112837824952f);
  p = fma(p, t, -0.37612638468f);
  p = fma(p, t, 0.128379167062f);
  float q = -2.31064068788e-7f;
  q = fma(q, a, 3.53820776507e-6f);
  q = fma(q, a, -4.27600741569e-6f);
  q = fma(q, a, -0.000318279272158f);
  q = fma(q, a, 0.0037948519972f);
  q = fma(q, a, -0.0242555683119f);
  q = fma(q, a, 0.106934676577f);
  q = fma(q, a, 0.634672906215f);
  q = fma(q, a, 1.12877789494f);
  return x != x ? x : fabs(x) < 1.0f ? fma(p, x, x) : copysign(1.0f - precise::exp(-(q * a)), x);
}

// alb_log1p: log(u) corrected by what 1 + x lost
inline float alb_log1p(float x) {
  const float u = 1.0f + x;
  return u == 1.0f || u == INFINITY ? x : precise::log(u) * (x / (u - 1.0f));
}

// alb_expm1: exp(x) - 1 corrected by what the exponential lost
inline float alb_expm1(float x) {
  const float u = precise::exp(x);
  if (u == 1.0f) return x;
  return u == INFINITY || u - 1.0f == -1.0f ? u - 1.0f : (u - 1.0f) * (x / precise::log(u));
}

// alb_cbrt: the exponential of a third of the logarithm, and one step of Newton's method
inline float alb_cbrt(float x) {
  const float a = fabs(x);
  if (!(a > 0.0f) || a == INFINITY) return x;
  const float y = precise::exp2(precise::log2(a) * (1.0f / 3.0f));
  return copysign(y - (y * y * y - a) / (3.0f * y * y), x);
}

// alb_erfc: t exp(p(t) - x^2) with t = 1 / (1 + |x| / 2), the square split so that its exponential keeps its digits
inline float alb_erfc(float x) {
  const float a = fabs(x), t = 1.0f / (1.0f + 0.5f * a);
  float p = 0.17087277f;
  p = fma(p, t, -0.82215223f);
  p = fma(p, t, 1.48851587f);
  p = fma(p, t, -1.13520398f);
  p = fma(p, t, 0.27886807f);
  p = fma(p, t, -0.18628806f);
  p = fma(p, t, 0.09678418f);
  p = fma(p, t, 0.37409196f);
  p = fma(p, t, 1.00002368f);
  p = fma(p, t, -1.26551223f);
  const float high = a * a, low = fma(a, a, -high);
  const float tail = a > 11.0f ? 0.0f : t * precise::exp(-high) * precise::exp(p - low);
  return x != x ? x : x < 0.0f ? 2.0f - tail : tail;
}

// alb_lgamma: Lanczos' series with g = 5, and the reflection formula below 1/2
inline float alb_lgamma(float x) {
  const float a = fabs(x);
  if (a == INFINITY) return INFINITY;
  if (x <= 0.0f && x == floor(x)) return INFINITY;
  const float z = x < 0.5f ? -x : x - 1.0f;
  float sum = 1.000000000190015f;
  sum += 76.18009172947146f / (z + 1.0f);
  sum += -86.50532032941677f / (z + 2.0f);
  sum += 24.01409824083091f / (z + 3.0f);
  sum += -1.231739572450155f / (z + 4.0f);
  sum += 0.001208650973866179f / (z + 5.0f);
  sum += -0.000005395239384953f / (z + 6.0f);
  const float t = z + 5.5f;
  const float value = (z + 0.5f) * precise::log(t) - t + precise::log(2.5066282746310005f * sum);
  const float whole = x - floor(x);
  return x < 0.5f ? 1.1447298858494002f - precise::log(fabs(precise::sin(3.14159265358979f * whole))) - value : value;
}
