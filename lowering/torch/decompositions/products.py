"""Products of three tensors."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import torch
from torch import Tensor

from .precision import computed

aten = torch.ops.aten


def trilinear(
    i1: Tensor,
    i2: Tensor,
    i3: Tensor,
    expand1: Sequence[int],
    expand2: Sequence[int],
    expand3: Sequence[int],
    sumdim: Sequence[int],
    unroll_dim: int = 1,
) -> Tensor:
    """The product of three tensors, each with dims of extent 1 inserted where `expand` says, summed over `sumdim`."""
    operands: list[Tensor] = []
    for operand, dims in zip((i1, i2, i3), (expand1, expand2, expand3), strict=True):
        wide = computed(operand)
        for dim in sorted(dims):
            wide = wide.unsqueeze(dim)
        operands.append(wide)
    product = operands[0] * operands[2] * operands[1]
    return product.sum(list(sumdim), dtype=product.dtype).to(i1.dtype)


DECOMPOSITIONS: Mapping[Any, Callable[..., Any]] = MappingProxyType({aten._trilinear.default: trilinear})
