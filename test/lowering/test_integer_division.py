"""Integer division on every target for the operands that processors trap on, and those around them."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from albumen.dialects.dtype import I8, I32, I64, U8, DType
from albumen.dialects.hlir.arithmetic import TruncDivOp
from albumen.dialects.hlir.elementwise import FloorDivOp, ModOp
from albumen.dialects.hlir.types import tensor_type
from albumen.dialects.host.interpreter import run_program
from albumen.dialects.op import Sample
from albumen.lowering.toolchain.object_cache import MemoryCache
from albumen.tools.support import Use, lower_without_search, program_of
from albumen.tools.text_launcher import TextLauncher

Array = np.ndarray[Any, Any]
DTYPES = (I8, I32, I64, U8)


def values(dtype: DType) -> list[int]:
    low, high = (int(limit) for limit in dtype.extremes)
    return [low, low + 1, high, 0, 1, 2, 7, *([-1, -2, -7] if low else [])]


def expected(a: int, b: int, dtype: DType) -> tuple[int, int, int]:
    """Floor and truncated quotient and C's remainder in Python's integers, wrapped; all 0 for b = 0."""
    if b == 0:
        return 0, 0, 0
    whole = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
    low, high = (int(limit) for limit in dtype.extremes)
    wrapped = [(value - low) % (high - low + 1) + low for value in (a // b, whole, a - whole * b)]
    return wrapped[0], wrapped[1], wrapped[2]


@pytest.mark.parametrize("target", ["c", "cuda", "metal"])
def test_division(target: str) -> None:
    uses: list[Use] = []
    inputs: list[Array] = []
    for dtype in DTYPES:
        pairs = np.array(list(itertools.product(values(dtype), repeat=2)), dtype.numpy).T
        type_ = tensor_type([pairs.shape[1]], dtype)
        for op in (FloorDivOp, TruncDivOp, ModOp):
            uses.append((op, Sample((type_, type_))))
            inputs += [np.array(pairs[0]), np.array(pairs[1])]
    module = program_of(uses)
    lower_without_search(module, target, "emit" if target == "c" else "map-threads")
    found = run_program(module, "main", inputs, None, TextLauncher(module, MemoryCache()))
    for number, dtype in enumerate(DTYPES):
        a, b = inputs[6 * number], inputs[6 * number + 1]
        wanted = np.array([expected(int(x), int(y), dtype) for x, y in zip(a, b, strict=True)], dtype.numpy).T
        for result, want in zip(found[3 * number : 3 * number + 3], wanted, strict=True):
            np.testing.assert_array_equal(result, want)
