// The Metal Shading Language on the CPU: barriers, SIMD-group functions, atomics, 8x8 SIMD-group matrices. Attributes and the
// declarations of threadgroup variables are rewritten by shim_source.py; the address spaces mean nothing here.
#pragma once
#include <cmath>
#include <cstdint>

#include "launch.h"
#include "metal_math.h"
#include "metal_types.h"

#define ALBUMEN_LINE int line = __builtin_LINE()

namespace metal {

using ::bfloat;
using ::half;

enum class mem_flags { mem_none = 0, mem_device = 1, mem_threadgroup = 2, mem_texture = 4 };
static inline mem_flags operator|(mem_flags a, mem_flags b) { return static_cast<mem_flags>(static_cast<int>(a) | static_cast<int>(b)); }
static inline void threadgroup_barrier(mem_flags, ALBUMEN_LINE) { albumen_shim::block_barrier(false, "threadgroup_barrier", line); }
static inline void simdgroup_barrier(mem_flags, ALBUMEN_LINE) { albumen_shim::warp_barrier(~0u, "simdgroup_barrier", line); }

struct Add { template <class T> T operator()(T a, T b) const { return a + b; } };
struct Multiply { template <class T> T operator()(T a, T b) const { return a * b; } };
struct Minimum { template <class T> T operator()(T a, T b) const { return min(a, b); } };
struct Maximum { template <class T> T operator()(T a, T b) const { return max(a, b); } };
struct BitAnd { template <class T> T operator()(T a, T b) const { return a & b; } };
struct BitOr { template <class T> T operator()(T a, T b) const { return a | b; } };
struct BitXor { template <class T> T operator()(T a, T b) const { return a ^ b; } };
#define ALBUMEN_REDUCE(name, Combine) \
  template <class T> T name(T value, ALBUMEN_LINE) { return albumen_shim::reduce<Combine>(~0u, value, #name, line); }
ALBUMEN_REDUCE(simd_sum, Add)
ALBUMEN_REDUCE(simd_product, Multiply)
ALBUMEN_REDUCE(simd_min, Minimum)
ALBUMEN_REDUCE(simd_max, Maximum)
ALBUMEN_REDUCE(simd_and, BitAnd)
ALBUMEN_REDUCE(simd_or, BitOr)
ALBUMEN_REDUCE(simd_xor, BitXor)
#undef ALBUMEN_REDUCE

template <class T> T simd_shuffle(T value, ushort lane, ALBUMEN_LINE) {
  return albumen_shim::exchange(~0u, value, lane, "simd_shuffle", line);
}
template <class T> T simd_shuffle_xor(T value, ushort mask, ALBUMEN_LINE) {
  return albumen_shim::exchange(~0u, value, albumen_shim::lane() ^ mask, "simd_shuffle_xor", line);
}
// Lanes past the edge keep their own value.
template <class T> T simd_shuffle_up(T value, ushort delta, ALBUMEN_LINE) {
  const unsigned lane = albumen_shim::lane();
  return albumen_shim::exchange(~0u, value, lane >= delta ? lane - delta : lane, "simd_shuffle_up", line);
}
template <class T> T simd_shuffle_down(T value, ushort delta, ALBUMEN_LINE) {
  const unsigned lane = albumen_shim::lane();
  return albumen_shim::exchange(~0u, value, lane + delta < albumen_shim::WARP ? lane + delta : lane, "simd_shuffle_down", line);
}
template <class T> T simd_broadcast(T value, ushort lane, ALBUMEN_LINE) {
  return albumen_shim::exchange(~0u, value, lane, "simd_broadcast", line);
}
template <class T> T simd_broadcast_first(T value, ALBUMEN_LINE) {
  const unsigned live = albumen_shim::machine.warps[albumen_shim::machine.current->linear / albumen_shim::WARP].live;
  return albumen_shim::exchange(~0u, value, __builtin_ctz(live), "simd_broadcast_first", line);
}
static inline bool simd_all(bool predicate, ALBUMEN_LINE) { return !albumen_shim::ballot(~0u, !predicate, "simd_all", line).result; }
static inline bool simd_any(bool predicate, ALBUMEN_LINE) { return albumen_shim::ballot(~0u, predicate, "simd_any", line).result; }
static inline bool simd_is_first() {
  const unsigned live = albumen_shim::machine.warps[albumen_shim::machine.current->linear / albumen_shim::WARP].live;
  return albumen_shim::lane() == static_cast<unsigned>(__builtin_ctz(live));
}
template <class T> T simd_prefix_inclusive_sum(T value, ALBUMEN_LINE) {
  for (unsigned step = 1; step < albumen_shim::WARP; step *= 2) {
    const unsigned lane = albumen_shim::lane();
    const T other = albumen_shim::exchange(~0u, value, lane >= step ? lane - step : lane, "simd_prefix_inclusive_sum", line);
    if (lane >= step) value += other;
  }
  return value;
}
template <class T> T simd_prefix_exclusive_sum(T value, ALBUMEN_LINE) {
  const T sum = simd_prefix_inclusive_sum(value, line);
  const T before = albumen_shim::exchange(~0u, sum, albumen_shim::lane() - 1, "simd_prefix_exclusive_sum", line);
  return albumen_shim::lane() ? before : T(0);
}

// Threads switch only where they wait, so a plain update is atomic.
enum memory_order { memory_order_relaxed };
template <class T> struct atomic { T value; };
using atomic_int = atomic<int>;
using atomic_uint = atomic<uint>;
using atomic_float = atomic<float>;
template <class T> using Same = typename std::common_type<T>::type;
template <class T> T atomic_load_explicit(const atomic<T> *object, memory_order) { return object->value; }
template <class T> void atomic_store_explicit(atomic<T> *object, Same<T> value, memory_order) { object->value = value; }
#define ALBUMEN_ATOMIC(name, expression)                                     \
  template <class T> T name(atomic<T> *object, Same<T> value, memory_order) { \
    const T old = object->value;                                             \
    object->value = static_cast<T>(expression);                              \
    return old;                                                              \
  }
ALBUMEN_ATOMIC(atomic_exchange_explicit, value)
ALBUMEN_ATOMIC(atomic_fetch_add_explicit, old + value)
ALBUMEN_ATOMIC(atomic_fetch_sub_explicit, old - value)
ALBUMEN_ATOMIC(atomic_fetch_min_explicit, min(old, value))
ALBUMEN_ATOMIC(atomic_fetch_max_explicit, max(old, value))
ALBUMEN_ATOMIC(atomic_fetch_and_explicit, old & value)
ALBUMEN_ATOMIC(atomic_fetch_or_explicit, old | value)
ALBUMEN_ATOMIC(atomic_fetch_xor_explicit, old ^ value)
#undef ALBUMEN_ATOMIC
template <class T>
bool atomic_compare_exchange_weak_explicit(atomic<T> *object, T *expected, Same<T> desired, memory_order, memory_order) {
  const bool same = memcmp(&object->value, expected, sizeof(T)) == 0;
  if (same) object->value = desired;
  else *expected = object->value;
  return same;
}

}  // namespace metal

#include "metal_matrix.h"

#ifndef INFINITY
#define INFINITY __builtin_inff()
#endif
#ifndef NAN
#define NAN __builtin_nanf("")
#endif
#define alignas(n) __attribute__((aligned(n)))  // may stand in the middle of a declaration
#define kernel extern "C"
#define device
#define constant
#define threadgroup
#define thread
#define ALBUMEN_SHIM 1
