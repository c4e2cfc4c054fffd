"""Embedding bags: sums, means and maxima of rows of a table, their gradients, and rows brought to a largest norm."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import torch
from torch import Tensor

from .precision import computed

aten = torch.ops.aten

SUM, MEAN, MAX = 0, 1, 2
Bags = tuple[Tensor, Tensor, Tensor, Tensor]


def bag_numbers(offsets: Tensor, bags: int, count: int | torch.SymInt) -> Tensor:
    """The bag of each of `count` indices: how many bags start at or before it, less one."""
    starts = torch.zeros(count + 1, dtype=torch.int64, device=offsets.device)
    starts = starts.index_add(0, offsets[:bags].to(torch.int64), torch.ones_like(offsets[:bags], dtype=torch.int64))
    return (starts.cumsum(0) - 1)[:count]


def embedding_bag(
    weight: Tensor,
    indices: Tensor,
    offsets: Tensor,
    scale_grad_by_freq: bool = False,
    mode: int = SUM,
    sparse: bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int = -1,
) -> Bags:
    """(rows combined for each bag, the bag of each index, the number of rows of each bag, the rows of the maxima).

    Rows at padding_idx do not count; a bag without rows gives zeros. Sums are in the computation dtype.
    """
    bags = offsets.size(0) - (1 if include_last_offset else 0)
    bag = bag_numbers(offsets, bags, indices.size(0))
    counted = indices != padding_idx if padding_idx >= 0 else torch.ones_like(indices, dtype=torch.bool)
    sizes = torch.zeros(bags, dtype=torch.int64, device=bag.device).index_add(0, bag, counted.to(torch.int64))
    rows = computed(weight[indices])
    if mode == MAX:
        output, places = _maxima(rows, indices, bag, counted, sizes)
        return output.to(weight.dtype), bag.to(offsets.dtype), sizes.to(offsets.dtype), places.to(offsets.dtype)
    if per_sample_weights is not None:
        rows = rows * computed(per_sample_weights).unsqueeze(1)
    rows = torch.where(counted.unsqueeze(1), rows, 0)
    output = torch.zeros(bags, weight.size(1), dtype=rows.dtype, device=rows.device).index_add(0, bag, rows)
    if mode == MEAN:
        output = output / sizes.clamp(min=1).unsqueeze(1)
    sizes = sizes.to(offsets.dtype)
    return output.to(weight.dtype), bag.to(offsets.dtype), sizes, sizes


def _maxima(rows: Tensor, indices: Tensor, bag: Tensor, counted: Tensor, sizes: Tensor) -> tuple[Tensor, Tensor]:
    """The largest element of each column of a bag, and the index of the first row that has it."""
    shape, count = (sizes.size(0), rows.size(1)), rows.size(0)
    rows = torch.where(counted.unsqueeze(1), rows, -torch.inf)
    wide = bag.unsqueeze(1).expand_as(rows)
    lowest = torch.full(shape, -torch.inf, dtype=rows.dtype, device=rows.device)
    top = lowest.scatter_reduce(0, wide, rows, "amax")
    order = torch.arange(count, device=rows.device).unsqueeze(1).expand_as(rows)
    best = counted.unsqueeze(1) & (rows == top[bag])
    last = torch.full(shape, count, dtype=torch.int64, device=rows.device)
    first = last.scatter_reduce(0, wide, torch.where(best, order, count), "amin")
    padded = torch.cat([indices.to(torch.int64), torch.zeros(1, dtype=torch.int64, device=rows.device)])
    return torch.where(sizes.unsqueeze(1) > 0, top, 0), padded[first]


def embedding_bag_dense_backward(
    grad: Tensor,
    indices: Tensor,
    offset2bag: Tensor,
    bag_size: Tensor,
    maximum_indices: Tensor,
    num_weights: int,
    scale_grad_by_freq: bool,
    mode: int,
    per_sample_weights: Tensor | None,
    padding_idx: int = -1,
) -> Tensor:
    """The gradient of the table: what each bag got, given to the rows that it read.

    NotImplemented for frequencies on a CPU, where eager divides by those of other rows.
    """
    if scale_grad_by_freq and grad.device.type == "cpu":
        return NotImplemented
    wide = computed(grad)
    table = torch.zeros(num_weights, grad.size(1), dtype=wide.dtype, device=grad.device)
    if mode == MAX:
        wide = torch.where(bag_size.unsqueeze(1) > 0, wide, 0)
        return table.scatter_add(0, maximum_indices.to(torch.int64), wide).to(grad.dtype)
    if mode == MEAN:
        wide = wide / bag_size.clamp(min=1).unsqueeze(1)
    rows = wide[offset2bag]
    if per_sample_weights is not None:
        rows = rows * computed(per_sample_weights).unsqueeze(1)
    if scale_grad_by_freq:
        uses = torch.zeros(num_weights, dtype=torch.int64, device=grad.device)
        rows = rows / uses.index_add(0, indices, torch.ones_like(indices, dtype=torch.int64))[indices].unsqueeze(1)
    if padding_idx >= 0:
        rows = torch.where((indices != padding_idx).unsqueeze(1), rows, 0)
    return table.index_add(0, indices, rows).to(grad.dtype)


def embedding_bag_backward(
    grad: Tensor,
    indices: Tensor,
    offsets: Tensor,
    offset2bag: Tensor,
    bag_size: Tensor,
    maximum_indices: Tensor,
    num_weights: int,
    scale_grad_by_freq: bool,
    mode: int,
    sparse: bool,
    per_sample_weights: Tensor | None,
    padding_idx: int = -1,
) -> Tensor:
    """The dense gradient of the table; NotImplemented for a sparse one."""
    if sparse:
        return NotImplemented
    if offset2bag.size(0) != indices.size(0):
        offset2bag = bag_numbers(offsets, offsets.size(0), indices.size(0))
    rest = (num_weights, scale_grad_by_freq, mode, per_sample_weights, padding_idx)
    return embedding_bag_dense_backward(grad, indices, offset2bag, bag_size, maximum_indices, *rest)


def per_sample_weights_backward(
    grad: Tensor,
    weight: Tensor,
    indices: Tensor,
    offsets: Tensor,
    offset2bag: Tensor,
    mode: int,
    padding_idx: int = -1,
) -> Tensor:
    """The gradient of each sample's weight: its row times the gradient of its bag."""
    if offset2bag.size(0) != indices.size(0):
        offset2bag = bag_numbers(offsets, offsets.size(0), indices.size(0))
    products = (computed(grad)[offset2bag] * computed(weight[indices])).sum(1)
    if padding_idx >= 0:
        products = torch.where(indices != padding_idx, products, 0)
    return products.to(grad.dtype)


def embedding_renorm(weight: Tensor, indices: Tensor, max_norm: float, norm_type: float) -> Tensor:
    """weight with each row that `indices` names scaled by max_norm / (norm + 1e-7) where its norm is above max_norm."""
    used = torch.zeros(weight.size(0), dtype=torch.bool, device=weight.device)
    used = used.index_fill(0, indices.reshape(-1).to(torch.int64), True)
    norms: Tensor = aten.linalg_vector_norm.default(weight, norm_type, [1])
    norms = norms.to(torch.float64)
    wide = computed(weight)
    scale = (max_norm / (norms + 1e-7)).to(wide.dtype)
    scaled = (wide * scale.unsqueeze(1)).to(weight.dtype)
    return torch.where((used & (norms > max_norm)).unsqueeze(1), scaled, weight)


DECOMPOSITIONS: Mapping[Any, Callable[..., Any]] = MappingProxyType(
    {
        aten._embedding_bag.default: embedding_bag,
        aten._embedding_bag_forward_only.default: embedding_bag,
        aten._embedding_bag_backward.default: embedding_bag_backward,
        aten._embedding_bag_dense_backward.default: embedding_bag_dense_backward,
        aten._embedding_bag_per_sample_weights_backward.default: per_sample_weights_backward,
        aten.embedding_renorm.default: embedding_renorm,
    }
)
