"""Histograms over ranges and edges, the distance of two tensors, and scaling by powers of two."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, cast

import torch
from torch import Tensor

from .searching import search

aten = torch.ops.aten


def _limits(x: Tensor, low: float, high: float, margin: float) -> tuple[Tensor, Tensor]:
    """The range that is cut: the data's own if both limits are equal, wider by the margin if that is a point. One that
    is not finite is an error of the run."""
    if low != high:
        return torch.full([], low, dtype=x.dtype, device=x.device), torch.full([], high, dtype=x.dtype, device=x.device)
    if not x.numel():
        bounds = torch.full([], low, dtype=x.dtype, device=x.device)
        return bounds - margin, bounds + margin
    first, last = x.amin(), x.amax()
    aten._assert_async.msg(first.isfinite() & last.isfinite(), "the range of the data is not finite")
    point = first == last
    return torch.where(point, first - margin, first), torch.where(point, last + margin, last)


def _counted(cells: Tensor, inside: Tensor, bins: int, weight: Tensor | None, dtype: torch.dtype) -> Tensor:
    """How many elements (or what weight) each cell holds."""
    table = torch.arange(bins, device=cells.device).unsqueeze(1)
    here = (cells.unsqueeze(0) == table) & inside.unsqueeze(0)
    if weight is None:
        return here.sum(1).to(dtype)
    return torch.where(here, weight.reshape(1, -1), torch.zeros([], dtype=dtype, device=cells.device)).sum(1)


def histc(self: Tensor, bins: int = 100, min: float = 0, max: float = 0) -> Tensor:
    """How many elements lie in each of `bins` cells of equal width; the last one holds its right edge."""
    x = self.reshape(-1)
    low, high = _limits(x, min, max, 1.0)
    inside = (x >= low) & (x <= high)
    cells = torch.where(inside, (x - low) * bins / (high - low), torch.zeros_like(x)).to(torch.int64)
    return _counted(cells.clamp(max=bins - 1), inside, bins, None, x.dtype)


def _histogram(x: Tensor, edges: Tensor, weight: Tensor | None, density: bool) -> tuple[Tensor, Tensor]:
    """Counts in the cells between edges, the last of which holds its right edge; as densities they integrate to 1."""
    bins = edges.size(0) - 1
    inside = (x >= edges[0]) & (x <= edges[bins])
    cells = (search(edges, x, True, None) - 1).clamp(max=bins - 1)
    counts = _counted(cells, inside, bins, weight, x.dtype)
    if density:
        counts = counts / counts.sum() / (edges[1:] - edges[:-1])
    return counts, edges


def histogram_of_count(
    self: Tensor,
    bins: int = 100,
    *,
    range: Sequence[float] | None = None,
    weight: Tensor | None = None,
    density: bool = False,
) -> tuple[Tensor, Tensor]:
    """A histogram over `bins` cells of equal width in `range`, or in the range of the data."""
    x = self.reshape(-1)
    first, last = range if range is not None else (0.0, 0.0)
    low, high = _limits(x, first, last, 0.5)
    steps = torch.arange(bins + 1, device=x.device)
    step = (high - low) / bins
    # The halves count from their own ends, as linspace does.
    edges = torch.where(steps < (bins + 1) // 2, low + step * steps, high - step * (bins - steps))
    return _histogram(x, edges.to(x.dtype), weight, density)


def histogram_of_edges(
    self: Tensor, bins: Tensor, *, weight: Tensor | None = None, density: bool = False
) -> tuple[Tensor, Tensor]:
    """A histogram over the cells between the given edges."""
    return _histogram(self.reshape(-1), bins.clone(), weight, density)


def distance(self: Tensor, other: Tensor, p: float = 2) -> Tensor:
    """The p-norm of the difference."""
    return cast(Any, torch.linalg).vector_norm(self - other, p)


def scale_by_power(self: Tensor, other: Tensor) -> Tensor:
    """self 2^other, where the power is rounded to its own dtype first."""
    return self * torch.pow(2.0, other)


DECOMPOSITIONS: Mapping[Any, Callable[..., Any]] = MappingProxyType(
    {
        aten.histc.default: histc,
        aten.histogram.bin_ct: histogram_of_count,
        aten.histogram.bins_tensor: histogram_of_edges,
        aten.dist.default: distance,
        aten.ldexp.Tensor: scale_by_power,
    }
)
