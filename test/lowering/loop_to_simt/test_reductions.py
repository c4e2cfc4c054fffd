"""Reductions to one value, over columns, and of booleans and integers, run as CUDA and as Metal text, against numpy."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from albumen.dialects.simt import KernelOp

Array = np.ndarray[Any, Any]
Run = Callable[[str, Sequence[Array], Mapping[str, int]], KernelOp]


def normal(*shape: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


COLUMN_SUM = """
sym.symbol @m min 0 max 1000
loop.kernel @columns(%x: !loop.ptr<f32, align 16>, %y: !loop.ptr<f32, align 16>, %m: index)
    symbols ["m"] modes ["read", "write"] {
  %n = arith.constant 37 : index
  %zero = arith.constant 0.0 : f32
  loop.parallel (%j) to (%n) mapping "grid" {
    %s = loop.reduce (%i) to (%m) add init %zero : f32 mapping "row" {
      %a = arith.muli %i, %n : index
      %o = arith.addi %a, %j : index
      %v = loop.load %x[%o] : !loop.ptr<f32, align 16> -> f32
      loop.yield %v : f32
    }
    loop.store %s, %y[%j] : f32, !loop.ptr<f32, align 16>
  }
}
"""


@pytest.mark.parametrize("m", [0, 1, 50])
def test_column_reduction(run: Run, m: int):
    x, y = normal(m, 37), np.full(37, np.nan, np.float32)
    run(COLUMN_SUM, [x, y], {"m": m})
    np.testing.assert_allclose(y, x.astype(np.float64).sum(0), rtol=1e-5, atol=1e-5)


TOTAL = """
sym.symbol @m min 0 max 1000000
loop.kernel @total(%x: !loop.ptr<f32, align 16>, %y: !loop.ptr<f32, align 16>, %m: index)
    symbols ["m"] modes ["read", "write"] {
  %zero = arith.constant 0 : index
  %start = arith.constant 2.5 : f32
  %s = loop.reduce (%i) to (%m) add init %start : f32 mapping "row" {
    %v = loop.load %x[%i] : !loop.ptr<f32, align 16> -> f32
    loop.yield %v : f32
  }
  loop.store %s, %y[%zero] : f32, !loop.ptr<f32, align 16>
}
"""


@pytest.mark.parametrize("m", [0, 1, 5000])
def test_reduction_to_one_value(run: Run, m: int):
    x, y = normal(m), np.full(1, np.nan, np.float32)
    run(TOTAL, [x, y], {"m": m})
    np.testing.assert_allclose(y[0], 2.5 + x.astype(np.float64).sum(), rtol=1e-5)


ALL_TRUE = """
sym.symbol @m min 1 max 100
loop.kernel @all(%x: !loop.ptr<i1, align 16>, %y: !loop.ptr<i1, align 16>, %c: !loop.ptr<i64, align 16>, %m: index)
    symbols ["m"] modes ["read", "write", "write"] {
  %n = arith.constant 100 : index
  %true = arith.constant true
  %none = arith.constant 0 : i64
  loop.parallel (%i) to (%m) mapping "grid" {
    %base = arith.muli %i, %n : index
    %a = loop.reduce (%k) to (%n) and init %true : i1 mapping "row" {
      %o = arith.addi %base, %k : index
      %v = loop.load %x[%o] : !loop.ptr<i1, align 16> -> i1
      loop.yield %v : i1
    }
    %t = loop.reduce (%k) to (%n) add init %none : i64 mapping "row" {
      %o = arith.addi %base, %k : index
      %v = loop.load %x[%o] : !loop.ptr<i1, align 16> -> i1
      %w = arith.extui %v : i1 to i64
      loop.yield %w : i64
    }
    loop.store %a, %y[%i] : i1, !loop.ptr<i1, align 16>
    loop.store %t, %c[%i] : i64, !loop.ptr<i64, align 16>
  }
}
"""


def test_reductions_of_booleans_and_integers(run: Run):
    x = np.random.default_rng(0).random((5, 100)) < 0.98
    x[2] = True
    y, c = np.zeros(5, bool), np.zeros(5, np.int64)
    run(ALL_TRUE, [x, y, c], {"m": 5})
    np.testing.assert_array_equal(y, x.all(1))
    np.testing.assert_array_equal(c, x.sum(1))


NARROW = """
loop.kernel @narrow(%x: !loop.ptr<{t}, align 16>, %y: !loop.ptr<{t}, align 16>) modes ["read", "write"] {{
  %m = arith.constant 5 : index
  %n = arith.constant 200 : index
  %zero = arith.constant 0 : {t}
  loop.parallel (%i) to (%m) mapping "grid" {{
    %base = arith.muli %i, %n : index
    %s = loop.reduce (%k) to (%n) {combine} init %zero : {t} mapping "row" {{
      %o = arith.addi %base, %k : index
      %v = loop.load %x[%o] : !loop.ptr<{t}, align 16> -> {t}
      loop.yield %v : {t}
    }}
    loop.store %s, %y[%i] : {t}, !loop.ptr<{t}, align 16>
  }}
}}
"""


@pytest.mark.parametrize("dtype", [np.int8, np.int16])
@pytest.mark.parametrize("combine", ["add", "max", "or"])
def test_narrow_integers_wrap(run: Run, dtype: type[np.integer[Any]], combine: str):
    limits = np.iinfo(dtype)
    x = np.random.default_rng(0).integers(limits.min, limits.max, (5, 200)).astype(dtype)
    y = np.zeros(5, dtype)
    run(NARROW.format(t=f"i{limits.bits}", combine=combine), [x, y], {})
    expected = {"add": np.add, "max": np.maximum, "or": np.bitwise_or}[combine].reduce(
        x, axis=1, dtype=dtype, initial=0
    )
    np.testing.assert_array_equal(y, expected)
