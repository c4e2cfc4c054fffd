"""Division, remainder and the sign of zero."""

from __future__ import annotations

import torch
from torch import Tensor, tensor

from .case import case


@case(lambda: (tensor([1.0]), tensor([0.1])), report="pytorch#197895")
def floor_of_an_inexact_quotient(a: Tensor, b: Tensor):
    """1 // 0.1 is 9: the floor comes from the remainder, not from the rounded quotient 10."""
    return torch.floor_divide(a, b)


@case(lambda: (tensor([14.999999]), tensor([148.0])), report="pytorch#184408")
def truncated_quotient_by_a_constant(a: Tensor, b: Tensor):
    """A division by a constant is no product with its reciprocal."""
    return torch.div(a, 3.0, rounding_mode="trunc"), torch.div(b, 37.0, rounding_mode="trunc")


@case(
    lambda: (tensor([-(2**31)], dtype=torch.int32), tensor([-1], dtype=torch.int32)),
    report="pytorch#184406",
)
def smallest_integer_times_minus_one(a: Tensor, b: Tensor):
    """The product wraps to itself."""
    return a * b


@case(lambda: (tensor([1e20, 1e10]), tensor([3.0, 7.0])), report="pytorch#194345")
def remainder_of_a_huge_number(a: Tensor, b: Tensor):
    """The remainder is exact, however large the quotient."""
    return torch.remainder(a, b), torch.fmod(a, b)


@case(lambda: (tensor([-0.0, -1.5]),), report="pytorch#183606")
def fraction_of_minus_zero(a: Tensor):
    """The fraction of -0 is -0."""
    return torch.frac(a)


@case(lambda: (tensor([1.0, 2.0]),), report="pytorch#174172")
def sign_copied_from_minus_zero(a: Tensor):
    """A constant -0.0 keeps its sign."""
    return torch.copysign(a, -0.0)
