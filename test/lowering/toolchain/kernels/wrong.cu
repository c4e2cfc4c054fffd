// One mistake a kernel. The line numbers of the marked lines are part of the tests.
extern "C" __global__ void divergent_barrier(float* x) {
  if (threadIdx.x < 7) __syncthreads();  // line 3
  x[threadIdx.x] = __shfl_xor_sync(0xffffffffu, x[threadIdx.x], 1);  // line 4
}
extern "C" __global__ void two_barriers(float* x) {
  if (threadIdx.x < 32)
    __syncthreads();  // line 8
  else
    __syncthreads();  // line 10
  x[threadIdx.x] = 0.0f;
}
extern "C" __global__ void wrong_mask(int* x) { x[threadIdx.x] = __shfl_xor_sync(0x0000ffffu, 1, 1); }  // line 13
extern "C" __global__ void copy(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = i < n ? x[i] : 0.0f;
}
extern "C" __global__ void fixed_index(float* x, int i) {
  __shared__ float s[8];
  s[threadIdx.x & 7] = 1.0f;
  x[threadIdx.x] = s[i];  // line 21
}
extern "C" __global__ void dynamic_shared(float* x, int i) {
  extern __shared__ float s[];
  if (i < 0) x[threadIdx.x] = s[-i];
  else s[i] = 1.0f;
}
struct alignas(16) Four { float e[4]; };
extern "C" __global__ void vector_load(const Four* x, float* y) {
  const Four v = x[threadIdx.x];  // line 30
  y[threadIdx.x] = v.e[0] + v.e[1] + v.e[2] + v.e[3];
}
extern "C" __global__ void divide(int* x, int d) { x[0] = x[0] / d; }
extern "C" __global__ void trap(int* x) {
  if (x[0] == 1) __trap();  // line 35
  assert(x[0] == 0);
}
extern "C" __global__ void race(float* x) {
  __shared__ float s[64];
  const int t = threadIdx.x;
  s[t] = x[t];
  x[t] = s[63 - t];  // a barrier is missing before this line
}
