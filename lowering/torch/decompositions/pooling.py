"""Max unpooling, and the gradients of pooling."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from types import MappingProxyType
from typing import Any

import torch
from torch import Tensor
from torch._prims_common import suggest_memory_format

from .precision import computed

aten = torch.ops.aten


def like_format(x: Tensor, like: Tensor) -> Tensor:
    """x in the memory format that eager takes from another tensor."""
    return x.contiguous(memory_format=suggest_memory_format(like)) if x.dim() in (4, 5) else x


def max_unpool(x: Tensor, indices: Tensor, output_size: Sequence[int], *settings: Sequence[int]) -> Tensor:
    """Zeros but for each element of x at its index in the flattened spatial dims of the output; contiguous on CUDA."""
    lead = list(x.shape[: x.dim() - len(output_size)])
    flat = [*lead, -1]
    zeros = x.new_zeros([*lead, prod(output_size)])
    result = zeros.scatter(-1, indices.reshape(flat), x.reshape(flat)).reshape([*lead, *output_size])
    return result if x.device.type == "cuda" else like_format(result, x)


def at_places(grad: Tensor, like: Tensor, indices: Tensor, spatial: int) -> Tensor:
    """grad added up at the places of the maxima in the flattened spatial dims."""
    lead = list(like.shape[: like.dim() - spatial])
    flat = [*lead, -1]
    zeros = torch.zeros([*lead, prod(like.shape[-spatial:])], dtype=computed(grad).dtype, device=grad.device)
    total = zeros.scatter_add(-1, indices.reshape(flat), computed(grad).reshape(flat))
    return like_format(total.to(grad.dtype).reshape(like.shape), like)


def max_pool3d_backward(grad: Tensor, x: Tensor, *settings: Any) -> Tensor:
    """The gradient of max_pool3d_with_indices; the indices are the last argument."""
    return at_places(grad, x, settings[-1], 3)


def adaptive_max_pool_backward(spatial: int) -> Callable[[Tensor, Tensor, Tensor], Tensor]:
    """The gradient of adaptive_max_pool2d or 3d."""
    return lambda grad, x, indices: at_places(grad, x, indices, spatial)


def fractional_max_pool_backward(spatial: int) -> Callable[..., Tensor]:
    """The gradient of fractional_max_pool2d or 3d."""

    def backward(grad: Tensor, x: Tensor, kernel: Sequence[int], output: Sequence[int], indices: Tensor) -> Tensor:
        return at_places(grad, x, indices, spatial)

    return backward


def per_dim(values: Sequence[int], spatial: int, default: Sequence[int] = ()) -> list[int]:
    """One value for each spatial dim; one stands for all, none for the default."""
    given = list(values) or list(default)
    return given * spatial if len(given) == 1 else given


def avg_pool_backward(spatial: int) -> Callable[..., Tensor]:
    """The gradient of avg_pool2d or 3d: each window gives its elements its gradient over its divisor."""

    def backward(
        grad: Tensor,
        x: Tensor,
        kernel_size: Sequence[int],
        stride: Sequence[int],
        padding: Sequence[int],
        ceil_mode: bool,
        count_include_pad: bool,
        divisor_override: int | None,
    ) -> Tensor:
        kernel = per_dim(kernel_size, spatial)
        steps, pads = per_dim(stride, spatial, kernel), per_dim(padding, spatial)
        sizes = list(x.shape[-spatial:])
        outputs = list(grad.shape[-spatial:])
        wide = computed(grad)
        starts = [torch.arange(n, device=x.device) * s - p for n, s, p in zip(outputs, steps, pads, strict=True)]
        if divisor_override is not None:
            wide = wide / divisor_override
        else:
            for i, (start, k, size, p) in enumerate(zip(starts, kernel, sizes, pads, strict=True)):
                end = (start + k).clamp(max=size + p)
                extent = end - start if count_include_pad else end.clamp(max=size) - start.clamp(min=0)
                wide = wide / extent.reshape([-1] + [1] * (spatial - 1 - i))
        total = spread(wide, sizes, [[start + j for j in range(k)] for start, k in zip(starts, kernel, strict=True)])
        return like_format(total.to(grad.dtype), x)

    return backward


def spread(grad: Tensor, sizes: Sequence[int], places: Sequence[Sequence[Tensor]]) -> Tensor:
    """grad added up, one dim after another, at each of the places of its dim; places outside do not count."""
    spatial = len(sizes)
    for i, (size, taps) in enumerate(zip(sizes, places, strict=True)):
        dim = grad.dim() - spatial + i
        shape = [*grad.shape[:dim], size, *grad.shape[dim + 1 :]]
        total = torch.zeros(shape, dtype=grad.dtype, device=grad.device)
        for tap in taps:
            inside = ((tap >= 0) & (tap < size)).reshape([-1] + [1] * (grad.dim() - 1 - dim))
            total = total.index_add(dim, tap.clamp(0, size - 1), torch.where(inside, grad, 0))
        grad = total
    return grad


def adaptive_avg_pool_backward(spatial: int) -> Callable[[Tensor, Tensor], Tensor]:
    """The gradient of adaptive_avg_pool2d or 3d."""

    def backward(grad: Tensor, x: Tensor) -> Tensor:
        wide = computed(grad)
        places: list[list[Tensor]] = []
        sizes = list(x.shape[-spatial:])
        for i, (size, cells) in enumerate(zip(sizes, grad.shape[-spatial:], strict=True)):
            cell = torch.arange(cells, device=x.device)
            start, end = (cell * size) // cells, ((cell + 1) * size + cells - 1) // cells
            wide = wide / (end - start).reshape([-1] + [1] * (spatial - 1 - i))
            largest = -(-size // cells) + (1 if size % cells else 0)
            # A cell that ends before has no such element: size is outside.
            places.append([torch.where(start + j < end, start + j, size) for j in range(largest)])
        return like_format(spread(wide, sizes, places).to(grad.dtype), x)

    return backward


DECOMPOSITIONS: Mapping[Any, Callable[..., Any]] = MappingProxyType(
    {
        aten.max_unpool2d.default: max_unpool,
        aten.max_unpool3d.default: max_unpool,
        aten.max_pool3d_with_indices_backward.default: max_pool3d_backward,
        aten.adaptive_max_pool2d_backward.default: adaptive_max_pool_backward(2),
        aten.adaptive_max_pool3d_backward.default: adaptive_max_pool_backward(3),
        aten.fractional_max_pool2d_backward.default: fractional_max_pool_backward(2),
        aten.fractional_max_pool3d_backward.default: fractional_max_pool_backward(3),
        aten.avg_pool2d_backward.default: avg_pool_backward(2),
        aten.avg_pool3d_backward.default: avg_pool_backward(3),
        aten._adaptive_avg_pool2d_backward.default: adaptive_avg_pool_backward(2),
        aten._adaptive_avg_pool3d_backward.default: adaptive_avg_pool_backward(3),
    }
)
