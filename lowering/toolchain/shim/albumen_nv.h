// Device functions behind the `nv` dialect and the memory hints of `simt`. Emitted CUDA text that uses them begins with this
// text, so what NVRTC gets is self-contained. Under the CPU shim the same functions have the bodies of albumen_nv_cpu.h.
//
// Fragments (g = lane / 4, t = lane % 4), as in the PTX manual:
//   m16n8k16, 16-bit: a[i] holds A[g + 8 * (i % 2)][2t + 8 * (i / 2) + {0, 1}], b[i] holds B[2t + 8i + {0, 1}][g]
//   m16n8k8, tf32:    a[i] = A[g + 8 * (i % 2)][t + 4 * (i / 2)],                b[i] = B[t + 4i][g]
//   d (both):         d[i] = D[g + 8 * (i / 2)][2t + i % 2]
#ifdef ALBUMEN_SHIM
#include "albumen_nv_cpu.h"
#else
#define ALB_DEVICE static __device__ __forceinline__

// The 32-bit address of a pointer into shared memory.
ALB_DEVICE unsigned alb_shared_address(const void *pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

// d += A B on the tensor cores, one warp: d float[4], a unsigned[4], b unsigned[2].
ALB_DEVICE void alb_mma_m16n8k16_bf16(float *d, const unsigned *a, const unsigned *b) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
ALB_DEVICE void alb_mma_m16n8k16_f16(float *d, const unsigned *a, const unsigned *b) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
// The operands are bits of f32 whose low 13 bits the unit ignores; alb_tf32 rounds to nearest, ties away from zero.
ALB_DEVICE void alb_mma_m16n8k8_tf32(float *d, const unsigned *a, const unsigned *b) {
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
ALB_DEVICE unsigned alb_tf32(float value) {
  unsigned bits;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(value));
  return bits;
}

// Loads 8x8 matrices of 16-bit elements from shared memory: lane 8i + j gives the address of row j of matrix i (16 bytes,
// 16-byte aligned); r[i] of a lane holds row g, columns 2t and 2t + 1 of matrix i, or of its transpose.
template <bool Transposed> ALB_DEVICE void alb_ldmatrix_x1(unsigned *r, const void *row) {
  if constexpr (Transposed)
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%0}, [%1];" : "=r"(r[0]) : "r"(alb_shared_address(row)));
  else
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(r[0]) : "r"(alb_shared_address(row)));
}
template <bool Transposed> ALB_DEVICE void alb_ldmatrix_x2(unsigned *r, const void *row) {
  if constexpr (Transposed)
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];"
                 : "=r"(r[0]), "=r"(r[1]) : "r"(alb_shared_address(row)));
  else
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0,%1}, [%2];"
                 : "=r"(r[0]), "=r"(r[1]) : "r"(alb_shared_address(row)));
}
template <bool Transposed> ALB_DEVICE void alb_ldmatrix_x4(unsigned *r, const void *row) {
  if constexpr (Transposed)
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(alb_shared_address(row)));
  else
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(alb_shared_address(row)));
}

// Copies from global to shared memory without registers. Of the 16, 8 or 4 bytes only the first `valid` are read, the rest
// of the destination becomes zero; with valid = 0 the source is not read. Both addresses are aligned to the size.
ALB_DEVICE void alb_cp_async16(void *shared, const void *global, int valid = 16) {
  asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;"
               :: "r"(alb_shared_address(shared)), "l"(global), "r"(valid) : "memory");
}
ALB_DEVICE void alb_cp_async8(void *shared, const void *global, int valid = 8) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;"
               :: "r"(alb_shared_address(shared)), "l"(global), "r"(valid) : "memory");
}
ALB_DEVICE void alb_cp_async4(void *shared, const void *global, int valid = 4) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;"
               :: "r"(alb_shared_address(shared)), "l"(global), "r"(valid) : "memory");
}
// Closes a group of this thread's copies; wait until all but the newest `Newest` groups have landed.
ALB_DEVICE void alb_cp_async_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int Newest> ALB_DEVICE void alb_cp_async_wait() { asm volatile("cp.async.wait_group %0;" :: "n"(Newest) : "memory"); }

// Programmatic dependent launch: wait for the memory of the preceding kernel; let the following kernel start.
ALB_DEVICE void alb_grid_wait() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
ALB_DEVICE void alb_grid_release() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

// Loads and stores of data that is used once (evicted first from the caches). A value is 1, 2, 4, 8, 16 bytes or a multiple of
// 16, aligned to its size or to 16 bytes. Volatile, so that a load does not move above alb_grid_wait.
template <class T> ALB_DEVICE T alb_load_stream(const T *pointer) {
  static_assert(sizeof(T) <= 8 ? (sizeof(T) & (sizeof(T) - 1)) == 0 : sizeof(T) % 16 == 0, "no streaming load of this size");
  T value;
  if constexpr (sizeof(T) == 1) {
    unsigned short byte;
    asm volatile("ld.global.cs.u8 %0, [%1];" : "=h"(byte) : "l"(pointer));
    reinterpret_cast<unsigned char &>(value) = static_cast<unsigned char>(byte);
  } else if constexpr (sizeof(T) == 2) {
    asm volatile("ld.global.cs.u16 %0, [%1];" : "=h"(reinterpret_cast<unsigned short &>(value)) : "l"(pointer));
  } else if constexpr (sizeof(T) == 4) {
    asm volatile("ld.global.cs.u32 %0, [%1];" : "=r"(reinterpret_cast<unsigned &>(value)) : "l"(pointer));
  } else if constexpr (sizeof(T) == 8) {
    asm volatile("ld.global.cs.u64 %0, [%1];" : "=l"(reinterpret_cast<unsigned long long &>(value)) : "l"(pointer));
  } else {
    uint4 *words = reinterpret_cast<uint4 *>(&value);
#pragma unroll
    for (unsigned i = 0; i < sizeof(T) / 16; ++i)
      asm volatile("ld.global.cs.v4.u32 {%0,%1,%2,%3}, [%4];"
                   : "=r"(words[i].x), "=r"(words[i].y), "=r"(words[i].z), "=r"(words[i].w)
                   : "l"(reinterpret_cast<const uint4 *>(pointer) + i));
  }
  return value;
}
template <class T> ALB_DEVICE void alb_store_stream(T *pointer, T value) {
  static_assert(sizeof(T) <= 8 ? (sizeof(T) & (sizeof(T) - 1)) == 0 : sizeof(T) % 16 == 0, "no streaming store of this size");
  if constexpr (sizeof(T) == 1) {
    const unsigned short byte = reinterpret_cast<unsigned char &>(value);
    asm volatile("st.global.cs.u8 [%0], %1;" :: "l"(pointer), "h"(byte) : "memory");
  } else if constexpr (sizeof(T) == 2) {
    asm volatile("st.global.cs.u16 [%0], %1;" :: "l"(pointer), "h"(reinterpret_cast<unsigned short &>(value)) : "memory");
  } else if constexpr (sizeof(T) == 4) {
    asm volatile("st.global.cs.u32 [%0], %1;" :: "l"(pointer), "r"(reinterpret_cast<unsigned &>(value)) : "memory");
  } else if constexpr (sizeof(T) == 8) {
    asm volatile("st.global.cs.u64 [%0], %1;" :: "l"(pointer), "l"(reinterpret_cast<unsigned long long &>(value)) : "memory");
  } else {
    const uint4 *words = reinterpret_cast<const uint4 *>(&value);
#pragma unroll
    for (unsigned i = 0; i < sizeof(T) / 16; ++i)
      asm volatile("st.global.cs.v4.u32 [%0], {%1,%2,%3,%4};"
                   :: "l"(reinterpret_cast<uint4 *>(pointer) + i), "r"(words[i].x), "r"(words[i].y), "r"(words[i].z),
                      "r"(words[i].w)
                   : "memory");
  }
}
#endif
