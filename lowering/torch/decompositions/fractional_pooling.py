"""Max pooling with windows at places that random numbers choose."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from types import MappingProxyType
from typing import Any

import torch
from torch import Tensor

aten = torch.ops.aten


def _intervals(samples: Tensor, size: int, output: int, kernel: int) -> Tensor:
    """Where the windows start: [n, c, output], from one random number for each channel."""
    if output == 1:
        return torch.full([*samples.shape, 1], size - kernel, dtype=torch.int64, device=samples.device)
    alpha = torch.full([], (size - kernel) / (output - 1), dtype=samples.dtype, device=samples.device)
    step = torch.arange(output, device=samples.device).to(samples.dtype)
    sample = samples.unsqueeze(-1)
    starts = ((step + sample) * alpha).to(torch.int64) - (sample * alpha).to(torch.int64)
    last = torch.arange(output, device=samples.device) == output - 1
    return torch.where(last, size - kernel, starts)


def fractional_max_pool(spatial: int) -> Callable[..., tuple[Tensor, Tensor]]:
    """Max pooling with windows at places that random samples choose, and the places of the maxima."""

    def forward(x: Tensor, kernel: Sequence[int], output: Sequence[int], samples: Tensor) -> tuple[Tensor, Tensor]:
        batched = x.unsqueeze(0) if x.dim() == spatial + 1 else x
        n, c = batched.shape[:2]
        sizes = list(batched.shape[2:])
        # In two dimensions the first number is the last dim's.
        columns = [spatial - 1 - i for i in range(spatial)] if spatial == 2 else list(range(spatial))
        starts = [
            _intervals(samples[:, :, column], size, out, k)
            for column, size, out, k in zip(columns, sizes, output, kernel, strict=True)
        ]
        places: list[Tensor] = []
        for offsets in product(*(range(k) for k in kernel)):
            position = torch.zeros([n, c] + [1] * spatial, dtype=torch.int64, device=x.device)
            for i, (start, offset, size) in enumerate(zip(starts, offsets, sizes, strict=True)):
                position = position * size + (start + offset).reshape(
                    [n, c] + [-1 if j == i else 1 for j in range(spatial)]
                )
            places.append(position)
        shape = [n, c, *output]
        best_place = places[0].expand(shape)
        flat = batched.reshape(n, c, -1)
        best = flat.gather(2, best_place.reshape(n, c, -1)).reshape(shape)
        for place in places[1:]:
            place = place.expand(shape)
            value = flat.gather(2, place.reshape(n, c, -1)).reshape(shape)
            better = (value > best) | value.isnan()
            best, best_place = torch.where(better, value, best), torch.where(better, place, best_place)
        lead = list(x.shape[: x.dim() - spatial])
        return best.reshape([*lead, *output]), best_place.reshape([*lead, *output])

    return forward


DECOMPOSITIONS: Mapping[Any, Callable[..., Any]] = MappingProxyType(
    {
        aten.fractional_max_pool2d.default: fractional_max_pool(2),
        aten.fractional_max_pool3d.default: fractional_max_pool(3),
    }
)
