"""Gradients of ops that read elements at computed places or move them: each element's gradient goes back to where the
element was read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import torch
from torch import Tensor

from .precision import computed

aten = torch.ops.aten


def replication_pad(grad: Tensor, x: Tensor, padding: Sequence[int]) -> Tensor:
    """Every element outside goes back to the edge that was repeated."""
    total = computed(grad)
    for number in range(len(padding) // 2):
        dim = x.dim() - 1 - number
        places = (torch.arange(grad.shape[dim], device=grad.device) - padding[2 * number]).clamp(0, x.shape[dim] - 1)
        shape = [x.shape[dim] if i == dim else size for i, size in enumerate(total.shape)]
        total = aten.index_add.default(grad.new_zeros(shape, dtype=total.dtype), dim, places, total)
    return total.to(grad.dtype)


def masked_scatter(grad: Tensor, mask: Tensor, sizes: Sequence[int]) -> Tensor:
    """The gradients at the places of the mask in order, then zeros."""
    count = 1
    for size in sizes:
        count *= size
    chosen = mask.expand(grad.shape).reshape(-1)
    places = torch.where(chosen, chosen.long().cumsum(0) - 1, count)
    result = grad.new_zeros(count + 1)
    return aten.scatter.src(result, 0, places.clamp(0, count), grad.reshape(-1))[:count].reshape(list(sizes))


def transposed_convolution(
    grad: Tensor,
    x: Tensor,
    weight: Tensor,
    bias_sizes: Sequence[int] | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    transposed: bool,
    output_padding: Sequence[int],
    groups: int,
    output_mask: Sequence[bool],
) -> Any:
    """A transposed convolution is the gradient of a convolution, whose own gradients are these; a plain one is left
    whole."""
    rank = grad.dim() - 2
    step = [stride[i if len(stride) > 1 else 0] for i in range(rank)]
    extra = [output_padding[i if len(output_padding) > 1 else 0] for i in range(rank)]
    if not transposed or any(a >= b for a, b in zip(extra, step, strict=True)):
        return NotImplemented
    rest = (stride, padding, dilation, False, [0] * rank, groups)
    results: list[Tensor | None] = [None, None, None]
    if output_mask[0]:
        results[0] = aten.convolution.default(grad, weight, None, *rest)
    if output_mask[1]:
        results[1] = aten.convolution_backward.default(x, grad, weight, None, *rest, [False, True, False])[1]
    if output_mask[2]:
        results[2] = grad.sum([0, *range(2, grad.dim())])
    return tuple(results)


def native_dropout(grad: Tensor, mask: Tensor, scale: float) -> Tensor:
    """grad mask scale. On a CPU the scaled mask is rounded first, as the noise is that eager's dropout keeps; on a GPU
    floats are rounded once."""
    if grad.is_floating_point() and grad.is_cuda:
        return (computed(grad) * mask * scale).to(grad.dtype)
    if grad.is_floating_point():
        return grad * (mask.type_as(grad) * scale)
    return grad * mask * scale


DECOMPOSITIONS: Mapping[Any, Callable[..., Any]] = MappingProxyType(
    {
        aten.replication_pad1d_backward.default: replication_pad,
        aten.replication_pad2d_backward.default: replication_pad,
        aten.replication_pad3d_backward.default: replication_pad,
        aten.masked_scatter_backward.default: masked_scatter,
        aten.convolution_backward.default: transposed_convolution,
        aten.native_dropout_backward.default: native_dropout,
    }
)
