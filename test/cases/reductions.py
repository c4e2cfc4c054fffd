"""Sums, variances, norms and losses."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, tensor

from .case import case


@case(lambda: (tensor([1e-30, 3e-30]), tensor([1e30, 3e30])), report="pytorch#197089")
def variance_of_tiny_and_huge_numbers(a: Tensor, b: Tensor):
    """Squares overflow and underflow where eager's do."""
    return a.var(), b.var(), a.std()


@case(lambda: (tensor([[2.0, 2.0, 2.0]]),))
def norms_of_a_constant_row(x: Tensor):
    """A variance of 0."""
    return F.layer_norm(x, (3,)), F.rms_norm(x, (3,))


@case(lambda: (torch.ones(70000).half(),))
def sum_beyond_the_largest_half(x: Tensor):
    """Summed in a wider type: the sum is inf, the mean is 1."""
    return x.sum(), x.mean()


@case(lambda: (torch.full((1 << 20,), 0.1),))
def sum_of_a_million(x: Tensor):
    """A sum of one accumulator would drift."""
    return x.sum()


@case(lambda: (torch.zeros(2, 3), tensor([-100, -100])), report="pytorch#75181")
def loss_with_every_target_ignored(x: Tensor, target: Tensor):
    """0 / 0."""
    return F.cross_entropy(x, target)


@case(lambda: (tensor([1.0, 3.0, 3.0], requires_grad=True),), gradient=True)
def gradient_of_equal_extremes_shared(x: Tensor):
    """amax gives each of equal extremes its share."""
    return x.amax() + x.max()


@case(lambda: (tensor([0.0, 4.0], requires_grad=True),), gradient=True)
def gradient_past_a_nan(x: Tensor):
    """The branch that is not taken has an infinite slope."""
    return torch.where(x > 0, torch.sqrt(x), 0.0 * x).sum()
