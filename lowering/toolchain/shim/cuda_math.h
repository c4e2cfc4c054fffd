// CUDA's built-in scalar functions that C's math library lacks. The approximate ones are exact here: their error on the device
// is a bound, not a value to imitate.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

using std::isfinite;
using std::isinf;
using std::isnan;
using std::signbit;

// max and min of floats pass over NaN; mixed integers take the common type, as CUDA's overloads do.
template <class A, class B> using AlbumenCommon = typename std::common_type<A, B>::type;
template <class A, class B, typename std::enable_if<std::is_arithmetic<A>::value && std::is_arithmetic<B>::value, int>::type = 0>
static inline AlbumenCommon<A, B> max(A a, B b) {
  const AlbumenCommon<A, B> x = a, y = b;
  if constexpr (std::is_floating_point<AlbumenCommon<A, B>>::value) return std::fmax(x, y);
  else return x < y ? y : x;
}
template <class A, class B, typename std::enable_if<std::is_arithmetic<A>::value && std::is_arithmetic<B>::value, int>::type = 0>
static inline AlbumenCommon<A, B> min(A a, B b) {
  const AlbumenCommon<A, B> x = a, y = b;
  if constexpr (std::is_floating_point<AlbumenCommon<A, B>>::value) return std::fmin(x, y);
  else return y < x ? y : x;
}

template <class To, class From> static inline To albumen_bits(From value) {
  static_assert(sizeof(To) == sizeof(From), "sizes differ");
  To result;
  memcpy(&result, &value, sizeof result);
  return result;
}
static inline float __int_as_float(int value) { return albumen_bits<float>(value); }
static inline float __uint_as_float(unsigned value) { return albumen_bits<float>(value); }
static inline int __float_as_int(float value) { return albumen_bits<int>(value); }
static inline unsigned __float_as_uint(float value) { return albumen_bits<unsigned>(value); }
static inline double __longlong_as_double(long long value) { return albumen_bits<double>(value); }
static inline long long __double_as_longlong(double value) { return albumen_bits<long long>(value); }

// Macros, since C libraries declare functions of these names for themselves.
#define __expf(x) expf(x)
#define __exp10f(x) powf(10.0f, x)
#define __logf(x) logf(x)
#define __log2f(x) log2f(x)
#define __log10f(x) log10f(x)
#define __sinf(x) sinf(x)
#define __cosf(x) cosf(x)
#define __tanf(x) tanf(x)
#define __powf(x, y) powf(x, y)
static inline float __fdividef(float x, float y) { return x / y; }
static inline float __saturatef(float x) { return x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f; }

static inline float __fadd_rn(float x, float y) { return x + y; }
static inline float __fsub_rn(float x, float y) { return x - y; }
static inline float __fmul_rn(float x, float y) { return x * y; }
static inline float __fdiv_rn(float x, float y) { return x / y; }
static inline float __fmaf_rn(float x, float y, float z) { return fmaf(x, y, z); }
static inline float __frcp_rn(float x) { return 1.0f / x; }
static inline float __fsqrt_rn(float x) { return sqrtf(x); }
static inline float __frsqrt_rn(float x) { return static_cast<float>(1.0 / std::sqrt(static_cast<double>(x))); }
static inline double __dadd_rn(double x, double y) { return x + y; }
static inline double __dmul_rn(double x, double y) { return x * y; }
static inline double __ddiv_rn(double x, double y) { return x / y; }
static inline double __fma_rn(double x, double y, double z) { return fma(x, y, z); }

static inline float rsqrtf(float x) { return static_cast<float>(1.0 / std::sqrt(static_cast<double>(x))); }
static inline double rsqrt(double x) { return 1.0 / std::sqrt(x); }
static inline float rcbrtf(float x) { return static_cast<float>(1.0 / std::cbrt(static_cast<double>(x))); }
static inline float sinpif(float x) { return static_cast<float>(std::sin(M_PI * std::fmod(static_cast<double>(x), 2.0))); }
static inline float cospif(float x) { return static_cast<float>(std::cos(M_PI * std::fmod(static_cast<double>(x), 2.0))); }
static inline float normcdff(float x) { return static_cast<float>(0.5 * std::erfc(-static_cast<double>(x) * M_SQRT1_2)); }

// Conversions to integers clamp to the range, and NaN gives zero.
template <class To> static inline To albumen_clamp(double value) {
  if (std::isnan(value)) return 0;
  const double low = static_cast<double>(std::is_signed<To>::value ? To(To(1) << (8 * sizeof(To) - 1)) : To(0));
  const double high = std::ldexp(1.0, 8 * sizeof(To) - std::is_signed<To>::value);
  if (value <= low) return std::is_signed<To>::value ? To(To(1) << (8 * sizeof(To) - 1)) : To(0);
  return value >= high ? static_cast<To>(~(std::is_signed<To>::value ? To(To(1) << (8 * sizeof(To) - 1)) : To(0)))
                       : static_cast<To>(value);
}
static inline int __float2int_rn(float x) { return albumen_clamp<int>(std::nearbyint(x)); }
static inline int __float2int_rz(float x) { return albumen_clamp<int>(std::trunc(x)); }
static inline int __float2int_rd(float x) { return albumen_clamp<int>(std::floor(x)); }
static inline int __float2int_ru(float x) { return albumen_clamp<int>(std::ceil(x)); }
static inline unsigned __float2uint_rn(float x) { return albumen_clamp<unsigned>(std::nearbyint(x)); }
static inline unsigned __float2uint_rz(float x) { return albumen_clamp<unsigned>(std::trunc(x)); }
static inline long long __float2ll_rn(float x) { return albumen_clamp<long long>(std::nearbyint(x)); }
static inline long long __float2ll_rz(float x) { return albumen_clamp<long long>(std::trunc(x)); }
static inline int __double2int_rz(double x) { return albumen_clamp<int>(std::trunc(x)); }
static inline long long __double2ll_rz(double x) { return albumen_clamp<long long>(std::trunc(x)); }
static inline float __int2float_rn(int x) { return static_cast<float>(x); }
static inline float __uint2float_rn(unsigned x) { return static_cast<float>(x); }
static inline float __ll2float_rn(long long x) { return static_cast<float>(x); }
static inline float __double2float_rn(double x) { return static_cast<float>(x); }

static inline int __popc(unsigned x) { return __builtin_popcount(x); }
static inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
static inline int __clz(int x) { return x ? __builtin_clz(static_cast<unsigned>(x)) : 32; }
static inline int __clzll(long long x) { return x ? __builtin_clzll(static_cast<unsigned long long>(x)) : 64; }
static inline int __ffs(int x) { return __builtin_ffs(x); }
static inline int __ffsll(long long x) { return __builtin_ffsll(x); }
static inline unsigned __brev(unsigned x) {
  unsigned result = 0;
  for (int i = 0; i < 32; ++i) result |= (x >> i & 1) << (31 - i);
  return result;
}
static inline unsigned __umulhi(unsigned x, unsigned y) { return static_cast<unsigned>(static_cast<uint64_t>(x) * y >> 32); }
static inline int __mulhi(int x, int y) { return static_cast<int>(static_cast<int64_t>(x) * y >> 32); }
static inline unsigned long long __umul64hi(unsigned long long x, unsigned long long y) {
  return static_cast<unsigned long long>(static_cast<unsigned __int128>(x) * y >> 64);
}
static inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
  return static_cast<unsigned>((static_cast<uint64_t>(high) << 32 | low) << (shift & 31) >> 32);
}
static inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
  return static_cast<unsigned>((static_cast<uint64_t>(high) << 32 | low) >> (shift & 31));
}
