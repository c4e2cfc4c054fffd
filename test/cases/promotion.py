"""Element types of results, and where narrow floats round."""

from __future__ import annotations

import torch
from torch import Tensor, tensor

from .case import case
from .values import normal


@case(lambda: (tensor([True] * 4), tensor([200, 100], dtype=torch.uint8)), report="pytorch#189518, pytorch#109925")
def sums_of_narrow_integers(flags: Tensor, bytes_: Tensor):
    """Sums of anything narrower are int64; `dtype` converts before it adds."""
    double = tensor([1.0, 2.0]).cumsum(0, dtype=torch.float64)
    return flags.cumsum(0), bytes_.cumsum(0), bytes_.sum(), double


@case(
    lambda: (
        tensor([1], dtype=torch.int32),
        tensor([1.0], dtype=torch.bfloat16),
        tensor(2.0, dtype=torch.float64),
    ),
)
def numbers_and_tensors_without_dimensions(i: Tensor, b: Tensor, d: Tensor):
    """Numbers and 0-d tensors raise the kind of a type, never its width."""
    return i + 1.5, b + d, i + b, i * True, b + 1, i / 2


@case(lambda: (tensor([1.001, 1.002, 1.003]),), report="pytorch#195214")
def equality_after_rounding(a: Tensor):
    """Values that are equal in bfloat16 are equal: the rounding may not be left out."""
    b = a.to(torch.bfloat16)
    return (b == b.amax()).sum()


@case(lambda: (torch.ones(2, 2), torch.ones(2, 2, dtype=torch.bfloat16)), report="pytorch#177630")
def product_of_two_types(a: Tensor, b: Tensor):
    """A matrix product does not promote: it raises."""
    return a @ b


@case(
    lambda: (torch.ones(2, dtype=torch.bool), tensor([1.0, 2.0]).half(), tensor([1.0, 2.0])),
    report="pytorch#197091",
)
def powers_of_two_of_halves(flags: Tensor, half: Tensor, single: Tensor):
    """ldexp promotes its operands like a product."""
    return torch.ldexp(flags, half), torch.ldexp(half, single)


@case(
    lambda: (torch.ones((1, 1, 2), dtype=torch.int8), torch.ones((1, 2, 2), dtype=torch.int8)),
    report="pytorch#191308",
)
def product_of_byte_matrices(a: Tensor, b: Tensor):
    """A matrix product of int8 is int8."""
    return torch.matmul(a, b)


@case(lambda: (tensor([4.9805, 6.9, 6.8008]).half(),), report="pytorch#97333")
def half_remainder_by_a_constant(a: Tensor):
    """The constant has the precision of the arithmetic, not of float16."""
    return torch.fmod(a, 2.3)


@case(
    lambda: (
        normal(1, 2, 3, 8, seed=0).bfloat16(),
        normal(1, 1, 3, 8, seed=1).bfloat16(),
        normal(1, 1, 3, 8, seed=2).bfloat16(),
    ),
    report="pytorch#182225",
)
def rotary_embedding_in_bfloat16(q: Tensor, cosine: Tensor, sine: Tensor):
    """Each product rounds to bfloat16 before the sum."""
    turned = torch.cat((-q[..., 4:], q[..., :4]), -1)
    return q * cosine + turned * sine
