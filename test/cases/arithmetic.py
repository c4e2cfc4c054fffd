"""Functions of a real number at their limits, and matrix products."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor, tensor

from .case import case


@case(lambda: (tensor([88.8, 89.0, -89.0]),), report="pytorch#183763")
def hyperbolic_functions_near_overflow(x: Tensor):
    """exp overflows before sinh and cosh do."""
    return torch.sinh(x), torch.cosh(x)


@case(lambda: (tensor([-100.0, 100.0, -88.0]),))
def tails_of_activations(x: Tensor):
    """Neither NaN nor 0 where eager has a tiny number."""
    smooth = torch.sigmoid(x), F.silu(x), F.softplus(x)
    return *smooth, torch.tanh(x), F.gelu(x), F.logsigmoid(x)


@case(lambda: (tensor([-2.0, 0.0, -8.0, math.inf, 1.0]), tensor([3.0, 0.0, 1 / 3, 0.0, math.nan])))
def powers_at_their_limits(a: Tensor, b: Tensor):
    """0**0, inf**0 and 1**nan are 1."""
    return torch.pow(a, b)


@case(lambda: (tensor([0.0, -0.0, -1.0]),))
def roots_and_logarithms_at_zero(x: Tensor):
    """Infinities with the sign of the zero, NaN below."""
    return torch.rsqrt(x), torch.sqrt(x), 1 / x, torch.log(x)


@case(lambda: (tensor([5e22, 9e25, 2.0]),), report="pytorch#183768")
def inverse_hyperbolic_cosine_of_large_numbers(x: Tensor):
    """x * x overflows, the result does not."""
    return torch.acosh(x)


@case(lambda: (torch.ones(2, 2), torch.ones(2, 2)), report="pytorch#167313")
def product_with_factors_and_relu(bias: Tensor, a: Tensor):
    """Neither alpha nor beta is dropped."""
    return torch.relu(torch.addmm(bias, a, a, beta=0.5, alpha=-0.1))


@case(lambda: (torch.arange(3.0), torch.arange(6.0).reshape(2, 3, 1)))
def products_with_a_vector(v: Tensor, m: Tensor):
    """A vector loses its dimension."""
    return v @ v, torch.matmul(v, m)
