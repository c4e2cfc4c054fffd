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
