"""Matrix and asynchronous copy instructions: nv ops as CUDA text, apple ops as Metal text, on the CPU shim."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from albumen.dialects.simt import KernelOp
from albumen.lowering.emit.cuda import cuda_source
from albumen.lowering.toolchain.nvrtc import compile_cuda

# One warp: C[16, 8] = A[16, 16] B[8, 16]^T, both copied to shared memory and read as fragments.
MMA = """
simt.kernel @mma(%a: !simt.ptr<{t}, global, align 16>, %b: !simt.ptr<{t}, global, align 16>, %c: !simt.ptr<f32, global>)
    grid [#sym.expr<1>] block [32, 1, 1] smem 1024 modes ["read", "read", "write"] {{
  %sa = simt.shared 0 : !simt.ptr<{t}, shared, align 16>
  %sb = simt.shared 512 : !simt.ptr<{t}, shared, align 16>
  %l = simt.id lane : i32
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %two = arith.constant 2 : i32
  %c8 = arith.constant 8 : i32
  %c16 = arith.constant 16 : i32
  %at = arith.muli %l, %c8 : i32
  %few = arith.cmpi slt, %l, %c16 : i32
  nv.cp_async %a[%at] to %sa[%at] bytes 16
      : !simt.ptr<{t}, global, align 16>, i32, !simt.ptr<{t}, shared, align 16>, i32
  scf.if %few {{
    nv.cp_async %b[%at] to %sb[%at] bytes 16
      : !simt.ptr<{t}, global, align 16>, i32, !simt.ptr<{t}, shared, align 16>, i32
  }}
  nv.cp_async_commit
  nv.cp_async_wait 0
  simt.barrier warp
  %ra = simt.regs -> !simt.reg<4xi32>
  %rb = simt.regs -> !simt.reg<2xi32>
  %zf = arith.constant 0.0 : f32
  %acc = simt.regs fill %zf : f32 -> !simt.reg<4xf32>
  %row = arith.remsi %l, %c16 : i32
  %half = arith.divsi %l, %c16 : i32
  %r16 = arith.muli %row, %c16 : i32
  %h8 = arith.muli %half, %c8 : i32
  %oa = arith.addi %r16, %h8 : i32
  nv.ldmatrix %sa[%oa] to %ra[] count 4 : !simt.ptr<{t}, shared, align 16>, i32, !simt.reg<4xi32>
  %brow = arith.remsi %l, %c8 : i32
  %bq = arith.divsi %l, %c8 : i32
  %bh = arith.remsi %bq, %two : i32
  %br16 = arith.muli %brow, %c16 : i32
  %bh8 = arith.muli %bh, %c8 : i32
  %ob = arith.addi %br16, %bh8 : i32
  nv.ldmatrix %sb[%ob] to %rb[] count 2 : !simt.ptr<{t}, shared, align 16>, i32, !simt.reg<2xi32>
  nv.mma m16n8k16_{t} %acc[], %ra[], %rb[] : !simt.reg<4xf32>, !simt.reg<4xi32>, !simt.reg<2xi32>
  %c4 = arith.constant 4 : i32
  %g = arith.divsi %l, %c4 : i32
  %q = arith.remsi %l, %c4 : i32
  scf.for %i = %zero to %c4 step %one : i32 {{
    %ih = arith.divsi %i, %two : i32
    %il = arith.remsi %i, %two : i32
    %i8 = arith.muli %ih, %c8 : i32
    %r = arith.addi %g, %i8 : i32
    %q2 = arith.muli %q, %two : i32
    %col = arith.addi %q2, %il : i32
    %r8 = arith.muli %r, %c8 : i32
    %o = arith.addi %r8, %col : i32
    %v = simt.reg_load %acc[%i] : !simt.reg<4xf32> -> f32
    simt.store %v, %c[%o] : f32, !simt.ptr<f32, global>, i32
  }} {{unroll}}
}}
"""


@pytest.mark.parametrize(("kind", "dtype"), [("bf16", ml_dtypes.bfloat16), ("f16", np.float16)])
def test_tensor_core_product(run_as: Callable[..., None], parse: Callable[[str], KernelOp], kind: str, dtype: Any):
    random = np.random.default_rng(0)
    a, b = (random.standard_normal(shape).astype(dtype) for shape in ((16, 16), (8, 16)))
    c = np.zeros((16, 8), np.float32)
    run_as("cuda", MMA.format(t=kind), [a, b, c])
    np.testing.assert_allclose(c, a.astype(np.float64) @ b.astype(np.float64).T, rtol=1e-5, atol=1e-5)
    assert not compile_cuda(cuda_source([parse(MMA.format(t=kind))])).problems


ZERO_FILL = """
simt.kernel @fill(%x: !simt.ptr<f32, global>, %y: !simt.ptr<f32, global>)
    grid [#sym.expr<1>] block [32, 1, 1] smem 128 modes ["read", "write"] {
  %s = simt.shared 0 : !simt.ptr<f32, shared>
  %t = simt.id thread.x : i32
  %c20 = arith.constant 20 : i32
  %inside = arith.cmpi slt, %t, %c20 : i32
  nv.cp_async %x[%t] to %s[%t] bytes 4 if %inside : !simt.ptr<f32, global>, i32, !simt.ptr<f32, shared>, i32
  nv.cp_async_commit
  nv.cp_async_wait 0
  %v = simt.load %s[%t] : !simt.ptr<f32, shared>, i32 -> f32
  simt.store %v, %y[%t] : f32, !simt.ptr<f32, global>, i32
}
"""


def test_asynchronous_copies_fill_with_zero_where_nothing_is_read(run_as: Callable[..., None]):
    x, y = np.arange(1, 21, dtype=np.float32), np.full(32, 7, np.float32)
    run_as("cuda", ZERO_FILL, [x, y])
    np.testing.assert_array_equal(y, np.concatenate([x, np.zeros(12)]))


SIMDGROUP = """
simt.kernel @product(%a: !simt.ptr<{t}, global>, %b: !simt.ptr<{t}, global>, %c: !simt.ptr<f32, global>)
    grid [#sym.expr<1>] block [32, 1, 1] modes ["read", "read", "write"] {{
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %ld = arith.constant 8 : i32
  %zf = arith.constant 1.0 : f32
  %ma = simt.regs -> !simt.reg<1x!apple.matrix<{t}>>
  %mb = simt.regs -> !simt.reg<1x!apple.matrix<{t}>>
  %mc = simt.regs -> !simt.reg<2x1x!apple.matrix<f32>>
  apple.simdgroup_fill %zf, %mc[%one, %zero] : f32, !simt.reg<2x1x!apple.matrix<f32>>
  apple.simdgroup_load %a[%zero] stride %ld to %ma[%zero] : !simt.ptr<{t}, global>, i32, !simt.reg<1x!apple.matrix<{t}>>
  apple.simdgroup_load %b[%zero] stride %ld to %mb[%zero] trans
      : !simt.ptr<{t}, global>, i32, !simt.reg<1x!apple.matrix<{t}>>
  apple.simdgroup_mma %mc[%one, %zero], %ma[%zero], %mb[%zero]
      : !simt.reg<2x1x!apple.matrix<f32>>, !simt.reg<1x!apple.matrix<{t}>>, !simt.reg<1x!apple.matrix<{t}>>
  apple.simdgroup_store %mc[%one, %zero] to %c[%zero] stride %ld
      : !simt.reg<2x1x!apple.matrix<f32>>, !simt.ptr<f32, global>, i32
}}
"""


@pytest.mark.parametrize(("kind", "dtype"), [("f32", np.float32), ("f16", np.float16), ("bf16", ml_dtypes.bfloat16)])
def test_simdgroup_product(run_as: Callable[..., None], kind: str, dtype: Any):
    random = np.random.default_rng(0)
    a, b = (random.standard_normal((8, 8)).astype(dtype) for _ in range(2))
    c = np.zeros((8, 8), np.float32)
    run_as("metal", SIMDGROUP.format(t=kind), [a, b, c])
    np.testing.assert_allclose(c, 1 + a.astype(np.float64) @ b.astype(np.float64).T, rtol=1e-5, atol=1e-5)
