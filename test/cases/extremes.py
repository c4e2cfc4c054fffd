"""Maximum, minimum, clamp and where they are: NaN and ties."""

from __future__ import annotations

import math

import torch
from torch import Tensor, tensor

from .case import case
from .values import normal


@case(lambda: (tensor([1.0, math.nan, 3.0]), tensor([math.nan, 1.0, 2.0])), report="tinygrad#862, pytorch#93784")
def nan_in_maximum_and_minimum(a: Tensor, b: Tensor):
    """NaN goes through all of these but fmax."""
    pairs = torch.maximum(a, b), torch.minimum(a, b), torch.fmax(a, b)
    return a.max(), a.min(), *pairs, torch.clamp_min(a, 0.5), torch.clamp(a, 0.0, 2.0)


@case(lambda: (tensor([1.0, 2.0]), tensor(math.nan)), report="tvm#19533")
def nan_as_a_bound(a: Tensor, bound: Tensor):
    """A bound that is NaN makes everything NaN."""
    return torch.clamp(a, min=bound)


@case(lambda: (tensor([3, 1, 2]),), report="tinygrad#8108")
def place_of_the_largest_complement(a: Tensor):
    """The order of complements is the reverse, in integers too."""
    return (~a).argmax()


@case(lambda: (tensor([[2.0, 5.0, 5.0], [1.0, 1.0, 1.0]]),))
def first_of_equal_extremes(a: Tensor):
    """The first of equal elements is taken."""
    return a.argmax(1), a.argmin(1), a.max(1).indices


@case(lambda: (normal(8, 8, seed=0).t(), normal(8, 8, seed=1)), report="pytorch#178964")
def place_of_the_largest_of_a_transposed_sum(a: Tensor, b: Tensor):
    """Indices count in the logical order, whatever the memory order."""
    return (a + b).max(1).indices
