// CUDA's built-in vector types, for a text that includes none of NVIDIA's headers (which define the same).
#pragma once
#if !defined(__VECTOR_TYPES_H__)

#define ALBUMEN_VECTORS(T, name, align1, align2, align4)                                       \
  struct __attribute__((aligned(align1))) name##1 { T x; };                                    \
  struct __attribute__((aligned(align2))) name##2 { T x, y; };                                 \
  struct name##3 { T x, y, z; };                                                               \
  struct __attribute__((aligned(align4))) name##4 { T x, y, z, w; };                           \
  static inline name##1 make_##name##1(T x) { return {x}; }                                    \
  static inline name##2 make_##name##2(T x, T y) { return {x, y}; }                            \
  static inline name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; }                    \
  static inline name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }
ALBUMEN_VECTORS(signed char, char, 1, 2, 4)
ALBUMEN_VECTORS(unsigned char, uchar, 1, 2, 4)
ALBUMEN_VECTORS(short, short, 2, 4, 8)
ALBUMEN_VECTORS(unsigned short, ushort, 2, 4, 8)
ALBUMEN_VECTORS(int, int, 4, 8, 16)
ALBUMEN_VECTORS(unsigned int, uint, 4, 8, 16)
ALBUMEN_VECTORS(long long, longlong, 8, 16, 16)
ALBUMEN_VECTORS(unsigned long long, ulonglong, 8, 16, 16)
ALBUMEN_VECTORS(float, float, 4, 8, 16)
ALBUMEN_VECTORS(double, double, 8, 16, 16)
#undef ALBUMEN_VECTORS

struct dim3 {
  unsigned x, y, z;
  dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};

#endif
