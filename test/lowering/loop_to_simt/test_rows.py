"""Kernels whose rows are shared by teams of threads, run as CUDA and as Metal text, against numpy."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from albumen.dialects.simt import KernelOp
from albumen.lowering.emit.cuda import cuda_source
from albumen.lowering.toolchain.nvrtc import compile_cuda

Array = np.ndarray[Any, Any]
Run = Callable[[str, Sequence[Array], Mapping[str, int]], KernelOp]


def normal(*shape: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def reference_softmax(x: Array) -> Array:
    wide = x.astype(np.float64)
    e = np.exp(wide - wide.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


SOFTMAX = """
sym.symbol @m min 0 max 4096
{declare}
loop.kernel @softmax(%x: !loop.ptr<{t}, align 16>, %y: !loop.ptr<{t}, align 16>, %m: index{argument})
    symbols ["m"{symbol}] modes ["read", "write"] {{
  {extent}
  %ninf = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  loop.parallel (%i) to (%m) mapping "grid" {{
    %base = arith.muli %i, %n : index
    %mx = loop.reduce (%k) to (%n) max init %ninf : f32 mapping "row" {{
      %o = arith.addi %base, %k : index
      %v = loop.load %x[%o] : !loop.ptr<{t}, align 16> -> {t}
      {widen}
      loop.yield %w : f32
    }}
    %s = loop.reduce (%k) to (%n) add init %zero : f32 mapping "row" {{
      %o = arith.addi %base, %k : index
      %v = loop.load %x[%o] : !loop.ptr<{t}, align 16> -> {t}
      {widen}
      %d = arith.subf %w, %mx : f32
      %e = math.exp %d : f32
      loop.yield %e : f32
    }}
    loop.parallel (%k) to (%n) mapping "row" {{
      %o = arith.addi %base, %k : index
      %v = loop.load %x[%o] : !loop.ptr<{t}, align 16> -> {t}
      {widen}
      %d = arith.subf %w, %mx : f32
      %e = math.exp %d : f32
      %q = arith.divf %e, %s : f32
      {narrow}
      loop.store %r, %y[%o] : {t}, !loop.ptr<{t}, align 16>
    }}
  }}
}}
"""
F32 = {
    "t": "f32",
    "widen": "%z = arith.constant -0.0 : f32\n %w = arith.addf %v, %z : f32",
    "narrow": "%z2 = arith.constant -0.0 : f32\n %r = arith.addf %q, %z2 : f32",
}
BF16 = {
    "t": "bf16",
    "widen": "%w = arith.extf %v : bf16 to f32",
    "narrow": "%r = arith.truncf %q : f32 to bf16",
}
STATIC = {"declare": "", "argument": "", "symbol": ""}
DYNAMIC = {"declare": "sym.symbol @n min 1 max 2048", "argument": ", %n: index", "symbol": ', "n"', "extent": ""}


def static(n: int) -> dict[str, str]:
    return {**STATIC, "extent": f"%n = arith.constant {n} : index"}


@pytest.mark.parametrize(("m", "n"), [(1, 1), (5, 14), (7, 384), (3, 1000), (2, 1023), (2, 8192), (9, 32), (0, 8)])
def test_softmax_of_static_rows(run: Run, m: int, n: int):
    x, y = normal(m, n), np.full((m, n), np.nan, np.float32)
    run(SOFTMAX.format(**F32, **static(n)), [x, y], {"m": m})
    np.testing.assert_allclose(y, reference_softmax(x), rtol=2e-6, atol=1e-9)


@pytest.mark.parametrize(("m", "n"), [(3, 1), (4, 37), (2, 300)])
def test_softmax_of_dynamic_rows(run: Run, m: int, n: int):
    x, y = normal(m, n), np.full((m, n), np.nan, np.float32)
    run(SOFTMAX.format(**F32, **DYNAMIC), [x, y], {"m": m, "n": n})
    np.testing.assert_allclose(y, reference_softmax(x), rtol=2e-6, atol=1e-9)


def test_softmax_of_bf16_rows_rounds_once(run: Run):
    x = normal(3, 768).astype(ml_dtypes.bfloat16)
    y = np.zeros_like(x)
    kernel = run(SOFTMAX.format(**BF16, **static(768)), [x, y], {"m": 3})
    np.testing.assert_allclose(y.astype(np.float64), reference_softmax(x), rtol=2**-8, atol=1e-9)
    assert "vector<8xbf16>" in str(kernel)


def test_softmax_propagates_nan_and_keeps_other_rows(run: Run):
    x = normal(3, 40)
    x[1, 7] = np.nan
    y = np.zeros_like(x)
    run(SOFTMAX.format(**F32, **static(40)), [x, y], {"m": 3})
    assert np.isnan(y[1]).all()
    np.testing.assert_allclose(y[[0, 2]], reference_softmax(x[[0, 2]]), rtol=2e-6)


KERNELS = {
    "short rows": SOFTMAX.format(**F32, **static(384)),
    "long rows": SOFTMAX.format(**BF16, **static(8192)),
    "dynamic rows": SOFTMAX.format(**F32, **DYNAMIC),
}


@pytest.mark.parametrize("name", KERNELS)
def test_device_compiler_spills_nothing(name: str, to_threads: Callable[[str, str], KernelOp]):
    binary = compile_cuda(cuda_source([to_threads(KERNELS[name], "cuda")]))
    assert not binary.problems
    assert binary.kernels[0].registers <= 128


def test_a_row_is_read_once(run: Run):
    kernel = run(SOFTMAX.format(**F32, **static(384)), [normal(2, 384), normal(2, 384)], {"m": 2})
    assert str(kernel).count("simt.load") == 1


LAYER_NORM = """
sym.symbol @m min 1 max 4096
loop.kernel @layer_norm(%x: !loop.ptr<f32, align 16>, %g: !loop.ptr<f32, align 16>, %b: !loop.ptr<f32, align 16>,
    %y: !loop.ptr<f32, align 16>, %m: index)
    symbols ["m"] modes ["read", "read", "read", "write"] {{
  %n = arith.constant {n} : index
  %zero = arith.constant 0.0 : f32
  %scale = arith.constant {scale} : f32
  %eps = arith.constant 1.0e-5 : f32
  loop.parallel (%i) to (%m) mapping "grid" {{
    %base = arith.muli %i, %n : index
    %row = loop.alloc %n : !loop.ptr<f32>
    %s = loop.reduce (%k) to (%n) add init %zero : f32 mapping "row" {{
      %o = arith.addi %base, %k : index
      %v = loop.load %x[%o] : !loop.ptr<f32, align 16> -> f32
      loop.store %v, %row[%k] : f32, !loop.ptr<f32>
      loop.yield %v : f32
    }}
    %mean = arith.mulf %s, %scale : f32
    %t = loop.reduce (%k) to (%n) add init %zero : f32 mapping "row" {{
      %v = loop.load %row[%k] : !loop.ptr<f32> -> f32
      %d = arith.subf %v, %mean : f32
      %q = arith.mulf %d, %d : f32
      loop.yield %q : f32
    }}
    %var = arith.mulf %t, %scale : f32
    %ve = arith.addf %var, %eps : f32
    %rs = math.rsqrt %ve : f32
    loop.parallel (%k) to (%n) mapping "row" {{
      %o = arith.addi %base, %k : index
      %v = loop.load %row[%k] : !loop.ptr<f32> -> f32
      %d = arith.subf %v, %mean : f32
      %h = arith.mulf %d, %rs : f32
      %gv = loop.load %g[%k] : !loop.ptr<f32, align 16> -> f32
      %bv = loop.load %b[%k] : !loop.ptr<f32, align 16> -> f32
      %hg = arith.mulf %h, %gv : f32
      %r = arith.addf %hg, %bv : f32
      loop.store %r, %y[%o] : f32, !loop.ptr<f32, align 16>
    }}
  }}
}}
"""


@pytest.mark.parametrize("n", [1, 13, 384, 2000, 5000])
def test_layer_norm(run: Run, n: int):
    x, g, b = normal(3, n), normal(n, seed=1), normal(n, seed=2)
    y = np.zeros_like(x)
    kernel = run(LAYER_NORM.format(n=n, scale=repr(1 / n)), [x, g, b, y], {"m": 3})
    wide = x.astype(np.float64)
    centred = wide - wide.mean(-1, keepdims=True)
    expected = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5) * g + b
    np.testing.assert_allclose(y, expected, rtol=1e-5, atol=1e-5)
    assert kernel.smem.value.data <= 128, "the row stays in registers"


SHIFT = """
sym.symbol @m min 1 max 100
loop.kernel @shift(%x: !loop.ptr<f32, align 16>, %y: !loop.ptr<f32, align 16>, %m: index)
    symbols ["m"] modes ["read", "write"] {{
  %n = arith.constant {n} : index
  %one = arith.constant 1 : index
  loop.parallel (%i) to (%m) mapping "grid" {{
    %base = arith.muli %i, %n : index
    %row = loop.alloc %n : !loop.ptr<f32>
    loop.parallel (%k) to (%n) mapping "row" {{
      %o = arith.addi %base, %k : index
      %v = loop.load %x[%o] : !loop.ptr<f32, align 16> -> f32
      %d = arith.addf %v, %v : f32
      loop.store %d, %row[%k] : f32, !loop.ptr<f32>
    }}
    loop.parallel (%k) to (%n) mapping "row" {{
      %next = arith.addi %k, %one : index
      %p = arith.remsi %next, %n : index
      %v = loop.load %row[%p] : !loop.ptr<f32> -> f32
      %o = arith.addi %base, %k : index
      loop.store %v, %y[%o] : f32, !loop.ptr<f32, align 16>
    }}
  }}
}}
"""


@pytest.mark.parametrize("n", [5, 96, 700])
def test_scratch_rows_that_threads_share(run: Run, n: int):
    x, y = normal(4, n), np.zeros((4, n), np.float32)
    kernel = run(SHIFT.format(n=n), [x, y], {"m": 4})
    np.testing.assert_array_equal(y, 2 * np.roll(x, -1, 1))
    assert kernel.smem.value.data >= 4 * n
    assert "simt.barrier" in str(kernel)


IN_PLACE = """
sym.symbol @m min 1 max 100
loop.kernel @scale(%x: !loop.ptr<f32, align 16>, %m: index) symbols ["m"] modes ["readwrite"] {
  %n = arith.constant 40 : index
  %zero = arith.constant 0.0 : f32
  loop.parallel (%i) to (%m) mapping "grid" {
    %base = arith.muli %i, %n : index
    %s = loop.reduce (%k) to (%n) add init %zero : f32 mapping "row" {
      %o = arith.addi %base, %k : index
      %v = loop.load %x[%o] : !loop.ptr<f32, align 16> -> f32
      %a = math.absf %v : f32
      loop.yield %a : f32
    }
    loop.parallel (%k) to (%n) mapping "row" {
      %o = arith.addi %base, %k : index
      %v = loop.load %x[%o] : !loop.ptr<f32, align 16> -> f32
      %q = arith.divf %v, %s : f32
      loop.store %q, %x[%o] : f32, !loop.ptr<f32, align 16>
    }
  }
}
"""


def test_rows_updated_in_place(run: Run):
    x = normal(5, 40)
    expected = x / np.abs(x.astype(np.float64)).sum(1, keepdims=True)
    run(IN_PLACE, [x], {"m": 5})
    np.testing.assert_allclose(x, expected, rtol=1e-5)


@pytest.mark.parametrize("n", [60000, 1])
def test_rows_too_long_to_be_kept_are_computed_again(run: Run, n: int):
    text = LAYER_NORM.format(n=n, scale=repr(1 / n))
    x, g, b = normal(2, n), normal(n, seed=1), normal(n, seed=2)
    y = np.zeros_like(x)
    kernel = run(text, [x, g, b, y], {"m": 2})
    wide = x.astype(np.float64)
    centred = wide - wide.mean(-1, keepdims=True)
    expected = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5) * g + b
    np.testing.assert_allclose(y, expected, rtol=1e-4, atol=1e-4)
    assert kernel.smem.value.data <= 512
