// The functions of albumen_nv.h on the CPU: the documented fragment layouts, computed for the whole warp by its last lane.
#pragma once
#include <cstdint>
#include <cstring>

namespace albumen_shim {

// These instructions need all 32 lanes of the warp.
static inline void require_whole_warp(unsigned lanes) {
  if (lanes != ~0u)
    fail(DIVERGENT, machine.current->line, "%s: some of the 32 lanes of the warp have returned or do not exist",
         machine.current->operation);
}

struct MatrixOperands {
  float *d;
  const unsigned *a, *b;
};

// The 16-bit half of a register as a float.
struct HalfOfBf16 {
  static float get(unsigned word, int half) {
    const uint32_t bits = (half ? word >> 16 : word & 0xFFFF) << 16;
    float value;
    memcpy(&value, &bits, 4);
    return value;
  }
};
struct HalfOfF16 {
  static float get(unsigned word, int half) {
    const uint16_t bits = static_cast<uint16_t>(half ? word >> 16 : word);
    _Float16 value;
    memcpy(&value, &bits, 2);
    return static_cast<float>(value);
  }
};

// Products are exact in f64 and each element is rounded once; the order of sums inside the unit is not documented.
template <int K> static void multiply_accumulate(void *const *arguments, const float (&a)[16][K], const float (&b)[K][8]) {
  for (unsigned i = 0; i < WARP; ++i) {
    float *d = static_cast<const MatrixOperands *>(arguments[i])->d;
    for (int j = 0; j < 4; ++j) {
      const unsigned row = i / 4 + 8 * (j / 2), column = 2 * (i % 4) + j % 2;
      double sum = d[j];
      for (int k = 0; k < K; ++k) sum += static_cast<double>(a[row][k]) * b[k][column];
      d[j] = static_cast<float>(sum);
    }
  }
}

template <class Half> static void mma_m16n8k16(void *const *arguments, unsigned lanes) {
  require_whole_warp(lanes);
  float a[16][16], b[16][8];
  for (unsigned i = 0; i < WARP; ++i) {
    const auto *lane = static_cast<const MatrixOperands *>(arguments[i]);
    const unsigned g = i / 4, t = i % 4;
    for (int half = 0; half < 2; ++half) {
      for (int j = 0; j < 4; ++j) a[g + 8 * (j % 2)][2 * t + 8 * (j / 2) + half] = Half::get(lane->a[j], half);
      for (int j = 0; j < 2; ++j) b[2 * t + 8 * j + half][g] = Half::get(lane->b[j], half);
    }
  }
  multiply_accumulate(arguments, a, b);
}

static inline float tf32_value(unsigned bits) {
  const unsigned kept = bits & ~0x1FFFu;
  float value;
  memcpy(&value, &kept, 4);
  return value;
}

static inline void mma_m16n8k8(void *const *arguments, unsigned lanes) {
  require_whole_warp(lanes);
  float a[16][8], b[8][8];
  for (unsigned i = 0; i < WARP; ++i) {
    const auto *lane = static_cast<const MatrixOperands *>(arguments[i]);
    const unsigned g = i / 4, t = i % 4;
    for (int j = 0; j < 4; ++j) a[g + 8 * (j % 2)][t + 4 * (j / 2)] = tf32_value(lane->a[j]);
    for (int j = 0; j < 2; ++j) b[t + 4 * j][g] = tf32_value(lane->b[j]);
  }
  multiply_accumulate(arguments, a, b);
}

struct MatrixLoad {
  unsigned *r;
  const unsigned char *row;
};

template <int Count, bool Transposed> static void load_matrices(void *const *arguments, unsigned lanes) {
  require_whole_warp(lanes);
  for (unsigned i = 0; i < WARP; ++i) {
    auto *lane = static_cast<const MatrixLoad *>(arguments[i]);
    for (unsigned matrix = 0; matrix < Count; ++matrix) {
      uint16_t pair[2];
      for (unsigned half = 0; half < 2; ++half) {
        const unsigned row = i / 4, column = 2 * (i % 4) + half;
        const auto *from = static_cast<const MatrixLoad *>(arguments[matrix * 8 + (Transposed ? column : row)]);
        memcpy(&pair[half], from->row + 2 * (Transposed ? row : column), 2);
      }
      lane->r[matrix] = pair[0] | static_cast<unsigned>(pair[1]) << 16;
    }
  }
}

template <int Count, bool Transposed> static void ldmatrix(unsigned *r, const void *row, const char *name, int line) {
  if (lane() < 8 * Count && reinterpret_cast<uintptr_t>(row) % 16)
    fail(MISALIGNED, line, "%s: the row of lane %u is not aligned to 16 bytes", name, lane());
  MatrixLoad record{r, static_cast<const unsigned char *>(row)};
  warp_operation(~0u, load_matrices<Count, Transposed>, &record, name, line);
}

static inline void matrix_operation(WarpFunction function, float *d, const unsigned *a, const unsigned *b, const char *name, int line) {
  MatrixOperands record{d, a, b};
  warp_operation(~0u, function, &record, name, line);
}

}  // namespace albumen_shim

#define ALBUMEN_AT int line = __builtin_LINE()

static inline void alb_mma_m16n8k16_bf16(float *d, const unsigned *a, const unsigned *b, ALBUMEN_AT) {
  albumen_shim::matrix_operation(albumen_shim::mma_m16n8k16<albumen_shim::HalfOfBf16>, d, a, b, "alb_mma_m16n8k16_bf16", line);
}
static inline void alb_mma_m16n8k16_f16(float *d, const unsigned *a, const unsigned *b, ALBUMEN_AT) {
  albumen_shim::matrix_operation(albumen_shim::mma_m16n8k16<albumen_shim::HalfOfF16>, d, a, b, "alb_mma_m16n8k16_f16", line);
}
static inline void alb_mma_m16n8k8_tf32(float *d, const unsigned *a, const unsigned *b, ALBUMEN_AT) {
  albumen_shim::matrix_operation(albumen_shim::mma_m16n8k8, d, a, b, "alb_mma_m16n8k8_tf32", line);
}
static inline unsigned alb_tf32(float value) {
  unsigned bits;
  memcpy(&bits, &value, 4);
  return (bits & 0x7F800000u) == 0x7F800000u ? bits : (bits + 0x1000u) & ~0x1FFFu;
}

template <bool Transposed> static void alb_ldmatrix_x1(unsigned *r, const void *row, ALBUMEN_AT) {
  albumen_shim::ldmatrix<1, Transposed>(r, row, "alb_ldmatrix_x1", line);
}
template <bool Transposed> static void alb_ldmatrix_x2(unsigned *r, const void *row, ALBUMEN_AT) {
  albumen_shim::ldmatrix<2, Transposed>(r, row, "alb_ldmatrix_x2", line);
}
template <bool Transposed> static void alb_ldmatrix_x4(unsigned *r, const void *row, ALBUMEN_AT) {
  albumen_shim::ldmatrix<4, Transposed>(r, row, "alb_ldmatrix_x4", line);
}

static inline void alb_cp_async16(void *shared, const void *global, int valid = 16, ALBUMEN_AT) {
  albumen_shim::async_copy(shared, global, 16, valid, line);
}
static inline void alb_cp_async8(void *shared, const void *global, int valid = 8, ALBUMEN_AT) {
  albumen_shim::async_copy(shared, global, 8, valid, line);
}
static inline void alb_cp_async4(void *shared, const void *global, int valid = 4, ALBUMEN_AT) {
  albumen_shim::async_copy(shared, global, 4, valid, line);
}
static inline void alb_cp_async_commit() { albumen_shim::async_commit(); }
template <int Newest> static void alb_cp_async_wait() { albumen_shim::async_wait(Newest); }

static inline void alb_grid_wait() {}
static inline void alb_grid_release() {}

template <class T> static T alb_load_stream(const T *pointer) { return *pointer; }
template <class T> static void alb_store_stream(T *pointer, T value) { *pointer = value; }
#undef ALBUMEN_AT
