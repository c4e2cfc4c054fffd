"""Uninitialised tensors whose strides leave holes in memory, or make elements share it: a view of a dense vector."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import torch
from torch import Tensor

aten = torch.ops.aten


def empty_strided(
    size: Sequence[int],
    stride: Sequence[int],
    *,
    dtype: torch.dtype | None = None,
    layout: torch.layout | None = None,
    device: torch.device | None = None,
    pin_memory: bool | None = None,
) -> Tensor:
    """A tensor of undefined values with these strides; a dense one is left to the importer."""
    if _is_dense(size, stride):
        return NotImplemented
    reach = 1 + sum((n - 1) * s for n, s in zip(size, stride, strict=True)) if all(size) else 0
    memory = torch.empty([reach], dtype=dtype, layout=layout or torch.strided, device=device)
    return memory.as_strided(size, stride)


def new_empty_strided(
    self: Tensor,
    size: Sequence[int],
    stride: Sequence[int],
    *,
    dtype: torch.dtype | None = None,
    layout: torch.layout | None = None,
    device: torch.device | None = None,
    pin_memory: bool | None = None,
) -> Tensor:
    """`empty_strided` with the dtype and device of self where none is given."""
    return empty_strided(
        size, stride, dtype=dtype or self.dtype, layout=layout, device=device or self.device, pin_memory=pin_memory
    )


def _is_dense(size: Sequence[int], stride: Sequence[int]) -> bool:
    """Whether every place of the memory is one element's."""
    step = 1
    for extent, own in sorted(zip(size, stride, strict=True), key=lambda pair: (pair[1], pair[0])):
        if extent != 1 and own != step:
            return False
        step *= extent
    return True


DECOMPOSITIONS: Mapping[Any, Callable[..., Any]] = MappingProxyType(
    {aten.empty_strided.default: empty_strided, aten.new_empty_strided.default: new_empty_strided}
)
