/* Elementwise functions of f32 without branches, so that loops over them vectorise; f64 and rare functions are libm's.
   Polynomials are minimax (Remez exchange, weighted for relative error); fma is used where the machine has it. NaN
   passes through, infinities and results outside the range of f32 come out as IEEE says. The bounds in ulp at each
   function are tested. Must be compiled with -fno-math-errno -fno-trapping-math, never with -ffast-math.
   Blocks are separated by blank lines and begin with the names that they define. */

// ALB_INLINE, ALB_FMA, ALB_FMAD, ALB_FUSED_float, ALB_FUSED_double: declaration of functions; fused multiply-add.
#define ALB_INLINE static inline __attribute__((always_inline, unused))
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
#define ALB_FMA(a, b, c) __builtin_fmaf(a, b, c)
#define ALB_FMAD(a, b, c) __builtin_fma(a, b, c)
#define ALB_FUSED_float(a, b, c) __builtin_fmaf(a, b, c)
#define ALB_FUSED_double(a, b, c) __builtin_fma(a, b, c)
#else
#define ALB_FMA(a, b, c) ((a) * (b) + (c))
#define ALB_FMAD(a, b, c) ((a) * (b) + (c))
#endif

// alb_bits_f32, alb_float_i32, alb_bits_f64, alb_float_i64: the bits of a float as an integer, and back.
ALB_INLINE int32_t alb_bits_f32(float x) { int32_t i; memcpy(&i, &x, 4); return i; }
ALB_INLINE float alb_float_i32(int32_t i) { float x; memcpy(&x, &i, 4); return x; }
ALB_INLINE int64_t alb_bits_f64(double x) { int64_t i; memcpy(&i, &x, 8); return i; }
ALB_INLINE double alb_float_i64(int64_t i) { double x; memcpy(&x, &i, 8); return x; }

// alb_scale_f32: x * 2^n for n in [-252, 254], in two steps so that subnormal results round once.
ALB_INLINE float alb_scale_f32(float x, int32_t n) {
  const int32_t half = n >> 1;
  return x * alb_float_i32((half + 127) << 23) * alb_float_i32((n - half + 127) << 23);
}

// alb_exp_f32: e^x, 1.0 ulp.
ALB_INLINE float alb_exp_f32(float x) {
  float y = x > 89.0f ? 89.0f : x;
  y = y < -104.0f ? -104.0f : y;
  const float shifted = ALB_FMA(y, 0x1.715476p+0f, 0x1.8p+23f);
  const float n = shifted - 0x1.8p+23f;
  float r = ALB_FMA(n, -0x1.62e400p-1f, y);
  r = ALB_FMA(n, -0x1.7f7d1cp-20f, r);
  float q = 0.00138145986467f;
  q = ALB_FMA(q, r, 0.00836871687973f);
  q = ALB_FMA(q, r, 0.0416683880453f);
  q = ALB_FMA(q, r, 0.166665206317f);
  q = ALB_FMA(q, r, 0.499999934478f);
  /* 0 is scaled fast, underflow is not. */
  const float p = x < -104.0f ? 0.0f : ALB_FMA(r * r, q, r) + 1.0f;
  return alb_scale_f32(p, alb_bits_f32(shifted) - 0x4b400000);
}

// alb_exp2_f32: 2^x, 1.0 ulp.
ALB_INLINE float alb_exp2_f32(float x) {
  float y = x > 129.0f ? 129.0f : x;
  y = y < -151.0f ? -151.0f : y;
  const float shifted = y + 0x1.8p+23f;
  const float r = y - (shifted - 0x1.8p+23f);
  float q = 0.000153533599911f;
  q = ALB_FMA(q, r, 0.00133988769731f);
  q = ALB_FMA(q, r, 0.00961843738178f);
  q = ALB_FMA(q, r, 0.0555033246504f);
  q = ALB_FMA(q, r, 0.240226479133f);
  q = ALB_FMA(q, r, 0.693147202858f);
  return alb_scale_f32(x < -151.0f ? 0.0f : ALB_FMA(q, r, 1.0f), alb_bits_f32(shifted) - 0x4b400000);
}

// alb_split_f32: x = m * 2^e with m in [2/3, 4/3), x positive and finite; returns m - 1.
ALB_INLINE float alb_split_f32(float x, float *e) {
  const bool small = x < 0x1p-126f;
  const float y = small ? x * 0x1p+24f : x;
  const int32_t i = alb_bits_f32(y);
  const int32_t k = (i - 0x3f2aaaab) >> 23;
  *e = (float)k - (small ? 24.0f : 0.0f);
  return alb_float_i32(i - (k << 23)) - 1.0f;
}

// alb_log_tail_f32: log(1 + f) - f for f in [-1/3, 1/3].
ALB_INLINE float alb_log_tail_f32(float f) {
  float q = -0.128916790852f;
  q = ALB_FMA(q, f, 0.13984436962f);
  q = ALB_FMA(q, f, -0.121842625004f);
  q = ALB_FMA(q, f, 0.140058689231f);
  q = ALB_FMA(q, f, -0.166804872334f);
  q = ALB_FMA(q, f, 0.200104059273f);
  q = ALB_FMA(q, f, -0.249997976756f);
  q = ALB_FMA(q, f, 0.333332159822f);
  const float s = f * f;
  return ALB_FMA(s * f, q, -0.5f * s);
}

// alb_log_edge_f32: what a logarithm gives outside (0, inf): -inf at 0, NaN below it, inf and NaN as they are.
ALB_INLINE float alb_log_edge_f32(float x, float value) {
  const float special = x < 0.0f ? NAN : (x == 0.0f ? -INFINITY : x);
  return ((x > 0.0f) & (x < INFINITY)) ? value : special;
}

// alb_log_f32: log(x), 1.0 ulp.
ALB_INLINE float alb_log_f32(float x) {
  float e;
  const float f = alb_split_f32(x, &e);
  const float value = ALB_FMA(e, 0x1.62e400p-1f, f + ALB_FMA(e, 0x1.7f7d1cp-20f, alb_log_tail_f32(f)));
  return alb_log_edge_f32(x, value);
}

// alb_log2_f32: log2(x), 1.5 ulp.
ALB_INLINE float alb_log2_f32(float x) {
  float e;
  const float f = alb_split_f32(x, &e);
  const float tail = alb_log_tail_f32(f);
  const float low = ALB_FMA(tail, 0x1.715476p+0f, f * 0x1.4ae0cp-26f);
  const float high = f * 0x1.715476p+0f;
  const float rest = ALB_FMA(f, 0x1.715476p+0f, -high);
  return alb_log_edge_f32(x, (e + high) + ((high - ((e + high) - e)) + (rest + low)));
}

// alb_log10_f32: log10(x), 2 ulp.
ALB_INLINE float alb_log10_f32(float x) {
  float e;
  const float f = alb_split_f32(x, &e);
  const float tail = alb_log_tail_f32(f);
  const float low = ALB_FMA(tail, 0x1.bcb7b2p-2f, ALB_FMA(f, -0x1.5b235ep-27f, e * 0x1.3509f8p-18f));
  return alb_log_edge_f32(x, ALB_FMA(e, 0x1.344p-2f, ALB_FMA(f, 0x1.bcb7b2p-2f, low)));
}

// alb_erf_f32: erf(x), 1.5 ulp: x + x p(x^2) near 0, 1 - e^-g(|x|) beyond.
ALB_INLINE float alb_erf_f32(float x) {
  const float t = fabsf(x), s = x * x;
  float p = -0.000609036039741f;
  p = ALB_FMA(p, s, 0.0050119628983f);
  p = ALB_FMA(p, s, -0.0267789089667f);
  p = ALB_FMA(p, s, 0.112821408132f);
  p = ALB_FMA(p, s, -0.376125232763f);
  p = ALB_FMA(p, s, 0.128379153797f);
  const float near = ALB_FMA(p, x, x);
  const float u = t > 4.0f ? 4.0f : t;
  float g = 1.04329359626e-5f;
  g = ALB_FMA(g, u, -0.000314856427157f);
  g = ALB_FMA(g, u, 0.00361033551055f);
  g = ALB_FMA(g, u, -0.0236945532034f);
  g = ALB_FMA(g, u, 0.106159035286f);
  g = ALB_FMA(g, u, 0.635198042111f);
  g = ALB_FMA(g, u, 0.12863707336f);
  const float far = 1.0f - alb_exp_f32(-ALB_FMA(g, u, u));
  return t < 0.9f ? near : copysignf(far, x);
}

// alb_tanh_f32: tanh(x), 1.5 ulp: x + x^3 p(x^2) near 0, 1 - 2 / (e^2|x| + 1) beyond.
ALB_INLINE float alb_tanh_f32(float x) {
  const float t = fabsf(x), s = x * x;
  float p = -0.00570498695913f;
  p = ALB_FMA(p, s, 0.0206390871791f);
  p = ALB_FMA(p, s, -0.0537397150508f);
  p = ALB_FMA(p, s, 0.133314421975f);
  p = ALB_FMA(p, s, -0.33333281942f);
  const float near = ALB_FMA(p * s, x, x);
  const float far = 1.0f - 2.0f / (alb_exp_f32(t + t) + 1.0f);
  return copysignf(t < 0.625f ? near : far, x);
}

// alb_turns, alb_turns_low: 2^e modulo 2 pi as a sum of two doubles, e from 0 to 88.
static const double alb_turns[89] __attribute__((unused)) = {
  0x1.0000000000000p+0, 0x1.0000000000000p+1, 0x1.0000000000000p+2, 0x1.b7812aeef4b9fp+0,
  0x1.b7812aeef4b9fp+1, 0x1.2b0bad558f435p-1, 0x1.2b0bad558f435p+0, 0x1.2b0bad558f435p+1,
  0x1.2b0bad558f435p+2, 0x1.87ef4acdb76a3p+1, 0x1.87ef4acdb76a3p+2, 0x1.7dbee0572c02ep+2,
  0x1.695e0b6a15344p+2, 0x1.409c618fe7971p+2, 0x1.de321bb718b92p+1, 0x1.304999cb579e8p+0,
  0x1.304999cb579e8p+1, 0x1.304999cb579e8p+2, 0x1.9ce6fca4d8d6ep+1, 0x1.58e8ec12c0aa8p-3,
  0x1.58e8ec12c0aa8p-2, 0x1.58e8ec12c0aa8p-1, 0x1.58e8ec12c0aa8p+0, 0x1.58e8ec12c0aa8p+1,
  0x1.58e8ec12c0aa8p+2, 0x1.1fb222e13e839p+2, 0x1.5a8920fc746b2p+1, 0x1.5a8920fc746b2p+2,
  0x1.22f28cb4a604bp+2, 0x1.678ac84a126fap+1, 0x1.678ac84a126fap+2, 0x1.3cf5db4fe20ddp+2,
  0x1.cf9802b702942p+1, 0x1.ebc26b95fe14fp-1, 0x1.ebc26b95fe14fp+0, 0x1.ebc26b95fe14fp+1,
  0x1.668ad946ed0dap+0, 0x1.668ad946ed0dap+1, 0x1.668ad946ed0dap+2, 0x1.3af5fd499749bp+2,
  0x1.c7988a9dd783bp+1, 0x1.abc6aacca5912p-1, 0x1.abc6aacca5912p+0, 0x1.abc6aacca5912p+1,
  0x1.9a6f58862bf99p-2, 0x1.9a6f58862bf99p-1, 0x1.9a6f58862bf99p+0, 0x1.9a6f58862bf99p+1,
  0x1.09f4683d25023p-3, 0x1.09f4683d25023p-2, 0x1.09f4683d25023p-1, 0x1.09f4683d25023p+0,
  0x1.09f4683d25023p+1, 0x1.09f4683d25023p+2, 0x1.0392366c0e65cp+1, 0x1.0392366c0e65cp+2,
  0x1.d412de4f67e7ep+0, 0x1.d412de4f67e7ep+1, 0x1.07cca42c94599p+0, 0x1.07cca42c94599p+1,
  0x1.07cca42c94599p+2, 0x1.f5e64c5397865p+0, 0x1.f5e64c5397865p+1, 0x1.8f1a5c3d52d34p+0,
  0x1.8f1a5c3d52d34p+1, 0x1.8f1a5c3d52d34p+2, 0x1.8c15033662d50p+2, 0x1.860a512882d88p+2,
  0x1.79f4ed0cc2df7p+2, 0x1.61ca24d542ed6p+2, 0x1.3174946643093p+2, 0x1.a192e7108681bp+1,
  0x1.ee6639887604dp-3, 0x1.ee6639887604dp-2, 0x1.ee6639887604dp-1, 0x1.ee6639887604dp+0,
  0x1.ee6639887604dp+1, 0x1.711a1110cccd4p+0, 0x1.711a1110cccd4p+1, 0x1.711a1110cccd4p+2,
  0x1.50146cdd56c8fp+2, 0x1.0e0924766ac06p+2, 0x1.13e52751255e7p+1, 0x1.13e52751255e7p+2,
  0x1.2b5532bc0fd6bp+1, 0x1.2b5532bc0fd6bp+2, 0x1.89156067b9b7bp+1, 0x1.89156067b9b7bp+2,
  0x1.800b0b8b309ddp+2,
};
static const double alb_turns_low[89] __attribute__((unused)) = {
  0x0.0p+0, 0x0.0p+0, 0x0.0p+0, -0x1.a62633145c06ep-56,
  -0x1.a62633145c06ep-55, -0x1.f5f7fb2e61132p-59, -0x1.f5f7fb2e61132p-58, -0x1.f5f7fb2e61132p-57,
  -0x1.f5f7fb2e61132p-56, 0x1.4dbd3ad1dc3a6p-53, 0x1.4dbd3ad1dc3a6p-52, 0x1.8118127272b44p-52,
  0x1.e7cdc1b39fa82p-52, -0x1.4ac6dfca06703p-52, 0x1.403f74eab57cfp-54, -0x1.e90aa2efac07ep-54,
  -0x1.e90aa2efac07ep-53, -0x1.e90aa2efac07ep-52, -0x1.d8ef52213ba05p-53, 0x1.95c955afd3e7bp-57,
  0x1.95c955afd3e7bp-56, 0x1.95c955afd3e7bp-55, 0x1.95c955afd3e7bp-54, 0x1.95c955afd3e7bp-53,
  0x1.95c955afd3e7bp-52, -0x1.eecfb7d19df11p-52, -0x1.f003a5a903450p-53, -0x1.f003a5a903450p-52,
  -0x1.f4d35d069894fp-53, 0x1.e1947f9043554p-53, 0x1.e1947f9043554p-52, -0x1.57396410bf160p-52,
  0x1.b956a569e09d0p-55, -0x1.6065ceb66cc97p-55, -0x1.6065ceb66cc97p-54, -0x1.6065ceb66cc97p-53,
  -0x1.eb20c79eca277p-54, -0x1.eb20c79eca277p-53, -0x1.eb20c79eca277p-52, -0x1.e147e4ddb41ebp-53,
  -0x1.f754901df3be4p-53, -0x1.1b6f34f397eb5p-56, -0x1.1b6f34f397eb5p-55, -0x1.1b6f34f397eb5p-54,
  0x1.7e60254ee49ebp-56, 0x1.7e60254ee49ebp-55, 0x1.7e60254ee49ebp-54, 0x1.7e60254ee49ebp-53,
  0x1.fee10ecf6f246p-59, 0x1.fee10ecf6f246p-58, 0x1.fee10ecf6f246p-57, 0x1.fee10ecf6f246p-56,
  0x1.fee10ecf6f246p-55, 0x1.fee10ecf6f246p-54, -0x1.af1dbc98e2e42p-56, -0x1.af1dbc98e2e42p-55,
  0x1.e758b6a2061a3p-54, 0x1.e758b6a2061a3p-53, -0x1.984d6479fd323p-55, -0x1.984d6479fd323p-54,
  -0x1.984d6479fd323p-53, 0x1.3540e152f4359p-54, 0x1.3540e152f4359p-53, 0x1.ade7e21ae7526p-56,
  0x1.ade7e21ae7526p-55, 0x1.ade7e21ae7526p-54, -0x1.0db9c88f485cfp-54, -0x1.a13f4778e9eefp-52,
  -0x1.7383c88c66790p-54, -0x1.d424477778fcfp-52, -0x1.8555e4406f74ap-53, -0x1.3f708ee36a6a2p-53,
  0x1.8b437ad3f55e0p-58, 0x1.8b437ad3f55e0p-57, 0x1.8b437ad3f55e0p-56, 0x1.8b437ad3f55e0p-55,
  0x1.8b437ad3f55e0p-54, -0x1.5302971d2c45bp-54, -0x1.5302971d2c45bp-53, -0x1.5302971d2c45bp-52,
  0x1.fcc374a30da1ap-55, -0x1.36630c1104b01p-53, -0x1.4315bd0929c20p-54, -0x1.4315bd0929c20p-53,
  -0x1.75e080e9be09ap-54, -0x1.75e080e9be09ap-53, -0x1.2085c83607941p-53, -0x1.2085c83607941p-52,
  0x1.492418c5562eep-53,
};

// alb_quadrant_f32: x modulo pi/2 in [-pi/4, pi/4] and the quadrant; exact argument reduction for every finite x.
ALB_INLINE double alb_quadrant_f32(float x, int64_t *quadrant) {
  const int32_t exponent = (alb_bits_f32(x) >> 23 & 255) - 127 - 39;
  const int32_t e = exponent > 0 ? (exponent > 88 ? 88 : exponent) : 0;
  const double y = (double)(exponent > 0 ? x * alb_float_i32((127 - e) << 23) : x);
  const double p = y * alb_turns[e];
  const double rest = ALB_FMAD(y, alb_turns[e], -p) + y * alb_turns_low[e];
  const double shifted = ALB_FMAD(p, 0x1.45f306dc9c883p-1, 0x1.8p+52);
  const double n = shifted - 0x1.8p+52;
  *quadrant = alb_bits_f64(shifted);
  return ALB_FMAD(n, -0x1.921fb54442d18p+0, p) + ALB_FMAD(n, -0x1.1a62633145c07p-54, rest);
}

// alb_sin_small: sin(r) for r in [-pi/4, pi/4].
ALB_INLINE double alb_sin_small(double r) {
  const double s = r * r;
  double p = 2.7182372372772108e-6;
  p = ALB_FMAD(p, s, -0.00019839327136614423);
  p = ALB_FMAD(p, s, 0.0083333293622805835);
  p = ALB_FMAD(p, s, -0.16666666641426522);
  return ALB_FMAD(p * s, r, r);
}

// alb_cos_small: cos(r) for r in [-pi/4, pi/4].
ALB_INLINE double alb_cos_small(double r) {
  const double s = r * r;
  double p = -2.7209547921793185e-7;
  p = ALB_FMAD(p, s, 2.4799511765956966e-5);
  p = ALB_FMAD(p, s, -0.0013888883722631572);
  p = ALB_FMAD(p, s, 0.041666666622477133);
  return ALB_FMAD(p * s, s, ALB_FMAD(s, -0.5, 1.0));
}

// alb_circle: sin and cos of the quadrant's angle: quadrant 0 sin, 1 cos, 2 -sin, 3 -cos.
ALB_INLINE double alb_circle(double r, int64_t quadrant) {
  const double value = quadrant & 1 ? alb_cos_small(r) : alb_sin_small(r);
  return quadrant & 2 ? -value : value;
}

// alb_sin_f32: sin(x), 0.6 ulp.
ALB_INLINE float alb_sin_f32(float x) {
  int64_t quadrant;
  const double r = alb_quadrant_f32(x, &quadrant);
  const float value = (float)alb_circle(r, quadrant);
  return x == 0.0f ? x : (fabsf(x) < INFINITY ? value : NAN);
}

// alb_cos_f32: cos(x), 0.6 ulp.
ALB_INLINE float alb_cos_f32(float x) {
  int64_t quadrant;
  const double r = alb_quadrant_f32(x, &quadrant);
  return fabsf(x) < INFINITY ? (float)alb_circle(r, quadrant + 1) : NAN;
}

// alb_tan_f32: tan(x), 0.6 ulp.
ALB_INLINE float alb_tan_f32(float x) {
  int64_t quadrant;
  const double r = alb_quadrant_f32(x, &quadrant);
  const float value = (float)(alb_circle(r, quadrant) / alb_circle(r, quadrant + 1));
  return x == 0.0f ? x : (fabsf(x) < INFINITY ? value : NAN);
}

// alb_exp2_wide: 2^x in double precision with a relative error of 2^-50, for x in [-1000, 1000].
ALB_INLINE double alb_exp2_wide(double x) {
  const double shifted = x + 0x1.8p+52;
  const double r = x - (shifted - 0x1.8p+52);
  double q = 7.0381818963751150576e-9;
  q = ALB_FMAD(q, r, 1.020832425655233885e-7);
  q = ALB_FMAD(q, r, 1.3215653590821383968e-6);
  q = ALB_FMAD(q, r, 0.000015252659421476043468);
  q = ALB_FMAD(q, r, 0.0001540352999423379132);
  q = ALB_FMAD(q, r, 0.0013333558225810274818);
  q = ALB_FMAD(q, r, 0.0096181291079831629124);
  q = ALB_FMAD(q, r, 0.055504108664481762385);
  q = ALB_FMAD(q, r, 0.24022650695909101482);
  q = ALB_FMAD(q, r, 0.69314718055994917636);
  return ALB_FMAD(q, r, 1.0) * alb_float_i64((alb_bits_f64(shifted) + 1023) << 52);
}

// alb_log_wide: log(x) in double precision with a relative error of 2^-50, for positive finite normal x.
ALB_INLINE double alb_log_wide(double x) {
  const int64_t i = alb_bits_f64(x);
  const int64_t k = (i - 0x3fe6a09e667f3bcd) >> 52;
  const double m = alb_float_i64(i - (int64_t)((uint64_t)k << 52));
  const double z = (m - 1.0) / (m + 1.0), s = z * z;
  double p = 0.073987539436703078214;
  p = ALB_FMAD(p, s, 0.076569516128100732639);
  p = ALB_FMAD(p, s, 0.090917848703947175367);
  p = ALB_FMAD(p, s, 0.11111099237981664689);
  p = ALB_FMAD(p, s, 0.14285714371631478044);
  p = ALB_FMAD(p, s, 0.19999999999705545383);
  p = ALB_FMAD(p, s, 0.33333333333333674479);
  return ALB_FMAD((double)k, 0.693147180559945309417, 2.0 * ALB_FMAD(p * s, z, z));
}

// alb_expm1_f32: e^x - 1, 0.6 ulp.
ALB_INLINE float alb_expm1_f32(float x) {
  const double y = x > 89.0f ? 89.0 : (x < -104.0f ? -104.0 : (double)x);
  const double value = alb_exp2_wide(y * 1.44269504088896340736) - 1.0;
  return fabsf(x) < 0x1p-20f ? ALB_FMA(0.5f * x, x, x) : (float)value;
}

// alb_log1p_f32: log(1 + x), 0.6 ulp.
ALB_INLINE float alb_log1p_f32(float x) {
  const double u = 1.0 + (double)x;
  const double safe = (u > 0.0) & (u < INFINITY) ? u : 1.0;
  const float value = (float)(alb_log_wide(safe) + ((double)x - (safe - 1.0)) / safe);
  const float special = u < 0.0 ? NAN : (u == 0.0 ? -INFINITY : x);
  return fabsf(x) < 0x1p-26f ? x : (((u > 0.0) & (u < INFINITY)) ? value : special);
}

// alb_pow_f32: x^y with C's special cases, 0.6 ulp.
ALB_INLINE float alb_pow_f32(float x, float y) {
  const double a = fabs((double)x);
  const double safe = (a > 0.0) & (a < INFINITY) ? a : 1.0;
  const double infinite = a == 0.0 ? -INFINITY : (a == INFINITY ? INFINITY : a);
  const double l = (a > 0.0) & (a < INFINITY) ? alb_log_wide(safe) * 1.44269504088896340736 : infinite;
  double z = (double)y * l;
  z = z > 400.0 ? 400.0 : z;
  z = z < -400.0 ? -400.0 : z;
  const float size = (float)alb_exp2_wide(z);
  const float half = 0.5f * y;
  const bool whole = rintf(y) == y, odd = whole & (rintf(half) != half);
  const bool negative = alb_bits_f32(x) < 0;
  float value = negative & odd ? -size : size;
  value = (x < 0.0f) & !whole & (x > -INFINITY) & (fabsf(y) < INFINITY) ? NAN : value;
  value = (x == -1.0f) & (fabsf(y) == INFINITY) ? 1.0f : value;
  return (y == 0.0f) | (x == 1.0f) ? 1.0f : value;
}

// alb_sinh_f32: sinh(x), 0.6 ulp.
ALB_INLINE float alb_sinh_f32(float x) {
  const double y = (x > 200.0f ? 200.0 : (x < -200.0f ? -200.0 : (double)x)) * 1.44269504088896340736;
  const float value = (float)(0.5 * (alb_exp2_wide(y) - alb_exp2_wide(-y)));
  return fabsf(x) < 0x1p-12f ? ALB_FMA(x * x * 0.16666667f, x, x) : value;
}

// alb_cosh_f32: cosh(x), 0.6 ulp.
ALB_INLINE float alb_cosh_f32(float x) {
  const double y = (x > 200.0f ? 200.0 : (x < -200.0f ? -200.0 : (double)x)) * 1.44269504088896340736;
  return (float)(0.5 * (alb_exp2_wide(y) + alb_exp2_wide(-y)));
}

// alb_maximum_f32, alb_minimum_f32, alb_maximum_f64, alb_minimum_f64: NaN if either side is NaN; of equal numbers b.
ALB_INLINE float alb_maximum_f32(float a, float b) { return (a > b) | (a != a) ? a : b; }
ALB_INLINE float alb_minimum_f32(float a, float b) { return (a < b) | (a != a) ? a : b; }
ALB_INLINE double alb_maximum_f64(double a, double b) { return (a > b) | (a != a) ? a : b; }
ALB_INLINE double alb_minimum_f64(double a, double b) { return (a < b) | (a != a) ? a : b; }

// alb_floordiv, alb_ceildiv: integer division rounded down and up; by zero it gives 0.
ALB_INLINE int64_t alb_floordiv(int64_t a, int64_t b) {
  if (b == 0) return 0;
  if (b == -1) return (int64_t)(0 - (uint64_t)a);
  const int64_t quotient = a / b;
  return quotient - ((a % b != 0) & ((a < 0) != (b < 0)));
}
ALB_INLINE int64_t alb_ceildiv(int64_t a, int64_t b) {
  return b == 0 ? 0 : a / b + ((a % b != 0) & ((a < 0) == (b < 0)));
}

// alb_lgamma_f32, alb_lgamma_f64: the functions of libm without its global sign, which threads would share.
ALB_INLINE float alb_lgamma_f32(float x) { int sign; return lgammaf_r(x, &sign); }
ALB_INLINE double alb_lgamma_f64(double x) { int sign; return lgamma_r(x, &sign); }

// alb_gcd: Euclid's greatest common divisor of the magnitudes.
ALB_INLINE int64_t alb_gcd(int64_t a, int64_t b) {
  uint64_t x = a < 0 ? 0 - (uint64_t)a : (uint64_t)a, y = b < 0 ? 0 - (uint64_t)b : (uint64_t)b;
  while (y != 0) { const uint64_t rest = x % y; x = y; y = rest; }
  return (int64_t)x;
}

// alb_pow_i64: a^b, which wraps; for b < 0 the whole part of 1 / a^-b, 0 for a = 0.
ALB_INLINE int64_t alb_pow_i64(int64_t a, int64_t b) {
  if (b < 0) return a == 1 ? 1 : a == -1 ? (b & 1 ? -1 : 1) : 0;
  uint64_t power = 1, factor = (uint64_t)a;
  for (; b; b >>= 1, factor *= factor)
    if (b & 1) power *= factor;
  return (int64_t)power;
}

// alb_hermite_f32, alb_hermite_f64, alb_hermite_e_f32, alb_hermite_e_f64, alb_laguerre_f32, alb_laguerre_f64, alb_legendre_f32, alb_legendre_f64: orthogonal polynomials of degree trunc(n) by their recurrences.
#define ALB_POLYNOMIAL(name, T, first, step, limited) \
  ALB_INLINE T name(T x, T n) { \
    if (!((n > -1) & (n < 0x1p63))) return 0; \
    const int64_t degree = (int64_t)n; \
    if (limited && degree > (sizeof(T) == 4 ? 128 : 512)) return (T)NAN; \
    if (degree == 0) return 1; \
    T p = 1, q = first; \
    for (int64_t k = 1; k < degree && q == q; ++k) { const T r = step; p = q; q = r; } \
    return q; \
  }
ALB_POLYNOMIAL(alb_hermite_f32, float, x + x, ALB_FMA(x + x, q, -((float)(2 * k) * p)), 1)
ALB_POLYNOMIAL(alb_hermite_f64, double, x + x, ALB_FMAD(x + x, q, -((double)(2 * k) * p)), 1)
ALB_POLYNOMIAL(alb_hermite_e_f32, float, x, ALB_FMA(x, q, -((float)k * p)), 1)
ALB_POLYNOMIAL(alb_hermite_e_f64, double, x, ALB_FMAD(x, q, -((double)k * p)), 1)
ALB_POLYNOMIAL(alb_laguerre_f32, float, 1 - x, ALB_FMA((float)(2 * k) + (1 - x), q, -((float)k * p)) / (float)(k + 1), 0)
ALB_POLYNOMIAL(alb_laguerre_f64, double, 1 - x, ALB_FMAD((double)(2 * k) + (1 - x), q, -((double)k * p)) / (double)(k + 1), 0)
ALB_POLYNOMIAL(alb_legendre_f32, float, x, ALB_FMA((float)(2 * k + 1) * x, q, -((float)k * p)) / (float)(k + 1), 0)
ALB_POLYNOMIAL(alb_legendre_f64, double, x, ALB_FMAD((double)(2 * k + 1) * x, q, -((double)k * p)) / (double)(k + 1), 0)

// alb_div_i64, alb_rem_i64: C's integer division with a value where C has none: by zero 0, by -1 it wraps.
ALB_INLINE int64_t alb_div_i64(int64_t a, int64_t b) {
  return b == 0 ? 0 : (b == -1 ? (int64_t)(0 - (uint64_t)a) : a / b);
}
ALB_INLINE int64_t alb_rem_i64(int64_t a, int64_t b) { return (b == 0) | (b == -1) ? 0 : a % b; }

// alb_div_u64, alb_rem_u64: unsigned division; by zero it gives 0.
ALB_INLINE uint64_t alb_div_u64(uint64_t a, uint64_t b) { return b == 0 ? 0 : a / b; }
ALB_INLINE uint64_t alb_rem_u64(uint64_t a, uint64_t b) { return b == 0 ? 0 : a % b; }

// alb_max_i64: the larger of two integers.
ALB_INLINE int64_t alb_max_i64(int64_t a, int64_t b) { return a > b ? a : b; }
