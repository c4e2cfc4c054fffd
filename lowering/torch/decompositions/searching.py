"""Binary search in sorted rows, and counts of the cells that a range is cut into."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import torch
from torch import Tensor

aten = torch.ops.aten


def _is_before(x: Tensor, value: Tensor, right: bool) -> Tensor:
    """Whether the value belongs behind x; as eager has it, NaN on either side counts as behind."""
    return ~((x > value) if right else (x >= value))


def search(rows: Tensor, values: Tensor, right: bool, sorter: Tensor | None) -> Tensor:
    """Where each value belongs in its row, or in the only one. As many steps as the row's length has bits."""
    extent: int | torch.SymInt = rows.size(-1)
    if isinstance(extent, torch.SymInt):  # the number of steps is not known: count what each value belongs behind
        ordered = rows if sorter is None else rows.gather(-1, sorter)
        ordered = ordered if rows.dim() == 1 else ordered.unsqueeze(-2)
        return _is_before(ordered, values.unsqueeze(-1), right).sum(-1)
    low, high = torch.zeros_like(values, dtype=torch.int64), torch.full_like(values, extent, dtype=torch.int64)
    if not extent:
        return low

    def element(at: Tensor) -> Tensor:
        if rows.dim() == 1:
            flat = at.reshape(-1)
            return rows.index_select(0, flat if sorter is None else sorter.index_select(0, flat)).reshape(at.shape)
        return rows.gather(-1, at if sorter is None else sorter.gather(-1, at))

    for _ in range(int(extent).bit_length()):
        middle = low + ((high - low) >> 1)
        behind = _is_before(element(middle.clamp(max=extent - 1)), values, right)
        searching = low < high
        low = torch.where(searching & behind, middle + 1, low)
        high = torch.where(searching & ~behind, middle, high)
    return low


def _typed(places: Tensor, out_int32: bool) -> Tensor:
    return places.to(torch.int32) if out_int32 else places


def search_sorted(
    sorted_sequence: Tensor,
    self: Tensor | float,
    *,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
    sorter: Tensor | None = None,
) -> Tensor:
    """Before (`right`: behind) which element of its row each value belongs."""
    rows = sorted_sequence
    values = self if isinstance(self, Tensor) else rows.new_full([], self)
    scalar = values.dim() == 0 and rows.dim() > 1
    found = search(rows, values.reshape(1) if scalar else values, right or side == "right", sorter)
    return _typed(found.reshape(values.shape) if scalar else found, out_int32)


def bucketize(self: Tensor | float, boundaries: Tensor, *, out_int32: bool = False, right: bool = False) -> Tensor:
    """`search_sorted` in one row, where dtypes may differ."""
    values = self if isinstance(self, Tensor) else boundaries.new_full([], self)
    common = torch.promote_types(values.dtype, boundaries.dtype)
    return _typed(search(boundaries.to(common), values.to(common), right, None), out_int32)


DECOMPOSITIONS: Mapping[Any, Callable[..., Any]] = MappingProxyType(
    {
        aten.searchsorted.Tensor: search_sorted,
        aten.searchsorted.Scalar: search_sorted,
        aten.bucketize.Tensor: bucketize,
        aten.bucketize.Scalar: bucketize,
    }
)
