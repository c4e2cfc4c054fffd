"""Interpolation as weighted sums along one dim after another: antialiased, of bytes, and the gradients of all kinds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import torch
from torch import Tensor
from torch._prims_common import suggest_memory_format
from torch.utils._mode_utils import no_dispatch

from .precision import computed
from .taps import Taps, antialiased, cubic, linear, nearest, nearest_exact

aten = torch.ops.aten

Kind = Callable[[int, int, bool, float | None, bool], Taps]
"""(input size, output size, align_corners, given scale, double precision) -> taps."""


def table(values: Sequence[Any], dtype: torch.dtype, device: torch.device) -> Tensor:
    """A tensor of known numbers in whatever trace is on. torch.tensor would detach it in place, which a functional
    trace refuses."""
    with no_dispatch():
        known = torch.tensor(values, dtype=dtype)
    lifted: Tensor = aten.lift_fresh_copy.default(known)
    return lifted.to(device)


def gathered(x: Tensor, dim: int, taps: Taps) -> tuple[Tensor, Tensor]:
    """x at the taps, with a dim for them after `dim`, and their weights at that shape; 0 where there is no tap."""
    count = len(taps.places[0])
    places = table(taps.places, torch.int64, x.device)
    split = [*x.shape[:dim], len(taps.places), count, *x.shape[dim + 1 :]]
    rows = x.index_select(dim, places.reshape(-1)).reshape(split)
    trailing = [1] * (x.dim() - 1 - dim)
    weights = table(taps.weights, x.dtype, x.device).reshape([*places.shape, *trailing])
    if taps.ragged:
        present = table(taps.present, torch.bool, x.device).reshape([*places.shape, *trailing])
        rows = torch.where(present, rows, 0)
    return rows, weights


def resampled(x: Tensor, dim: int, taps: Taps) -> Tensor:
    """The weighted sum of the taps of each place of the result."""
    rows, weights = gathered(x, dim, taps)
    return (rows * weights).sum(dim + 1)


def resampled_bytes(x: Tensor, dim: int, taps: Taps) -> Tensor:
    """As eager does it for uint8: integer weights, rounded half up, cut to 0..255."""
    whole, precision = taps.as_integers()
    rows, weights = gathered(x.to(torch.int32), dim, whole)
    total = (rows * weights).sum(dim + 1, dtype=torch.int32)
    return ((total + (1 << (precision - 1))) >> precision).clamp(0, 255).to(torch.uint8)


def adjoint(grad: Tensor, dim: int, size: int, taps: Taps) -> Tensor:
    """What the places of an input of `size` get back: the transpose of `resampled`."""
    count = len(taps.places[0])
    places = table(taps.places, torch.int64, grad.device).reshape(-1)
    trailing = [1] * (grad.dim() - 1 - dim)
    weights = table(taps.weights, grad.dtype, grad.device).reshape([-1, count, *trailing])
    parts = (grad.unsqueeze(dim + 1) * weights).flatten(dim, dim + 1)
    shape = [*grad.shape[:dim], size, *grad.shape[dim + 1 :]]
    return torch.zeros(shape, dtype=grad.dtype, device=grad.device).index_add(dim, places, parts)


def forward(x: Tensor, output: Sequence[int], kind: Kind, align: bool, scales: Sequence[float | None]) -> Tensor:
    """x[n, c, ...] at the sizes `output`, the last dim first; a dim whose size stays is copied, whatever its scale."""
    y, first = computed(x), x.dim() - len(output)
    for i in reversed(range(len(output))):
        if x.size(first + i) == output[i]:
            continue
        taps = kind(x.size(first + i), output[i], align, scales[i], x.dtype in (torch.float64, torch.uint8))
        y = (resampled_bytes if x.dtype == torch.uint8 else resampled)(y, first + i, taps)
    y = y.to(x.dtype)
    return y.contiguous(memory_format=suggest_memory_format(x)) if x.dim() in (4, 5) else y


def backward(
    grad: Tensor,
    output: Sequence[int],
    sizes: Sequence[int],
    kind: Kind,
    align: bool,
    scales: Sequence[float | None],
) -> Tensor:
    """The gradient of an input of `sizes`."""
    wide, first = computed(grad), grad.dim() - len(output)
    for i in range(len(output)):
        taps = kind(sizes[first + i], output[i], align, scales[i], grad.dtype == torch.float64)
        wide = adjoint(wide, first + i, sizes[first + i], taps)
    result = wide.to(grad.dtype)
    return result.contiguous(memory_format=suggest_memory_format(grad)) if grad.dim() in (4, 5) else result.contiguous()


def smooth(kind: Kind) -> tuple[Callable[..., Tensor], Callable[..., Tensor]]:
    """(forward, backward) of a kind that has align_corners."""

    def run(x: Tensor, output: Sequence[int], align: bool, *scales: float | None) -> Tensor:
        if x.device.type == "cpu" and output[-1] == 1 and max(output) > 1 and kind is not linear:
            return NotImplemented  # eager's CPU kernel repeats its first row there
        return forward(x, output, kind, align, [*scales, None, None, None])

    def gradient(
        grad: Tensor, output: Sequence[int], sizes: Sequence[int], align: bool, *scales: float | None
    ) -> Tensor:
        return backward(grad, output, sizes, kind, align, [*scales, None, None, None])

    return run, gradient


def stepwise(kind: Kind) -> Callable[..., Tensor]:
    """The gradient of a kind that takes the nearest element."""

    def gradient(grad: Tensor, output: Sequence[int], sizes: Sequence[int], *scales: float | None) -> Tensor:
        return backward(grad, output, sizes, kind, False, [*scales, None, None, None])

    return gradient


_BILINEAR_AA, _BILINEAR_AA_GRADIENT = smooth(antialiased("linear"))
_BICUBIC_AA, _BICUBIC_AA_GRADIENT = smooth(antialiased("cubic"))
_, _LINEAR_GRADIENT = smooth(linear)
_, _CUBIC_GRADIENT = smooth(cubic)

DECOMPOSITIONS: Mapping[Any, Callable[..., Any]] = MappingProxyType(
    {
        aten._upsample_bilinear2d_aa.default: _BILINEAR_AA,
        aten._upsample_bicubic2d_aa.default: _BICUBIC_AA,
        aten._upsample_bilinear2d_aa_backward.default: _BILINEAR_AA_GRADIENT,
        aten._upsample_bicubic2d_aa_backward.default: _BICUBIC_AA_GRADIENT,
        aten.upsample_linear1d_backward.default: _LINEAR_GRADIENT,
        aten.upsample_bilinear2d_backward.default: _LINEAR_GRADIENT,
        aten.upsample_trilinear3d_backward.default: _LINEAR_GRADIENT,
        aten.upsample_bicubic2d_backward.default: _CUBIC_GRADIENT,
        aten.upsample_nearest1d_backward.default: stepwise(nearest),
        aten.upsample_nearest2d_backward.default: stepwise(nearest),
        aten.upsample_nearest3d_backward.default: stepwise(nearest),
        aten._upsample_nearest_exact1d_backward.default: stepwise(nearest_exact),
        aten._upsample_nearest_exact2d_backward.default: stepwise(nearest_exact),
        aten._upsample_nearest_exact3d_backward.default: stepwise(nearest_exact),
    }
)
