// One parameter of every scalar kind, and built-in functions that C lacks.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
extern "C" __global__ void scalars(double* out, signed char a, unsigned char b, short c, unsigned short d, int e, unsigned f,
                                   long long g, unsigned long long h, __half i, __nv_bfloat16 j, float k, double l) {
  const double all[] = {double(a), double(b), double(c), double(d), double(e), double(f), double(g), double(h),
                        double(__half2float(i)), double(__bfloat162float(j)), double(k), l};
  for (int n = 0; n < 12; ++n) out[n] = all[n];
}
extern "C" __global__ void math(const float* x, float* y) {
  y[0] = rsqrtf(x[0]); y[1] = __fdividef(x[0], x[1]); y[2] = max(x[0], x[2]); y[3] = fminf(x[2], x[1]);
  y[4] = __int_as_float(__float_as_int(x[0])); y[5] = float(__popc(0xff0u)); y[6] = float(__clz(1)); y[7] = erff(x[0]);
  y[8] = float(min(3, 2u)); y[9] = float(__float2int_rn(2.5f)); y[10] = float(__float2int_rz(-1e20f) == -2147483647 - 1);
  const float4 v = make_float4(1.0f, 2.0f, 3.0f, 4.0f);
  y[11] = v.x + v.y * v.z + v.w; y[12] = float(__umulhi(1u << 31, 6u)); y[13] = __fmaf_rn(x[0], x[1], 1.0f);
}
