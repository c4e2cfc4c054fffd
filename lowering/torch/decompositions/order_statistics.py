"""Medians, quantiles by rank and modes, all read off a stable sort."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import torch
from torch import Tensor

aten = torch.ops.aten


def _sorted(x: Tensor, dim: int) -> tuple[Tensor, Tensor]:
    result = torch.sort(x, stable=True, dim=dim)
    return result.values, result.indices


def _picked(values: Tensor, places: Tensor, rank: Tensor, dim: int, keepdim: bool) -> tuple[Tensor, Tensor]:
    """The elements at `rank`, which keeps the dim with extent 1."""
    found = values.gather(dim, rank), places.gather(dim, rank)
    return found if keepdim else (found[0].squeeze(dim), found[1].squeeze(dim))


def _alone(x: Tensor) -> tuple[Tensor, Tensor]:
    return x.clone(), torch.zeros([], dtype=torch.int64, device=x.device)


def kth_value(x: Tensor, k: int, dim: int = -1, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    """The k-th smallest element, counted from 1, and the first place that a stable sort takes it from."""
    if x.dim() == 0:
        return _alone(x)
    values, places = _sorted(x, dim)
    found = values.narrow(dim, k - 1, 1), places.narrow(dim, k - 1, 1)
    found = found if keepdim else (found[0].squeeze(dim), found[1].squeeze(dim))
    return found[0].contiguous(), found[1].contiguous()


def median_along(x: Tensor, dim: int, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    """The lower median; the first NaN where there is one."""
    if x.dim() == 0:
        return _alone(x)
    values, places = _sorted(x, dim)
    extent = x.size(dim)
    numbers = (x == x).sum(dim, keepdim=True)
    rank = torch.where(numbers < extent, numbers, (extent - 1) // 2)
    return _picked(values, places, rank, dim, keepdim)


def nan_median_along(x: Tensor, dim: int, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    """The lower median of the numbers; NaN where there are none."""
    if x.dim() == 0:
        return _alone(x)
    values, places = _sorted(x, dim)
    numbers = (x == x).sum(dim, keepdim=True)
    return _picked(values, places, ((numbers - 1) // 2).clamp(min=0), dim, keepdim)


def _of_all(along: Callable[[Tensor, int], tuple[Tensor, Tensor]]) -> Callable[[Tensor], Tensor]:
    """The median of all elements; NaN (of integers, the smallest one) of none."""

    def function(x: Tensor) -> Tensor:
        if x.numel() == 0:
            empty = float("nan") if x.dtype.is_floating_point else torch.iinfo(x.dtype).min
            return torch.full([], empty, dtype=x.dtype, device=x.device)
        return along(x.reshape(-1), 0)[0]

    return function


def mode(x: Tensor, dim: int = -1, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    """The most frequent element, the smallest of several, and its last place: the end of the longest run of a sort."""
    if x.dim() == 0:
        return _alone(x)
    values, places = _sorted(x, dim)
    extent = x.size(dim)
    shape = [extent if d == dim % x.dim() else 1 for d in range(x.dim())]
    at = torch.arange(extent, device=x.device).view(shape).expand(x.shape)
    before = values.gather(dim, (at - 1).clamp(min=0))
    starts = torch.where((values != before) | (at == 0), at, torch.zeros_like(at))
    lengths = at - torch.cummax(starts, dim).values
    rank = lengths.argmax(dim, keepdim=True)
    return _picked(values, places, rank, dim, keepdim)


DECOMPOSITIONS: Mapping[Any, Callable[..., Any]] = MappingProxyType(
    {
        aten.kthvalue.default: kth_value,
        aten.median.default: _of_all(median_along),
        aten.median.dim: median_along,
        aten.nanmedian.default: _of_all(nan_median_along),
        aten.nanmedian.dim: nan_median_along,
        aten.mode.default: mode,
    }
)
