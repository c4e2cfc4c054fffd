"""Kernels that are one row, whose loops one block shares one after another, and values of type index that loops
carry."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from albumen.dialects.simt import KernelOp

Array = np.ndarray[Any, Any]
Run = Callable[[str, Sequence[Array], Mapping[str, int]], KernelOp]

CENTRED = """
loop.kernel @centred(%x: !loop.ptr<f32, align 16>, %y: !loop.ptr<f32, align 16>) modes ["read", "write"] {{
  %n = arith.constant {n} : index
  %zero = arith.constant 0.0 : f32
  %count = arith.constant {n}.0 : f32
  %kept = loop.alloc %n bound {n} : !loop.ptr<f32, align 64>
  loop.parallel (%k) to (%n) mapping "vector" {{
    %v = loop.load %x[%k] : !loop.ptr<f32, align 16> -> f32
    %w = arith.addf %v, %v : f32
    loop.store %w, %kept[%k] : f32, !loop.ptr<f32, align 64>
  }}
  %sum = loop.reduce (%k) to (%n) add init %zero : f32 mapping "vector" {{
    %v = loop.load %kept[%k] : !loop.ptr<f32, align 64> -> f32
    loop.yield %v : f32
  }}
  %mean = arith.divf %sum, %count : f32
  loop.parallel (%k) to (%n) mapping "vector" {{
    %v = loop.load %kept[%k] : !loop.ptr<f32, align 64> -> f32
    %d = arith.subf %v, %mean : f32
    loop.store %d, %y[%k] : f32, !loop.ptr<f32, align 16>
  }}
}}
"""


@pytest.mark.parametrize("n", [0, 5, 3000])
def test_loops_of_one_row(run: Run, n: int) -> None:
    x = np.random.default_rng(0).standard_normal(n).astype(np.float32)
    y = np.zeros_like(x)
    run(CENTRED.format(n=n), [x, y], {})
    np.testing.assert_allclose(y, 2 * x - (2 * x).sum() / max(n, 1), atol=1e-5)


COLLATZ = """
loop.kernel @steps(%x: !loop.ptr<i64>, %y: !loop.ptr<i64>) modes ["read", "write"] {
  %n = arith.constant 37 : index
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %three = arith.constant 3 : index
  loop.parallel (%i) to (%n) mapping "grid" {
    %v = loop.load %x[%i] : !loop.ptr<i64> -> i64
    %start = arith.index_cast %v : i64 to index
    %end, %count = scf.while (%a = %start, %c = %zero) : (index, index) -> (index, index) {
      %more = arith.cmpi sgt, %a, %one : index
      scf.condition(%more) %a, %c : index, index
    } do {
    ^bb0(%a: index, %c: index):
      %half = arith.divui %a, %two : index
      %twice = arith.muli %half, %two : index
      %odd = arith.cmpi ne, %a, %twice : index
      %next = scf.if %odd -> (index) {
        %t = arith.muli %a, %three : index
        %u = arith.addi %t, %one : index
        scf.yield %u : index
      } else {
        scf.yield %half : index
      }
      %d = arith.addi %c, %one : index
      scf.yield %next, %d : index, index
    }
    %sum = scf.for %k = %zero to %three step %one iter_args(%s = %count) -> (index) {
      %t = arith.addi %s, %k : index
      scf.yield %t : index
    }
    %r = arith.index_cast %sum : index to i64
    loop.store %r, %y[%i] : i64, !loop.ptr<i64>
  }
}
"""


def steps(value: int) -> int:
    count = 0
    while value > 1:
        value = 3 * value + 1 if value % 2 else value // 2
        count += 1
    return count


def test_carried_indices(run: Run) -> None:
    x = np.arange(1, 38)
    y = np.zeros_like(x)
    run(COLLATZ, [x, y], {})
    np.testing.assert_array_equal(y, [steps(int(value)) + 3 for value in x])
