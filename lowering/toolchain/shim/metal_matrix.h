// SIMD-group matrices of Metal: 8x8 elements over 32 lanes, two neighbours of one row in each lane.
#pragma once
#include "collectives.h"
#include "metal_types.h"

namespace metal {

template <class T, int Rows, int Columns> struct simdgroup_matrix {
  static_assert(Rows == 8 && Columns == 8, "only 8x8 SIMD-group matrices exist");
  vec<T, 2> elements;
  simdgroup_matrix() = default;
  explicit simdgroup_matrix(T diagonal) {
    for (int i = 0; i < 2; ++i) elements[i] = row() == column() + i ? diagonal : T(0.0f);
  }
  vec<T, 2> &thread_elements() { return elements; }
  // Where the elements of this lane lie, as observed on Apple's GPUs.
  static unsigned row() { return (albumen_shim::lane() / 4 & 4) + albumen_shim::lane() / 2 % 4; }
  static unsigned column() { return (albumen_shim::lane() / 4 & 2) * 2 + albumen_shim::lane() % 2 * 2; }
};
using simdgroup_float8x8 = simdgroup_matrix<float, 8, 8>;
using simdgroup_half8x8 = simdgroup_matrix<half, 8, 8>;
using simdgroup_bfloat8x8 = simdgroup_matrix<bfloat, 8, 8>;

template <class T, int Rows, int Columns> simdgroup_matrix<T, Rows, Columns> make_filled_simdgroup_matrix(T value) {
  simdgroup_matrix<T, Rows, Columns> result;
  result.elements = vec<T, 2>(value, value);
  return result;
}

template <class T>
static ulong matrix_offset(unsigned element, ulong per_row, ulong2 origin, bool transposed) {
  const ulong row = simdgroup_matrix<T, 8, 8>::row(), column = simdgroup_matrix<T, 8, 8>::column() + element;
  return transposed ? (origin.y + column) * per_row + origin.x + row : (origin.y + row) * per_row + origin.x + column;
}

// Every lane of the SIMD-group takes part; what the lanes store is seen by the others after a barrier only.
template <class T>
void simdgroup_load(simdgroup_matrix<T, 8, 8> &matrix, const T *source, ulong per_row = 8, ulong2 origin = ulong2(0),
                    bool transposed = false, int line = __builtin_LINE()) {
  albumen_shim::warp_barrier(~0u, "simdgroup_load", line);
  for (unsigned i = 0; i < 2; ++i) matrix.elements[i] = source[matrix_offset<T>(i, per_row, origin, transposed)];
}
template <class T>
void simdgroup_store(simdgroup_matrix<T, 8, 8> matrix, T *target, ulong per_row = 8, ulong2 origin = ulong2(0),
                     bool transposed = false, int line = __builtin_LINE()) {
  albumen_shim::warp_barrier(~0u, "simdgroup_store", line);
  for (unsigned i = 0; i < 2; ++i) target[matrix_offset<T>(i, per_row, origin, transposed)] = matrix.elements[i];
}

template <class D, class A, class B, class C> struct MatrixProduct {
  vec<D, 2> d;
  vec<A, 2> a;
  vec<B, 2> b;
  vec<C, 2> c;
  unsigned row, column;
};

template <class Record> static void multiply_matrices(void *const *arguments, unsigned lanes) {
  if (lanes != ~0u)
    albumen_shim::fail(albumen_shim::DIVERGENT, albumen_shim::machine.current->line,
                       "%s: some of the 32 lanes of the SIMD-group have returned", albumen_shim::machine.current->operation);
  float a[8][8], b[8][8];
  for (unsigned i = 0; i < albumen_shim::WARP; ++i) {
    auto *mine = static_cast<Record *>(arguments[i]);
    for (int j = 0; j < 2; ++j) {
      a[mine->row][mine->column + j] = static_cast<float>(mine->a[j]);
      b[mine->row][mine->column + j] = static_cast<float>(mine->b[j]);
    }
  }
  for (unsigned i = 0; i < albumen_shim::WARP; ++i) {
    auto *mine = static_cast<Record *>(arguments[i]);
    for (int j = 0; j < 2; ++j) {
      float sum = static_cast<float>(mine->c[j]);
      for (int k = 0; k < 8; ++k) sum += a[mine->row][k] * b[k][mine->column + j];
      using Element = typename std::remove_reference<decltype(mine->d[j])>::type;
      mine->d[j] = static_cast<Element>(sum);
    }
  }
}

// d = a b + c
template <class D, class A, class B, class C>
void simdgroup_multiply_accumulate(simdgroup_matrix<D, 8, 8> &d, simdgroup_matrix<A, 8, 8> a, simdgroup_matrix<B, 8, 8> b,
                                   simdgroup_matrix<C, 8, 8> c, int line = __builtin_LINE()) {
  using Record = MatrixProduct<D, A, B, C>;
  Record record{d.elements, a.elements, b.elements, c.elements, a.row(), a.column()};
  albumen_shim::warp_operation(~0u, multiply_matrices<Record>, &record, "simdgroup_multiply_accumulate", line);
  d.elements = record.d;
}
template <class D, class A, class B>
void simdgroup_multiply(simdgroup_matrix<D, 8, 8> &d, simdgroup_matrix<A, 8, 8> a, simdgroup_matrix<B, 8, 8> b,
                        int line = __builtin_LINE()) {
  simdgroup_multiply_accumulate(d, a, b, make_filled_simdgroup_matrix<D, 8, 8>(D(0.0f)), line);
}

}  // namespace metal
