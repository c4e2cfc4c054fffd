// Scalar and vector types of the Metal Shading Language. A vector has the components x, y, z, w and indices; no other swizzles.
#pragma once
#include <cstdint>
#include <cstring>
#include <type_traits>

using uint = unsigned int;
using ushort = unsigned short;
using uchar = unsigned char;
using ulong = unsigned long;
using half = _Float16;

// bfloat: arithmetic of two bfloats rounds to bfloat; with a float it is float arithmetic.
struct bfloat {
  uint16_t bits;
  bfloat() = default;
  explicit bfloat(float value) {
    uint32_t word;
    memcpy(&word, &value, 4);
    bits = value != value ? static_cast<uint16_t>(word >> 16 | 0x40)
                          : static_cast<uint16_t>((word + 0x7FFF + (word >> 16 & 1)) >> 16);
  }
  template <class T, typename std::enable_if<std::is_arithmetic<T>::value && !std::is_same<T, float>::value, int>::type = 0>
  explicit bfloat(T value) : bfloat(static_cast<float>(value)) {}
  explicit bfloat(half value) : bfloat(static_cast<float>(value)) {}
  operator float() const {
    const uint32_t word = static_cast<uint32_t>(bits) << 16;
    float value;
    memcpy(&value, &word, 4);
    return value;
  }
};
template <class T> using AlbumenIfBfloat = typename std::enable_if<std::is_same<T, bfloat>::value, T>::type;
template <class T> AlbumenIfBfloat<T> operator+(T a, T b) { return bfloat(float(a) + float(b)); }
template <class T> AlbumenIfBfloat<T> operator-(T a, T b) { return bfloat(float(a) - float(b)); }
template <class T> AlbumenIfBfloat<T> operator*(T a, T b) { return bfloat(float(a) * float(b)); }
template <class T> AlbumenIfBfloat<T> operator/(T a, T b) { return bfloat(float(a) / float(b)); }
template <class T> AlbumenIfBfloat<T> operator-(T a) { return bfloat(-float(a)); }
template <class T> AlbumenIfBfloat<T> &operator+=(T &a, T b) { return a = a + b; }
template <class T> AlbumenIfBfloat<T> &operator-=(T &a, T b) { return a = a - b; }
template <class T> AlbumenIfBfloat<T> &operator*=(T &a, T b) { return a = a * b; }
template <class T> AlbumenIfBfloat<T> &operator/=(T &a, T b) { return a = a / b; }

// Literals such as 1.5h and 1.5bf.
static inline half operator""h(long double value) { return static_cast<half>(value); }
static inline bfloat operator""bf(long double value) { return bfloat(static_cast<float>(value)); }

namespace metal {

template <class T, int N> struct vec;
template <class T> struct alignas(2 * sizeof(T)) vec<T, 2> {
  T x, y;
  vec() = default;
  vec(T a) : x(a), y(a) {}
  vec(T a, T b) : x(a), y(b) {}
  template <class U> explicit vec(const vec<U, 2> &o) : x(T(o.x)), y(T(o.y)) {}
  T &operator[](int i) { return (&x)[i]; }
  const T &operator[](int i) const { return (&x)[i]; }
};
template <class T> struct alignas(4 * sizeof(T)) vec<T, 3> {
  T x, y, z;
  vec() = default;
  vec(T a) : x(a), y(a), z(a) {}
  vec(T a, T b, T c) : x(a), y(b), z(c) {}
  template <class U> explicit vec(const vec<U, 3> &o) : x(T(o.x)), y(T(o.y)), z(T(o.z)) {}
  T &operator[](int i) { return (&x)[i]; }
  const T &operator[](int i) const { return (&x)[i]; }
};
template <class T> struct alignas(4 * sizeof(T)) vec<T, 4> {
  T x, y, z, w;
  vec() = default;
  vec(T a) : x(a), y(a), z(a), w(a) {}
  vec(T a, T b, T c, T d) : x(a), y(b), z(c), w(d) {}
  template <class U> explicit vec(const vec<U, 4> &o) : x(T(o.x)), y(T(o.y)), z(T(o.z)), w(T(o.w)) {}
  T &operator[](int i) { return (&x)[i]; }
  const T &operator[](int i) const { return (&x)[i]; }
};

#define ALBUMEN_VECTOR_OPERATOR(op)                                                                       \
  template <class T, int N> vec<T, N> operator op(vec<T, N> a, const vec<T, N> &b) {                      \
    for (int i = 0; i < N; ++i) a[i] = a[i] op b[i];                                                      \
    return a;                                                                                             \
  }                                                                                                       \
  template <class T, int N> vec<T, N> operator op(vec<T, N> a, typename std::common_type<T>::type b) {    \
    for (int i = 0; i < N; ++i) a[i] = a[i] op b;                                                         \
    return a;                                                                                             \
  }                                                                                                       \
  template <class T, int N> vec<T, N> operator op(typename std::common_type<T>::type a, vec<T, N> b) {    \
    for (int i = 0; i < N; ++i) b[i] = a op b[i];                                                         \
    return b;                                                                                             \
  }                                                                                                       \
  template <class T, int N> vec<T, N> &operator op##=(vec<T, N> &a, const vec<T, N> &b) { return a = a op b; }
ALBUMEN_VECTOR_OPERATOR(+)
ALBUMEN_VECTOR_OPERATOR(-)
ALBUMEN_VECTOR_OPERATOR(*)
ALBUMEN_VECTOR_OPERATOR(/)
#undef ALBUMEN_VECTOR_OPERATOR
template <class T, int N> vec<T, N> operator-(vec<T, N> a) {
  for (int i = 0; i < N; ++i) a[i] = -a[i];
  return a;
}

}  // namespace metal

#define ALBUMEN_VECTOR_NAMES(T)   \
  using T##2 = metal::vec<T, 2>;  \
  using T##3 = metal::vec<T, 3>;  \
  using T##4 = metal::vec<T, 4>;
ALBUMEN_VECTOR_NAMES(bool)
ALBUMEN_VECTOR_NAMES(char)
ALBUMEN_VECTOR_NAMES(uchar)
ALBUMEN_VECTOR_NAMES(short)
ALBUMEN_VECTOR_NAMES(ushort)
ALBUMEN_VECTOR_NAMES(int)
ALBUMEN_VECTOR_NAMES(uint)
ALBUMEN_VECTOR_NAMES(long)
ALBUMEN_VECTOR_NAMES(ulong)
ALBUMEN_VECTOR_NAMES(half)
ALBUMEN_VECTOR_NAMES(bfloat)
ALBUMEN_VECTOR_NAMES(float)
#undef ALBUMEN_VECTOR_NAMES
