"""Distances between rows in the p-norm, and their gradients. Differences are taken first: no cancellation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import inf
from types import MappingProxyType
from typing import Any

import torch
from torch import Tensor

aten = torch.ops.aten


def norms(difference: Tensor, p: float) -> Tensor:
    """The p-norm over the last dim; for p = 0 how many elements are not 0."""
    if difference.size(-1) == 0:
        return difference.sum(-1)
    size = difference.abs()
    if p == 0:
        return (difference != 0).to(difference.dtype).sum(-1)
    if p == inf:
        return size.amax(-1)
    if p == 1:
        return size.sum(-1)
    return (size * size).sum(-1).sqrt() if p == 2 else size.pow(p).sum(-1).pow(1 / p)


def slopes(difference: Tensor, distance: Tensor, p: float) -> Tensor:
    """The derivative of each distance by each difference; 0 where the distance is 0."""
    far = distance.unsqueeze(-1)
    sign = difference.sign()
    if p == 0:
        return torch.zeros_like(difference)
    if p == 1:
        return sign
    if p == inf:
        return torch.where(difference.abs() == far, sign, 0)
    if p == 2:
        return torch.where(far == 0, 0, difference / far)
    size = difference.abs()
    flat = (far == 0) | ((size == 0) & (p < 1))
    return torch.where(flat, 0, sign * size.pow(p - 1) / far.pow(p - 1))


def between(x1: Tensor, x2: Tensor) -> Tensor:
    """Each row of x1 less each row of x2: [..., p, r, m]."""
    return x1.unsqueeze(-2) - x2.unsqueeze(-3)


def cdist_forward(x1: Tensor, x2: Tensor, p: float, compute_mode: int | None) -> Tensor:
    """The distance of each row of x1 from each row of x2."""
    if x1.dtype != x2.dtype:
        return NotImplemented  # eager raises
    return norms(between(x1, x2), p)


def cdist_backward(grad: Tensor, x1: Tensor, x2: Tensor, p: float, cdist: Tensor) -> Tensor:
    """The gradient of x1."""
    return (grad.unsqueeze(-1) * slopes(between(x1, x2), cdist, p)).sum(-2)


def pairs(x: Tensor) -> tuple[Tensor, Tensor]:
    """Rows i and j of all pairs i < j, in order."""
    i, j = torch.triu_indices(x.size(0), x.size(0), 1, device=x.device).unbind(0)
    return i, j


def pdist_forward(x: Tensor, p: float = 2) -> Tensor:
    """The distances of all pairs of rows."""
    i, j = pairs(x)
    return norms(x[i] - x[j], p)


def pdist_backward(grad: Tensor, x: Tensor, p: float, pdist: Tensor) -> Tensor:
    """The gradient of the rows."""
    i, j = pairs(x)
    parts = grad.unsqueeze(-1) * slopes(x[i] - x[j], pdist, p)
    return torch.zeros_like(x).index_add(0, i, parts).index_add(0, j, -parts)


DECOMPOSITIONS: Mapping[Any, Callable[..., Any]] = MappingProxyType(
    {
        aten._cdist_forward.default: cdist_forward,
        aten._cdist_backward.default: cdist_backward,
        aten._pdist_forward.default: pdist_forward,
        aten._pdist_backward.default: pdist_backward,
    }
)
