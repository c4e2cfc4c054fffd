// Scalar functions of Metal's standard library. A function of half or bfloat computes in float and rounds once; the fast
// variants are exact here: their error on the device is a bound, not a value to imitate.
#pragma once
#include <cmath>

#include "metal_types.h"

namespace metal {

template <class T> using IfFloat = typename std::enable_if<
    std::is_same<T, float>::value || std::is_same<T, half>::value || std::is_same<T, bfloat>::value, T>::type;

#define ALBUMEN_UNARY(name, expression)              \
  template <class T> IfFloat<T> name(T argument) {   \
    const float x = static_cast<float>(argument);    \
    return static_cast<T>(expression);               \
  }
#define ALBUMEN_BINARY(name, expression)                                                    \
  template <class T> IfFloat<T> name(T first, T second) {                                   \
    const float x = static_cast<float>(first), y = static_cast<float>(second);              \
    return static_cast<T>(expression);                                                      \
  }
// What the default, the precise and the fast namespace all have.
#define ALBUMEN_FUNCTIONS                                                                   \
  ALBUMEN_UNARY(exp, std::exp(x))                                                           \
  ALBUMEN_UNARY(exp2, std::exp2(x))                                                         \
  ALBUMEN_UNARY(exp10, static_cast<float>(std::pow(10.0, static_cast<double>(x))))          \
  ALBUMEN_UNARY(log, std::log(x))                                                           \
  ALBUMEN_UNARY(log2, std::log2(x))                                                         \
  ALBUMEN_UNARY(log10, std::log10(x))                                                       \
  ALBUMEN_UNARY(sqrt, std::sqrt(x))                                                         \
  ALBUMEN_UNARY(rsqrt, static_cast<float>(1.0 / std::sqrt(static_cast<double>(x))))         \
  ALBUMEN_UNARY(sin, std::sin(x))                                                           \
  ALBUMEN_UNARY(cos, std::cos(x))                                                           \
  ALBUMEN_UNARY(tan, std::tan(x))                                                           \
  ALBUMEN_UNARY(asin, std::asin(x))                                                         \
  ALBUMEN_UNARY(acos, std::acos(x))                                                         \
  ALBUMEN_UNARY(atan, std::atan(x))                                                         \
  ALBUMEN_UNARY(sinh, std::sinh(x))                                                         \
  ALBUMEN_UNARY(cosh, std::cosh(x))                                                         \
  ALBUMEN_UNARY(tanh, std::tanh(x))                                                         \
  ALBUMEN_UNARY(floor, std::floor(x))                                                       \
  ALBUMEN_UNARY(ceil, std::ceil(x))                                                         \
  ALBUMEN_UNARY(trunc, std::trunc(x))                                                       \
  ALBUMEN_UNARY(rint, std::rint(x))                                                         \
  ALBUMEN_UNARY(round, std::round(x))                                                       \
  ALBUMEN_UNARY(fabs, std::fabs(x))                                                         \
  ALBUMEN_BINARY(pow, std::pow(x, y))                                                       \
  ALBUMEN_BINARY(powr, std::pow(x, y))                                                      \
  ALBUMEN_BINARY(fmod, std::fmod(x, y))                                                     \
  ALBUMEN_BINARY(fmax, std::fmax(x, y))                                                     \
  ALBUMEN_BINARY(fmin, std::fmin(x, y))                                                     \
  ALBUMEN_BINARY(atan2, std::atan2(x, y))                                                   \
  ALBUMEN_BINARY(copysign, std::copysign(x, y))
ALBUMEN_FUNCTIONS
namespace precise {
ALBUMEN_FUNCTIONS
}
namespace fast {
ALBUMEN_FUNCTIONS
}
#undef ALBUMEN_FUNCTIONS
#undef ALBUMEN_UNARY
#undef ALBUMEN_BINARY

template <class T> IfFloat<T> fma(T a, T b, T c) {
  return static_cast<T>(std::fma(static_cast<float>(a), static_cast<float>(b), static_cast<float>(c)));
}
template <class T> IfFloat<T> saturate(T x) { return x > T(0.0f) ? (x < T(1.0f) ? x : T(1.0f)) : T(0.0f); }
template <class T> IfFloat<T> sign(T x) { return x > T(0.0f) ? T(1.0f) : x < T(0.0f) ? T(-1.0f) : x == T(0.0f) ? x : T(0.0f); }
template <class T> bool isnan(T x) { return x != x; }
template <class T> bool isinf(T x) { return std::isinf(static_cast<float>(x)); }
template <class T> bool isfinite(T x) { return std::isfinite(static_cast<float>(x)); }
template <class T> bool signbit(T x) { return std::signbit(static_cast<float>(x)); }

template <class T> T max(T a, T b) { return a < b ? b : a; }
template <class T> T min(T a, T b) { return b < a ? b : a; }
template <class T> T clamp(T x, T low, T high) { return min(max(x, low), high); }
template <class T> T abs(T x) { return std::is_integral<T>::value ? (x < T(0) ? T(-x) : x) : T(std::fabs(static_cast<float>(x))); }
template <class T> T select(T a, T b, bool condition) { return condition ? b : a; }
template <class To, class From> To as_type(From value) {
  static_assert(sizeof(To) == sizeof(From), "as_type between types of different sizes");
  To result;
  memcpy(&result, &value, sizeof result);
  return result;
}

template <class T> int popcount(T x) { return __builtin_popcountll(static_cast<typename std::make_unsigned<T>::type>(x)); }
template <class T> T clz(T x) {
  return x ? __builtin_clzll(static_cast<typename std::make_unsigned<T>::type>(x)) - (64 - 8 * sizeof(T)) : 8 * sizeof(T);
}
template <class T> T mulhi(T a, T b) {
  if constexpr (std::is_signed<T>::value) return static_cast<T>(static_cast<__int128>(a) * b >> (8 * sizeof(T)));
  else return static_cast<T>(static_cast<unsigned __int128>(a) * b >> (8 * sizeof(T)));
}

}  // namespace metal
using metal::as_type;
