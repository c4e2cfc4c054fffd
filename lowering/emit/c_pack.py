"""The C function behind loop.pack: transposes blocks in registers where the depth is contiguous."""

from __future__ import annotations

from .target import Target

TRANSPOSE = """\
// A square block of f32 transposed by zipping register i with register i + n/2, log2(n) times.
#if defined(__AVX512F__)
#define ALB_SQUARE 16
#define ALB_ZIP_LOW(a, b) __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23)
#define ALB_ZIP_HIGH(a, b) __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31)
#elif defined(__AVX__)
#define ALB_SQUARE 8
#define ALB_ZIP_LOW(a, b) __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11)
#define ALB_ZIP_HIGH(a, b) __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15)
#else
#define ALB_SQUARE 4
#define ALB_ZIP_LOW(a, b) __builtin_shufflevector(a, b, 0, 4, 1, 5)
#define ALB_ZIP_HIGH(a, b) __builtin_shufflevector(a, b, 2, 6, 3, 7)
#endif
#if defined(__GNUC__) && !defined(__clang__)
#define ALB_OUTLINE __attribute__((noipa)) /* one copy for all calls compiles faster */
#else
#define ALB_OUTLINE __attribute__((noinline))
#endif
typedef float alb_row __attribute__((vector_size(ALB_SQUARE * 4), aligned(4), may_alias));

ALB_INLINE void alb_zip_rows(alb_row *restrict to, const alb_row *restrict from) {
#pragma GCC unroll 8
  for (int i = 0; i < ALB_SQUARE / 2; ++i) {
    to[2 * i] = ALB_ZIP_LOW(from[i], from[i + ALB_SQUARE / 2]);
    to[2 * i + 1] = ALB_ZIP_HIGH(from[i], from[i + ALB_SQUARE / 2]);
  }
}

ALB_INLINE void alb_transpose_rows(alb_row *rows, alb_row *work) {
  alb_zip_rows(work, rows);
  alb_zip_rows(rows, work);
#if ALB_SQUARE >= 8
  alb_zip_rows(work, rows);
#if ALB_SQUARE == 16
  alb_zip_rows(rows, work);
#else
#pragma GCC unroll 8
  for (int i = 0; i < ALB_SQUARE; ++i) rows[i] = work[i];
#endif
#endif
}
"""

_PACK = """\
ALB_OUTLINE static void {name}(const {source} *restrict from, int64_t lane_stride, int64_t depth_stride,
                               {target} *restrict to, int64_t lanes, int64_t depth) {{
  if (lanes > {width}) lanes = {width};
  int64_t done = 0; /* lanes that the transposition below has packed */
{fast}  for (int64_t k = 0; k < depth; ++k) {{
    if (lane_stride == 1) {{
#pragma omp simd
      for (int64_t i = done; i < lanes; ++i) to[k * {width} + i] = {widened_contiguous};
    }} else {{
      for (int64_t i = done; i < lanes; ++i) to[k * {width} + i] = {widened};
    }}
    for (int64_t i = lanes; i < {width}; ++i) to[k * {width} + i] = 0;
  }}
}}
"""

_FAST = """\
  if (depth_stride == 1 && lane_stride != 1) {{
    for (; done + ALB_SQUARE <= lanes; done += ALB_SQUARE) {{
      int64_t k = 0;
      for (; k + ALB_SQUARE <= depth; k += ALB_SQUARE) {{
        alb_row rows[ALB_SQUARE], work[ALB_SQUARE];
#pragma GCC unroll 16
        for (int i = 0; i < ALB_SQUARE; ++i) {{
{load}
        }}
        alb_transpose_rows(rows, work);
#pragma GCC unroll 16
        for (int i = 0; i < ALB_SQUARE; ++i) *(alb_row *)(to + (k + i) * {width} + done) = rows[i];
      }}
      for (; k < depth; ++k) {{
        for (int64_t i = done; i < done + ALB_SQUARE; ++i) to[k * {width} + i] = {widened};
      }}
    }}
  }}
"""


def pack_function(name: str, source: str, target: str, width: int, spelling: Target) -> str:
    """The definition of a packing function from dtype `source` to `target` with `width` lanes."""
    form = (
        "{0}"
        if source == target
        else spelling.functions.get(f"cast.{source}.{target}", f"({spelling.types[target]}){{0}}")
    )
    widened = form.format("from[i * lane_stride + k * depth_stride]")
    fast = ""
    if target == "f32" and width % 4 == 0:
        load = "          rows[i] = *(const alb_row *)(from + (done + i) * lane_stride + k);"
        if source != "f32":
            one = form.format("from[(done + i) * lane_stride + k + j]")
            load = f"          for (int j = 0; j < ALB_SQUARE; ++j) rows[i][j] = {one};"
        fast = _FAST.format(load=load, width=width, widened=widened)
    return _PACK.format(
        name=name,
        source=spelling.types[source],
        target=spelling.types[target],
        width=width,
        fast=fast,
        widened=widened,
        widened_contiguous=form.format("from[i + k * depth_stride]"),
    )
