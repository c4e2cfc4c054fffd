"""Integers wrap in their own width."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, tensor

from .case import case


@case(lambda: (tensor([2**31 - 1], dtype=torch.int32),), report="pytorch#108520")
def sum_beyond_32_bits(a: Tensor):
    """An int32 sum wraps."""
    return a + a


@case(report="pytorch#183901, pytorch#175966")
def range_times_a_large_constant():
    """Products with a constant beyond 32 bits are 64 bits wide."""
    return torch.arange(4, dtype=torch.int64) * 3_000_000_000


@case(
    lambda: (tensor([100], dtype=torch.int8), tensor([100], dtype=torch.int8)),
    report="pytorch#109105",
)
def sum_and_product_beyond_8_bits(a: Tensor, b: Tensor):
    """Each step wraps in int8."""
    return (a + b) * 2


@case(lambda: (tensor([1, 2, -1, -2]), tensor([-1, -1, -3, -2])), report="pytorch#133677")
def negative_exponents(a: Tensor, b: Tensor):
    """Of integers, only 1 and -1 have an inverse; the others give 0."""
    return torch.pow(a, b)


@case(lambda: (tensor([-8, -1, 7]),), report="pytorch#127310")
def right_shift_of_negative_numbers(a: Tensor):
    """The sign moves in from the left."""
    return a >> 1


@case(lambda: (tensor([-2.0, 255.9, 1.9]),), report="pytorch#156788")
def float_to_unsigned_byte(a: Tensor):
    """Truncated, and a negative number wraps."""
    return a.to(torch.uint8)


@case(lambda: (tensor([[[[0, 1, 2, 3], [1, 2, 3, 3]]]]),), report="pytorch#143738")
def average_pool_of_integers(a: Tensor):
    """The average of integers is an integer, truncated."""
    return F.avg_pool2d(a, 2, 2)


@case(lambda: (tensor([200, 200], dtype=torch.uint8),), report="pytorch#187018")
def negated_bytes_joined_and_summed(a: Tensor):
    """-200 is 56 in a byte, before and after it is joined."""
    negated = -a.abs()
    return torch.cat([negated, negated]).sum()
