"""Losses: where a class that does not exist is eager's IndexError, and where eager rounds between the steps."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import torch
from torch import Tensor

aten = torch.ops.aten

NONE, MEAN, SUM = 0, 1, 2


def _classes(x: Tensor) -> tuple[int, int]:
    """The dim of the classes, and how many there are."""
    dim = 0 if x.dim() == 1 else 1
    return dim, x.size(dim)


def picked(x: Tensor, target: Tensor) -> Tensor:
    """x[n, c, ...] at c = target[n, ...]. Negative classes count as beyond the last: they are not from the end."""
    dim, count = _classes(x)
    places = torch.where(target < 0, count, target)
    if x.dim() == 1:
        return aten.index.Tensor(x, [places])  # x[places] would read a 0-d tensor as a number
    others = [i for i in range(x.dim()) if i != dim]
    grid = [torch.arange(x.size(i), device=x.device) for i in others]
    shaped = [g.reshape([-1 if j == k else 1 for j in range(len(others))]) for k, g in enumerate(grid)]
    return aten.index.Tensor(x, [shaped[0], places, *shaped[1:]])


def nll_loss_forward(
    x: Tensor, target: Tensor, weight: Tensor | None, reduction: int, ignore_index: int
) -> tuple[Tensor, Tensor]:
    """(-weight[target] x[target], 0 at ignore_index, and reduced; the sum of the weights that it was divided by)."""
    dim, _ = _classes(x)
    if weight is not None:
        x = x * weight.reshape([-1 if i == dim else 1 for i in range(x.dim())])
    counts = target != ignore_index
    safe = torch.where(counts, target, 0)
    result = torch.where(counts, -picked(x, safe), 0)
    if reduction == NONE and x.dim() > 1:
        return result, torch.zeros([], dtype=x.dtype, device=x.device)
    total = counts.sum().to(x.dtype) if weight is None else torch.where(counts, picked(weight, safe), 0).sum()
    result = result.sum() if reduction != NONE else result
    return (result / total if reduction == MEAN else result), total


def soft_margin_loss(x: Tensor, target: Tensor, reduction: int = MEAN) -> Tensor:
    """log(1 + e^(-x t)), reduced; each step rounds to the type of x, and e^12 is infinite in f16.

    Eager multiplies in place: integers, and targets that would make x larger where it does not reduce, are its errors.
    """
    product = x.neg() * target
    if not x.is_floating_point() or (reduction == NONE and product.shape != x.shape):
        return NotImplemented
    loss = product.to(x.dtype).exp().log1p()
    return loss.mean() if reduction == MEAN else loss.sum() if reduction == SUM else loss


def soft_margin_loss_backward(grad: Tensor, x: Tensor, target: Tensor, reduction: int) -> Tensor:
    """-t z / (1 + z) grad with z = e^(-t x), over the number of elements for a mean; NaN for infinite z, as eager."""
    z = (-target * x).exp()
    norm = 1.0 / x.numel() if reduction == MEAN and x.numel() else 1.0
    return target * z * -norm / (z + 1) * grad


DECOMPOSITIONS: Mapping[Any, Callable[..., Any]] = MappingProxyType(
    {
        aten.nll_loss_forward.default: nll_loss_forward,
        aten.nll_loss2d_forward.default: nll_loss_forward,
        aten.soft_margin_loss.default: soft_margin_loss,
        aten.soft_margin_loss_backward.default: soft_margin_loss_backward,
    }
)
