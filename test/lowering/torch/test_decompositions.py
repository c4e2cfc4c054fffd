"""Albumen's own decompositions, run by torch, against the ops that they stand for."""

# torch's own types are partly unknown.
# pyright: basic

from __future__ import annotations

from itertools import product
from math import inf, nan
from typing import Any

import pytest
import torch

from albumen.lowering.torch.decompositions.table import DECOMPOSITIONS

pytestmark = pytest.mark.torch

T = torch.tensor


def normal(*shape: int, seed: int = 0, dtype: torch.dtype = torch.float64) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).to(dtype)


def check(name: str, *args: Any, results: tuple[int, ...] | None = None) -> None:
    """The decomposition equals the op: values, dtypes, shapes, and strides of dims with several elements."""
    overload = getattr(getattr(torch.ops.aten, name.partition(".")[0]), name.partition(".")[2] or "default")
    found, expected = DECOMPOSITIONS[overload](*args), overload(*args)
    pairs = [(found, expected)] if isinstance(expected, torch.Tensor) else list(zip(found, expected, strict=True))
    for ours, eager in pairs if results is None else [pairs[i] for i in results]:
        torch.testing.assert_close(ours, eager, equal_nan=True, check_stride=True)


MODES = [(s, m, p, a) for s, m, p, a in product((2, 3), range(3), range(3), (False, True)) if not (s == 3 and m == 2)]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize(("spatial", "mode", "padding", "align"), MODES)
def test_grid_sampler(spatial: int, mode: int, padding: int, align: bool, dtype: torch.dtype) -> None:
    """Places far outside, at the corners, between pixels, and missing or infinite ones."""
    x, grid = normal(2, 3, *(4, 5, 6)[:spatial], dtype=dtype), normal(2, *(3, 4, 2)[:spatial], spatial, dtype=dtype)
    grid.view(-1)[[0, 3, 5, 7, 9]] = T([nan, -1.0, 1.0, 0.0, inf], dtype=dtype)
    check(f"grid_sampler_{spatial}d", x, grid, mode, padding, align)


BAGS = (T([1, 4, 4, 0, 2, 3, 1]), T([0, 2, 2, 6]))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64], ids=str)
@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("padding", [-1, 4, 1])
@pytest.mark.parametrize("mode", range(3))
def test_embedding_bag(mode: int, padding: int, last: bool, dtype: torch.dtype) -> None:
    """Bags without rows, repeated rows, padding that leaves a bag empty."""
    indices, offsets = BAGS
    weight = normal(5, 3, dtype=dtype)
    results = (0, 2, 3) if mode == 2 else (0,)
    if last:
        offsets = torch.cat([offsets, T([7])])
    args = (weight, indices, offsets, False, mode, False, None, last, padding)
    check("_embedding_bag", *args, results=results)
    check("_embedding_bag_forward_only", *args, results=(0,))
    if mode == 0:
        check("_embedding_bag", *args[:6], normal(7, dtype=dtype), last, padding, results=(0,))


@pytest.mark.parametrize("padding", [-1, 1])
@pytest.mark.parametrize("mode", range(3))
def test_embedding_bag_gradient(mode: int, padding: int) -> None:
    indices, offsets = BAGS
    weight, grad, scale = normal(5, 3), normal(4, 3, seed=1), normal(7, seed=2) if mode == 0 else None
    _, bag, sizes, places = torch.ops.aten._embedding_bag(weight, indices, offsets, False, mode, False, scale, False, 1)
    args = (grad, indices, bag, sizes, places, 5, False, mode, scale, padding)
    check("_embedding_bag_dense_backward", *args)
    if mode == 0:
        check("_embedding_bag_per_sample_weights_backward", grad, weight, indices, offsets, bag, mode, padding)


@pytest.mark.parametrize("norm", [1.0, 2.0, inf])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_embedding_renorm(norm: float, dtype: torch.dtype) -> None:
    check("embedding_renorm", normal(6, 4, dtype=dtype) * 2, T([[1, 1], [5, 0]]), 1.5, norm)


def test_trilinear() -> None:
    args = ([1, 3], [0], [1, 2], [2, 3])
    check("_trilinear", normal(4, 3), normal(5, 3, 2, seed=1), normal(4, 2, seed=2), *args)
    whole = [torch.randint(-9, 9, shape) for shape in ((4, 3), (5, 3, 2), (4, 2))]
    check("_trilinear", *whole, *args)


@pytest.mark.parametrize("p", [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, inf])
def test_distances(p: float) -> None:
    """Equal rows are at distance 0, where the slope is 0."""
    x, y = normal(5, 3), normal(2, 4, 3, seed=1)
    x[3] = x[1]
    y[1, 2] = x[0]
    near = torch.ops.aten._cdist_forward(x, y, p, 2)
    check("_cdist_forward", x, y, p, 2)
    check("_cdist_forward", x[:0], y, p, 2)
    check("_cdist_forward", x[:, :0], y[..., :0], p, 2)
    check("_cdist_backward", normal(2, 5, 4, seed=2), x.expand(2, 5, 3), y, p, near)
    check("_pdist_forward", x, p)
    check("_pdist_backward", normal(10, seed=3), x, p, torch.ops.aten._pdist_forward(x, p))


WINDOWS = [
    ([3, 2], [2, 1], [1, 1], False, True, None),
    ([3, 2], [2, 2], [1, 0], True, True, None),
    ([3, 2], [2, 2], [1, 1], True, False, None),
    ([2], [], [0], False, False, 3),
]


@pytest.mark.parametrize("case", WINDOWS)
def test_average_gradient(case: tuple[Any, ...]) -> None:
    for x in (normal(2, 3, 7, 6), normal(2, 3, 7, 6).to(memory_format=torch.channels_last), normal(3, 7, 6)):
        y = torch.ops.aten.avg_pool2d(x, *case)
        check("avg_pool2d_backward", torch.sin(y), x, *case)
    solid = normal(2, 2, 5, 7, 6)
    wide = (
        [2, *case[0]] if len(case[0]) == 2 else case[0],
        [1, *case[1]] if case[1] else [],
        [0, *case[2]] if len(case[2]) == 2 else case[2],
    )
    args = (*wide, *case[3:])
    check("avg_pool3d_backward", torch.sin(torch.ops.aten.avg_pool3d(solid, *args)), solid, *args)


@pytest.mark.parametrize("sizes", [(4, 6), (1, 3), (7, 5), (9, 8)])
def test_adaptive_gradients(sizes: tuple[int, int]) -> None:
    x, solid = normal(2, 3, 7, 6), normal(2, 2, 4, 7, 6)
    check("_adaptive_avg_pool2d_backward", normal(2, 3, *sizes, seed=1), x)
    check("_adaptive_avg_pool3d_backward", normal(2, 2, 3, *sizes, seed=1), solid)
    _, places = torch.ops.aten.adaptive_max_pool2d(x, sizes)
    check("adaptive_max_pool2d_backward", normal(2, 3, *sizes, seed=1), x, places)
    _, places = torch.ops.aten.adaptive_max_pool3d(solid, (3, *sizes))
    check("adaptive_max_pool3d_backward", normal(2, 2, 3, *sizes, seed=1), solid, places)


def test_max_unpool() -> None:
    for x in (normal(2, 3, 8, 6), normal(2, 3, 8, 6).to(memory_format=torch.channels_last), normal(3, 8, 6)):
        y, places = torch.ops.aten.max_pool2d_with_indices(x, [2, 2])
        check("max_unpool2d", y, places, [8, 6])
    x = normal(2, 2, 4, 6, 6)
    y, places = torch.ops.aten.max_pool3d_with_indices(x, [2, 3, 2])
    check("max_unpool3d", y, places, [4, 6, 6], [2, 3, 2], [0, 0, 0])
    check(
        "max_pool3d_with_indices_backward",
        *(torch.sin(y), x, [2, 3, 2], [2, 3, 2], [0, 0, 0], [1, 1, 1], False, places),
    )


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_fractional_max_pool(dtype: torch.dtype) -> None:
    x, samples = normal(2, 3, 9, 7, dtype=dtype), torch.rand(2, 3, 2, dtype=dtype)
    x[0, 0, 4, 4], x[1, 1, 2:5, 2:5] = nan, -inf
    check("fractional_max_pool2d", x, [2, 3], [5, 1], samples)
    y, places = torch.ops.aten.fractional_max_pool2d(x, [2, 3], [5, 4], samples)
    check("fractional_max_pool2d", x, [2, 3], [5, 4], samples)
    check("fractional_max_pool2d_backward", torch.ones_like(y), x, [2, 3], [5, 4], places)
    solid, samples = normal(2, 2, 6, 9, 7, dtype=dtype), torch.rand(2, 2, 3, dtype=dtype)
    check("fractional_max_pool3d", solid, [2, 2, 3], [3, 5, 4], samples)
