/* Storage types of narrow floats and their conversions: bf16, f16, f8E4M3FN and f8E5M2 as their bits. Rounding is to
   nearest, ties to even; NaN stays NaN. Integer arithmetic only, so that loops vectorise on every machine.
   Blocks are separated by blank lines and begin with the names that they define. */

// alb_bf16, alb_f16, alb_f8E4M3FN, alb_f8E5M2: bits of narrow floats.
typedef uint16_t alb_bf16;
typedef uint16_t alb_f16;
typedef uint8_t alb_f8E4M3FN;
typedef uint8_t alb_f8E5M2;

// alb_bf16_to_f32, alb_bf16_from_f32: the upper half of an f32.
ALB_INLINE float alb_bf16_to_f32(alb_bf16 x) { return alb_float_i32((int32_t)((uint32_t)x << 16)); }
ALB_INLINE alb_bf16 alb_bf16_from_f32(float x) {
  const uint32_t i = (uint32_t)alb_bits_f32(x);
  const uint32_t rounded = (i + 0x7fff + ((i >> 16) & 1)) >> 16;
  return (alb_bf16)(x == x ? rounded : ((i >> 16) | 0x40));
}

// alb_narrow: an f32 rounded to a float of `mantissa` bits and exponent bias `bias`, without sign; `limit` is the first
// pattern that is too large and becomes `overflow`. Values below the least normal one are rounded by adding a power of
// two whose last bit is their unit.
ALB_INLINE uint32_t alb_narrow(float x, int mantissa, int bias, uint32_t limit, uint32_t overflow, uint32_t nan) {
  const uint32_t i = (uint32_t)alb_bits_f32(x) & 0x7fffffff;
  const int shift = 23 - mantissa;
  const int32_t unit = (127 + 1 - bias + shift) << 23;
  const uint32_t tiny = (uint32_t)(alb_bits_f32(alb_float_i32((int32_t)i) + alb_float_i32(unit)) - unit);
  const uint32_t rebased = i - ((uint32_t)(127 - bias) << 23);
  const uint32_t normal = (rebased + (1u << (shift - 1)) - 1 + ((i >> shift) & 1)) >> shift;
  const uint32_t value = i < (uint32_t)((127 + 1 - bias) << 23) ? tiny : normal;
  return i > 0x7f800000 ? nan : (value >= limit ? overflow : value);
}

// alb_widen: the inverse of alb_narrow for patterns below `special`, which are finite.
ALB_INLINE float alb_widen(uint32_t i, int mantissa, int bias) {
  return alb_float_i32((int32_t)(i << (23 - mantissa))) * alb_float_i32((254 - bias) << 23);
}

// alb_f16_to_f32, alb_f16_from_f32: IEEE half precision.
ALB_INLINE float alb_f16_to_f32(alb_f16 x) {
  const uint32_t i = x & 0x7fff;
  const float finite = alb_widen(i, 10, 15);
  const float value = i < 0x7c00 ? finite : alb_float_i32((int32_t)(0x7f800000 | (i & 0x3ff) << 13));
  return alb_float_i32(alb_bits_f32(value) | (int32_t)((uint32_t)(x & 0x8000) << 16));
}
ALB_INLINE alb_f16 alb_f16_from_f32(float x) {
  const uint32_t sign = (uint32_t)alb_bits_f32(x) >> 16 & 0x8000;
  return (alb_f16)(sign | alb_narrow(x, 10, 15, 0x7c00, 0x7c00, 0x7e00));
}

// alb_f8E5M2_to_f32, alb_f8E5M2_from_f32: 5 bits of exponent, infinities.
ALB_INLINE float alb_f8E5M2_to_f32(alb_f8E5M2 x) { return alb_f16_to_f32((alb_f16)(x << 8)); }
ALB_INLINE alb_f8E5M2 alb_f8E5M2_from_f32(float x) {
  const uint32_t sign = (uint32_t)alb_bits_f32(x) >> 24 & 0x80;
  return (alb_f8E5M2)(sign | alb_narrow(x, 2, 15, 0x7c, 0x7c, 0x7e));
}

// alb_f8E4M3FN_to_f32, alb_f8E4M3FN_from_f32: 4 bits of exponent, no infinities, beyond 448 is NaN.
ALB_INLINE float alb_f8E4M3FN_to_f32(alb_f8E4M3FN x) {
  const uint32_t i = x & 0x7f;
  const float finite = alb_widen(i, 3, 7);
  const float value = i < 0x7f ? finite : NAN;
  return alb_float_i32(alb_bits_f32(value) | (int32_t)((uint32_t)(x & 0x80) << 24));
}
ALB_INLINE alb_f8E4M3FN alb_f8E4M3FN_from_f32(float x) {
  const uint32_t sign = (uint32_t)alb_bits_f32(x) >> 24 & 0x80;
  return (alb_f8E4M3FN)(sign | alb_narrow(x, 3, 7, 0x7f, 0x7f, 0x7f));
}
