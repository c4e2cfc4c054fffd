"""Views read what eager reads."""

from __future__ import annotations

import torch
from torch import Tensor

from .case import case
from .values import normal


@case(lambda: (torch.arange(12.0).reshape(3, 4)[1:],), report="pytorch#93562")
def column_of_an_input_that_starts_later(x: Tensor):
    """The input's own offset counts."""
    return x.select(0, 1) + 0


@case(lambda: (torch.arange(3.0),), report="pytorch#197431")
def strided_view_of_a_repeat(x: Tensor):
    """The view is of the repeated memory."""
    return x.repeat(2, 1).as_strided((2, 2), (3, 1), 1) + 0


@case(lambda: (torch.arange(6.0),), report="pytorch#99686")
def pieces_in_another_order(x: Tensor):
    """Three pieces, the last first."""
    pieces = list(torch.split(x, 2))
    return torch.cat([pieces[2], *pieces[:2]])


@case(lambda: (torch.arange(10.0),))
def slices(x: Tensor):
    """Steps, negative starts, empty and too long slices."""
    return x[1:9:3], x[-3:], x[5:2], x[:100]


@case(lambda: (torch.arange(6.0).reshape(2, 3).t(), torch.arange(6.0).reshape(3, 2)))
def sum_of_a_transposed_input(a: Tensor, b: Tensor):
    """Operands of different memory order."""
    return (a + b).sum(0)


@case(lambda: (normal(4, seed=0), normal(8, seed=1)), report="pytorch#136640", dynamic=True)
def reshaped_products_of_unknown_sizes(x: Tensor, y: Tensor):
    """Broadcasting over a size that is known only at the call."""
    return x.view(-1, 4) * y.view(-1, 4)
