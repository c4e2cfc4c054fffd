// CUDA C++ on the CPU: the spelling of the language (launch with the wrapper that shim_source.py writes). NVIDIA's headers, where
// the text includes them, come before this file: their half, bfloat16 and fp8 types are host code too.
#pragma once
#define ALBUMEN_SHIM 1
#include <cassert>
#include <cmath>
#include <cstdio>
#include <type_traits>

#include "launch.h"

#undef __global__
#undef __device__
#undef __host__
#undef __shared__
#undef __constant__
#undef __launch_bounds__
#undef __forceinline__
#undef __noinline__
#undef __align__
#undef __grid_constant__
#undef __cluster_dims__
#undef __managed__
#undef __maxnreg__
#define __global__
#define __device__
#define __host__
#define __shared__ static __attribute__((section("albumen_shared")))
#define __constant__ static
#define __managed__ static
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#define __maxnreg__(...)
#define __grid_constant__
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __align__(n) __attribute__((aligned(n)))
#define alignas(n) __attribute__((aligned(n)))  // may stand in the middle of a declaration, as NVRTC allows

#include "cuda_vectors.h"
#include "cuda_math.h"

#define threadIdx (albumen_shim::machine.current->index)
#define blockIdx (albumen_shim::machine.block)
#define blockDim (albumen_shim::machine.block_size)
#define gridDim (albumen_shim::machine.grid_size)
#define warpSize 32

// The line of the call is the default argument: a divergence is reported with the places where threads wait.
#define ALBUMEN_LINE int line = __builtin_LINE()

static inline void __syncthreads(ALBUMEN_LINE) { albumen_shim::block_barrier(false, "__syncthreads", line); }
static inline int __syncthreads_count(int predicate, ALBUMEN_LINE) {
  return static_cast<int>(albumen_shim::block_barrier(predicate != 0, "__syncthreads_count", line));
}
static inline int __syncthreads_or(int predicate, ALBUMEN_LINE) {
  return albumen_shim::block_barrier(predicate != 0, "__syncthreads_or", line) != 0;
}
static inline int __syncthreads_and(int predicate, ALBUMEN_LINE) {
  return albumen_shim::block_barrier(predicate == 0, "__syncthreads_and", line) == 0;
}
static inline void __syncwarp(unsigned mask = ~0u, ALBUMEN_LINE) { albumen_shim::warp_barrier(mask, "__syncwarp", line); }

static inline void albumen_check_width(int width, const char *name, int line) {
  if (width < 1 || width > 32 || (width & (width - 1)))
    albumen_shim::fail(albumen_shim::TRAP, line, "%s: the width %d is not a power of two up to 32", name, width);
}
template <class T> static T __shfl_sync(unsigned mask, T value, int source, int width = 32, ALBUMEN_LINE) {
  albumen_check_width(width, "__shfl_sync", line);
  const unsigned group = albumen_shim::lane() & ~(width - 1u);
  return albumen_shim::exchange(mask, value, group | (source & (width - 1)), "__shfl_sync", line);
}
template <class T> static T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32, ALBUMEN_LINE) {
  albumen_check_width(width, "__shfl_up_sync", line);
  const unsigned lane = albumen_shim::lane();
  return albumen_shim::exchange(mask, value, (lane & (width - 1u)) >= delta ? lane - delta : lane, "__shfl_up_sync", line);
}
template <class T> static T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32, ALBUMEN_LINE) {
  albumen_check_width(width, "__shfl_down_sync", line);
  const unsigned lane = albumen_shim::lane();
  return albumen_shim::exchange(mask, value, (lane & (width - 1u)) + delta < static_cast<unsigned>(width) ? lane + delta : lane,
                                "__shfl_down_sync", line);
}
template <class T> static T __shfl_xor_sync(unsigned mask, T value, int lanes, int width = 32, ALBUMEN_LINE) {
  albumen_check_width(width, "__shfl_xor_sync", line);
  const unsigned lane = albumen_shim::lane(), target = lane ^ lanes, last = lane | (width - 1u);
  return albumen_shim::exchange(mask, value, target <= last ? target : lane, "__shfl_xor_sync", line);
}

static inline unsigned __ballot_sync(unsigned mask, int predicate, ALBUMEN_LINE) {
  return albumen_shim::ballot(mask, predicate != 0, "__ballot_sync", line).result;
}
static inline int __any_sync(unsigned mask, int predicate, ALBUMEN_LINE) {
  return albumen_shim::ballot(mask, predicate != 0, "__any_sync", line).result != 0;
}
static inline int __all_sync(unsigned mask, int predicate, ALBUMEN_LINE) {
  return albumen_shim::ballot(mask, predicate == 0, "__all_sync", line).result == 0;
}
static inline unsigned __activemask() { return albumen_shim::machine.warps[albumen_shim::machine.current->linear / 32].live; }
template <class T> static unsigned __match_any_sync(unsigned mask, T value, ALBUMEN_LINE) {
  unsigned result = 0;
  for (int i = 0; i < 32; ++i) {
    const T other = albumen_shim::exchange(mask, value, i, "__match_any_sync", line);
    if (mask >> i & __activemask() >> i & 1 && memcmp(&other, &value, sizeof value) == 0) result |= 1u << i;
  }
  return result;
}

struct AlbumenAdd { template <class T> T operator()(T a, T b) const { return a + b; } };
struct AlbumenMin { template <class T> T operator()(T a, T b) const { return b < a ? b : a; } };
struct AlbumenMax { template <class T> T operator()(T a, T b) const { return a < b ? b : a; } };
struct AlbumenAnd { template <class T> T operator()(T a, T b) const { return a & b; } };
struct AlbumenOr { template <class T> T operator()(T a, T b) const { return a | b; } };
struct AlbumenXor { template <class T> T operator()(T a, T b) const { return a ^ b; } };
#define ALBUMEN_REDUCE(name, Combine)                                            \
  template <class T> static T name(unsigned mask, T value, ALBUMEN_LINE) {       \
    static_assert(std::is_integral<T>::value && sizeof(T) == 4, "32-bit integers only"); \
    return albumen_shim::reduce<Combine>(mask, value, #name, line);              \
  }
ALBUMEN_REDUCE(__reduce_add_sync, AlbumenAdd)
ALBUMEN_REDUCE(__reduce_min_sync, AlbumenMin)
ALBUMEN_REDUCE(__reduce_max_sync, AlbumenMax)
ALBUMEN_REDUCE(__reduce_and_sync, AlbumenAnd)
ALBUMEN_REDUCE(__reduce_or_sync, AlbumenOr)
ALBUMEN_REDUCE(__reduce_xor_sync, AlbumenXor)
#undef ALBUMEN_REDUCE

// Threads switch only where they wait, so a plain update is atomic. T of the pointer decides, as in CUDA's overloads.
template <class T> using AlbumenSame = typename std::common_type<T>::type;
#define ALBUMEN_ATOMIC(name, expression)                                  \
  template <class T> static T name(T *address, AlbumenSame<T> value) {    \
    const T old = *address;                                               \
    *address = static_cast<T>(expression);                                \
    return old;                                                           \
  }
ALBUMEN_ATOMIC(atomicAdd, old + value)
ALBUMEN_ATOMIC(atomicSub, old - value)
ALBUMEN_ATOMIC(atomicExch, value)
ALBUMEN_ATOMIC(atomicMin, value < old ? value : old)
ALBUMEN_ATOMIC(atomicMax, old < value ? value : old)
ALBUMEN_ATOMIC(atomicAnd, old & value)
ALBUMEN_ATOMIC(atomicOr, old | value)
ALBUMEN_ATOMIC(atomicXor, old ^ value)
ALBUMEN_ATOMIC(atomicInc, old >= value ? 0 : old + 1)
ALBUMEN_ATOMIC(atomicDec, old == 0 || old > value ? value : old - 1)
#undef ALBUMEN_ATOMIC
template <class T> static T atomicCAS(T *address, AlbumenSame<T> compare, AlbumenSame<T> value) {
  const T old = *address;
  if (memcmp(&old, &compare, sizeof old) == 0) *address = value;
  return old;
}

static inline void __threadfence() {}
static inline void __threadfence_block() {}
static inline void __threadfence_system() {}
static inline void __nanosleep(unsigned) {}
static inline void __trap(ALBUMEN_LINE) { albumen_shim::fail(albumen_shim::TRAP, line, "__trap was called"); }
static inline long long clock64() { return 0; }

template <class T> static T __ldg(const T *pointer) { return *pointer; }
template <class T> static T __ldcs(const T *pointer) { return *pointer; }
template <class T> static T __ldcg(const T *pointer) { return *pointer; }
template <class T> static T __ldca(const T *pointer) { return *pointer; }
template <class T> static T __ldcv(const T *pointer) { return *pointer; }
template <class T> static void __stcs(T *pointer, AlbumenSame<T> value) { *pointer = value; }
template <class T> static void __stcg(T *pointer, AlbumenSame<T> value) { *pointer = value; }
template <class T> static void __stwt(T *pointer, AlbumenSame<T> value) { *pointer = value; }
