"""Kernels with one element, or one vector of them, a thread, run as CUDA and as Metal text, against numpy."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from albumen.dialects.simt import KernelOp

Array = np.ndarray[Any, Any]
Run = Callable[[str, Sequence[Array], Mapping[str, int]], KernelOp]


def normal(*shape: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


GELU = """
sym.symbol @m min 0 max 100000
loop.kernel @gelu(%x: !loop.ptr<f32, align 16>, %b: !loop.ptr<f32, align 16>, %y: !loop.ptr<f32, align 16>, %m: index)
    symbols ["m"] modes ["read", "read", "write"] {{
  %n = arith.constant {n} : index
  %half = arith.constant 0.5 : f32
  %one = arith.constant 1.0 : f32
  %c = arith.constant 0.7071067811865476 : f32
  loop.parallel (%i) to (%m) mapping "grid" {{
    loop.parallel (%j) to (%n) mapping "vector" {{
      %a = arith.muli %i, %n : index
      %o = arith.addi %a, %j : index
      %v = loop.load %x[%o] : !loop.ptr<f32, align 16> -> f32
      %bv = loop.load %b[%j] : !loop.ptr<f32, align 16> -> f32
      %s = arith.addf %v, %bv : f32
      %t = arith.mulf %s, %c : f32
      %e = math.erf %t : f32
      %f = arith.addf %e, %one : f32
      %h = arith.mulf %s, %half : f32
      %r = arith.mulf %h, %f : f32
      loop.store %r, %y[%o] : f32, !loop.ptr<f32, align 16>
    }}
  }}
}}
"""


@pytest.mark.parametrize(("m", "n"), [(5, 384), (3, 7), (1, 1), (300, 3), (0, 4)])
def test_elementwise_with_a_broadcast_operand(run: Run, m: int, n: int):
    x, b = normal(m, n), normal(n, seed=1)
    y = np.zeros_like(x)
    kernel = run(GELU.format(n=n), [x, b, y], {"m": m})
    s = x.astype(np.float32) + b
    erf = np.vectorize(math.erf, otypes=[np.float64])
    expected = 0.5 * s * (1 + erf(s.astype(np.float64) / math.sqrt(2)))
    np.testing.assert_allclose(y, expected, rtol=5e-5, atol=1e-6)
    assert ("vector<4xf32>" in str(kernel)) == (n % 4 == 0)


TRANSPOSE = """
sym.symbol @m min 1 max 1000
sym.symbol @n min 1 max 1000
loop.kernel @transpose(%x: !loop.ptr<f32, align 16>, %y: !loop.ptr<f32, align 16>, %m: index, %n: index)
    symbols ["m", "n"] modes ["read", "write"] {
  loop.parallel (%i, %j) to (%n, %m) mapping "grid" {
    %a = arith.muli %j, %n : index
    %s = arith.addi %a, %i : index
    %v = loop.load %x[%s] : !loop.ptr<f32, align 16> -> f32
    %b = arith.muli %i, %m : index
    %d = arith.addi %b, %j : index
    loop.store %v, %y[%d] : f32, !loop.ptr<f32, align 16>
  }
}
"""


@pytest.mark.parametrize(("m", "n"), [(1, 1), (17, 31), (64, 5)])
def test_transpose(run: Run, m: int, n: int):
    x = normal(m, n)
    y = np.zeros((n, m), np.float32)
    run(TRANSPOSE, [x, y], {"m": m, "n": n})
    np.testing.assert_array_equal(y, x.T)


GATHER = """
sym.symbol @m min 1 max 100
loop.kernel @gather(%t: !loop.ptr<f32, align 16>, %i: !loop.ptr<i64, align 16>, %y: !loop.ptr<f32, align 16>, %m: index)
    symbols ["m"] modes ["read", "read", "write"] {
  %n = arith.constant 12 : index
  loop.parallel (%r) to (%m) mapping "grid" {
    loop.parallel (%k) to (%n) mapping "vector" {
      %w = loop.load %i[%r] : !loop.ptr<i64, align 16> -> i64
      %at = arith.index_cast %w : i64 to index
      %a = arith.muli %at, %n : index
      %s = arith.addi %a, %k : index
      %v = loop.load %t[%s] : !loop.ptr<f32, align 16> -> f32
      %b = arith.muli %r, %n : index
      %d = arith.addi %b, %k : index
      loop.store %v, %y[%d] : f32, !loop.ptr<f32, align 16>
    }
  }
}
"""


def test_gather_reads_whole_vectors_of_a_row(run: Run):
    table, rows = normal(50, 12), np.random.default_rng(1).integers(0, 50, 33)
    y = np.zeros((33, 12), np.float32)
    kernel = run(GATHER, [table, rows, y], {"m": 33})
    np.testing.assert_array_equal(y, table[rows])
    assert str(kernel).count("vector<4xf32>") >= 2


MASK = """
sym.symbol @s min 1 max 64
loop.kernel @mask(%x: !loop.ptr<f32, align 16>, %y: !loop.ptr<f32, align 16>, %s: index)
    symbols ["s"] modes ["read", "write"] {
  %ninf = arith.constant 0xFF800000 : f32
  loop.parallel (%i, %j) to (%s, %s) mapping "grid" {
    %a = arith.muli %i, %s : index
    %o = arith.addi %a, %j : index
    %seen = arith.cmpi sle, %j, %i : index
    %v = scf.if %seen -> (f32) {
      %w = loop.load %x[%o] : !loop.ptr<f32, align 16> -> f32
      scf.yield %w : f32
    } else {
      scf.yield %ninf : f32
    }
    %n = arith.index_cast %j : index to i64
    %f = arith.sitofp %n : i64 to f32
    %r = arith.addf %v, %f : f32
    loop.store %r, %y[%o] : f32, !loop.ptr<f32, align 16>
  }
}
"""


@pytest.mark.parametrize("s", [1, 13])
def test_conditions_and_values_of_indices(run: Run, s: int):
    x, y = normal(s, s), np.zeros((s, s), np.float32)
    run(MASK, [x, y], {"s": s})
    np.testing.assert_array_equal(y, np.where(np.tri(s, dtype=bool), x, -np.inf) + np.arange(s, dtype=np.float32))
