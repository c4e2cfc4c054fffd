"""Pooling, convolution of integers, and their places and divisors, against eager."""

# torch's own types are partly unknown.
# pyright: basic

from __future__ import annotations

from collections.abc import Callable
from math import inf, nan
from typing import Any

import pytest
import torch

Check = Callable[..., None]


def normal(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(0)).to(dtype)


def marked(dtype: torch.dtype) -> torch.Tensor:
    """Windows with one NaN, with several, with nothing but -inf, and with equal largest elements."""
    x = normal(2, 3, 9, 8, dtype=dtype)
    x[0, 0, 4, 4], x[0, 1, 2:4, 2:5], x[1, 0] = nan, nan, -inf
    x[1, 1] = 2.0
    return x


WINDOWS = [
    ([3, 2], [2, 1], [1, 1], [1, 1], False),
    ([3, 2], [2, 3], [1, 0], [1, 2], True),
    ([2], [], [0], [1], True),
    ([4, 4], [3], [2], [1], True),
]


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64], ids=str)
@pytest.mark.parametrize("case", WINDOWS)
def test_max_pool(check_call: Check, case: tuple[Any, ...], dtype: torch.dtype) -> None:
    x = marked(dtype)
    check_call("aten.max_pool2d_with_indices.default", x, *case)
    check_call("aten.max_pool2d_with_indices.default", x[0], *case)
    check_call("aten.max_pool2d.default", x, *case)


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.uint8], ids=str)
def test_max_pool_of_integers(check_call: Check, dtype: torch.dtype) -> None:
    x = torch.randint(0, 9, (2, 3, 9, 8)).to(dtype) * (1 if dtype is torch.uint8 else -1)
    for case in WINDOWS:
        check_call("aten.max_pool2d_with_indices.default", x, *case)


def test_max_pool_3d(check_call: Check) -> None:
    x = normal(2, 2, 5, 6, 7)
    check_call("aten.max_pool3d_with_indices.default", x, [2, 3, 2], [2, 2, 2], [0, 1, 1], [1, 1, 2], True)
    check_call("aten.max_pool3d_with_indices.default", x[0], [2], [1], [1])


AVERAGES = [(c, i, d) for c in (False, True) for i in (False, True) for d in (None, 3)]


@pytest.mark.parametrize(("ceil", "include", "divisor"), AVERAGES)
def test_avg_pool(check_call: Check, ceil: bool, include: bool, divisor: int | None) -> None:
    for x in (normal(2, 3, 9, 8), normal(3, 9, 8, dtype=torch.bfloat16), torch.randint(-99, 99, (2, 3, 9, 8))):
        check_call("aten.avg_pool2d.default", x, [3, 2], [2, 3], [1, 1], ceil, include, divisor)
        check_call("aten.avg_pool2d.default", x, [4], [3], [2], ceil, include, divisor)
    x = normal(2, 2, 5, 6, 7)
    check_call("aten.avg_pool3d.default", x, [2, 3, 3], [2, 2, 2], [1, 1, 0], ceil, include, divisor)


@pytest.mark.parametrize("sizes", [(4, 3), (1, 1), (9, 8), (12, 5), (2, 16)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_adaptive_pool(check_call: Check, sizes: tuple[int, int], dtype: torch.dtype) -> None:
    """Cells of one size, of two, and that overlap."""
    x = marked(dtype)
    check_call("aten._adaptive_avg_pool2d.default", x, sizes)
    check_call("aten.adaptive_max_pool2d.default", x, sizes)
    check_call("aten.adaptive_max_pool2d.default", x[1], sizes)
    solid = normal(2, 2, 5, 9, 8, dtype=dtype)
    check_call("aten._adaptive_avg_pool3d.default", solid, [3, *sizes])
    check_call("aten.adaptive_max_pool3d.default", solid, [3, *sizes])


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.uint8], ids=str)
def test_convolution_of_integers(check_call: Check, dtype: torch.dtype) -> None:
    """Sums wrap in the element type."""
    x, weight = (torch.randint(0, 200, shape).to(dtype) for shape in ((2, 4, 7, 8), (6, 2, 3, 3)))
    bias = torch.arange(6).to(dtype)
    rest = (bias, [2, 1], [1, 0], [1, 1])
    check_call("aten.convolution.default", x, weight, *rest, False, [0, 0], 2)
