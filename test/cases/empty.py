"""Tensors without elements, without dimensions, and of one element."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, tensor

from .case import case


@case(lambda: (tensor(3.0),), report="pytorch#193265")
def running_sum_without_dimensions(x: Tensor):
    """Dimension 0 of a tensor without dimensions is allowed."""
    return torch.cumsum(x, 0)


@case(lambda: (torch.empty(0, 3),), report="pytorch#95370")
def place_of_the_smallest_of_no_rows(x: Tensor):
    """No rows, no places."""
    return x.argmin(1)


@case(lambda: (torch.empty(0, 3),))
def reductions_of_nothing(x: Tensor):
    """0 for a sum, 1 for a product, NaN for a mean."""
    return x.sum(), x.sum(0), x.prod(0), x.mean(0), x.mean()


@case(lambda: (torch.empty(2, 0), torch.empty(0, 3)))
def product_over_nothing(a: Tensor, b: Tensor):
    """A sum of no products is 0."""
    return a @ b


@case(lambda: (tensor([2.0]),))
def variance_of_one_element(x: Tensor):
    """NaN with Bessel's correction, 0 without."""
    return x.var(), x.var(correction=0), x.std()


@case(lambda: (tensor([[1.7641]]),), report="pytorch#143720")
def average_pool_wider_than_its_input(x: Tensor):
    """The padding counts."""
    return F.avg_pool1d(x, 4, 3, 2)


@case(lambda: (tensor(0, dtype=torch.uint8),), report="pytorch#197807")
def running_logsumexp_of_a_byte(x: Tensor):
    """Not defined for integers: it raises."""
    return torch.logcumsumexp(x, 0)
