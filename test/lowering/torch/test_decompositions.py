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
from albumen.lowering.torch.interpolation import interpolate

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


UPSAMPLED = [((9, 8), (5, 6)), ((4, 5), (9, 13)), ((7, 6), (7, 3)), ((3, 40), (1, 4)), ((5, 1), (9, 2))]


@pytest.mark.parametrize("align", [False, True])
@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
@pytest.mark.parametrize(("sizes", "output"), UPSAMPLED)
def test_antialiased(mode: str, align: bool, sizes: tuple[int, int], output: tuple[int, int]) -> None:
    name = f"_upsample_{mode}2d_aa"
    # A smaller scale would place elements outside of x, for which eager multiplies by memory that nothing wrote.
    scale = 1.1 * output[0] / sizes[0]
    for x in (normal(2, 3, *sizes), normal(2, 3, *sizes, dtype=torch.float32)):
        check(name, x, output, align, None, None)
        check(name, x.to(memory_format=torch.channels_last), output, align, scale, None)
    check(name, torch.randint(0, 256, (2, 3, *sizes), dtype=torch.uint8), output, align, None, None)
    check(f"{name}_backward", normal(2, 3, *output), output, (2, 3, *sizes), align, None, None)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("scale", [None, 1.7])
@pytest.mark.parametrize(("sizes", "output"), UPSAMPLED)
def test_upsampling_gradients(
    sizes: tuple[int, int], output: tuple[int, int], scale: float | None, dtype: torch.dtype
) -> None:
    flat, solid = (2, 3, *sizes), (2, 3, 4, *sizes)
    grad, wide = normal(2, 3, *output, dtype=dtype), normal(2, 3, 5, *output, dtype=dtype)
    for align in (False, True):
        check("upsample_bilinear2d_backward", grad, output, flat, align, scale, None)
        check("upsample_bicubic2d_backward", grad, output, flat, align, scale, scale)
        check("upsample_linear1d_backward", grad[..., 0], output[:1], flat[:3], align, scale)
        check("upsample_trilinear3d_backward", wide, (5, *output), solid, align, None, scale, scale)
    for name in ("upsample_nearest", "_upsample_nearest_exact"):
        check(f"{name}1d_backward", grad[..., 0], output[:1], flat[:3], scale)
        check(f"{name}2d_backward", grad, output, flat, scale, scale)
        check(f"{name}3d_backward", wide, (5, *output), solid, None, scale, scale)


@pytest.mark.parametrize("align", [False, True])
@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
@pytest.mark.parametrize(("sizes", "output"), UPSAMPLED)
def test_bytes(mode: str, align: bool, sizes: tuple[int, int], output: tuple[int, int]) -> None:
    """Integer weights, for few channels and for many, which eager has two kernels for."""
    for channels in (3, 5):
        x = torch.randint(0, 256, (2, channels, *sizes), dtype=torch.uint8)
        expected = torch.nn.functional.interpolate(x, output, mode=mode, align_corners=align)
        torch.testing.assert_close(interpolate(x, output, mode=mode, align_corners=align), expected)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_extents_that_stay(dtype: torch.dtype) -> None:
    """A scale of 1.1 leaves 7 elements, which linear modes copy."""
    for mode, shape in (("linear", (2, 3, 7)), ("bilinear", (2, 3, 7, 20)), ("trilinear", (2, 3, 7, 7, 11))):
        x = normal(*shape, dtype=dtype)
        expected = torch.nn.functional.interpolate(x, scale_factor=1.1, mode=mode)
        torch.testing.assert_close(interpolate(x, scale_factor=1.1, mode=mode), expected)


@pytest.mark.parametrize("norm_first", [False, True])
@pytest.mark.parametrize("mask_type", [None, 0, 1, 2])
def test_transformer_encoder_layer(mask_type: int | None, norm_first: bool) -> None:
    n, t, e = 2, 5, 16
    shapes = [(3 * e, e), (3 * e,), (e, e), (e,), (e,), (e,), (e,), (e,), (8, e), (8,), (e, 8), (e,)]
    w = [normal(*s, seed=i, dtype=torch.float32) for i, s in enumerate(shapes)]
    masks = {0: (t, t), 1: (n, t), 2: (n, 4, t, t)}
    mask = None
    if mask_type is not None:
        mask = torch.rand(masks[mask_type], generator=torch.Generator().manual_seed(0)) > 0.6
        mask[..., 0] = False
    src = normal(n, t, e, seed=99, dtype=torch.float32)
    for use_gelu in (False, True):
        settings = (use_gelu, norm_first, 1e-5)
        check("_transformer_encoder_layer_fwd", src, e, 4, *w[:4], *settings, *w[4:], mask, mask_type)


@pytest.mark.parametrize("reduction", range(3))
@pytest.mark.parametrize("weighted", [False, True])
def test_nll_loss(weighted: bool, reduction: int) -> None:
    weight = normal(4, seed=3).abs() if weighted else None
    targets = torch.randint(0, 4, (3, 2, 5), generator=torch.Generator().manual_seed(0))
    targets[0, 0, 0] = targets[1] = -100
    check("nll_loss_forward", normal(5, 4), targets[0, 0], weight, reduction, -100)
    check("nll_loss_forward", normal(5, 4), targets[1, 0], weight, reduction, -100)
    check("nll_loss_forward", normal(4), targets[0, 0, 1], weight, reduction, -100)
    check("nll_loss2d_forward", normal(3, 4, 2, 5), targets, weight, reduction, -100)
    for wrong in (-1, 4):
        with pytest.raises(IndexError):
            check("nll_loss_forward", normal(5, 4), torch.full((5,), wrong), weight, reduction, -100)
        overload = torch.ops.aten.nll_loss_forward.default
        with pytest.raises(IndexError):
            DECOMPOSITIONS[overload](normal(5, 4), torch.full((5,), wrong), weight, reduction, -100)


@pytest.mark.parametrize("reduction", [0, 1, 2])
def test_soft_margin_loss(reduction: int) -> None:
    """e^12 is beyond the halves, so that their loss is infinite in eager."""
    target = torch.tensor([1.0, -1.0, 1.0, 1.0])
    for dtype in (torch.float32, torch.bfloat16, torch.float16):
        for x in (torch.tensor([-12.0, 3.0, 0.5, 0.0]), torch.tensor([1.0, 3.0, 0.5, -0.0])):
            check("soft_margin_loss", x.to(dtype), target.to(dtype), reduction)
            check("soft_margin_loss", x.to(dtype), target, reduction)
            grad = torch.ones_like(target) if reduction == 0 else torch.tensor(1.0)
            check("soft_margin_loss_backward", grad.to(dtype), 8 * x.to(dtype), target.to(dtype), reduction)
