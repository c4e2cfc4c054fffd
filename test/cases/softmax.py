"""Softmax and attention with infinities."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor, tensor

from .case import case
from .values import normal

INF = math.inf


@case(lambda: (tensor([[INF, 1.0], [-INF, -INF], [-INF, 0.0]]),), report="pytorch#161150")
def rows_with_infinities(x: Tensor):
    """NaN where eager has it: a row with +inf, a row of -inf only."""
    return torch.softmax(x, -1), torch.log_softmax(x, -1), torch.logsumexp(x, -1)


@case(lambda: (tensor([1.0, INF, 2.0, -INF]),), report="pytorch#132107")
def running_sum_through_infinities(x: Tensor):
    """inf stays, inf - inf is NaN."""
    return x.cumsum(0)


@case(lambda: (torch.ones(1, 1, 2, 2), torch.full((2, 2), -INF)), report="pytorch#103963")
def attention_with_everything_masked(q: Tensor, mask: Tensor):
    """A row without a key."""
    return F.scaled_dot_product_attention(q, q, q, attn_mask=mask)


@case(lambda: (torch.ones(1, 4, 2, 8), torch.ones(1, 2, 2, 8)))
def attention_with_grouped_heads(q: Tensor, k: Tensor):
    """Two heads of queries for each head of keys."""
    return F.scaled_dot_product_attention(q, k, k, is_causal=True, enable_gqa=True).sum()


@case(
    lambda: (normal(4, 4, 2, 8, seed=0), normal(4, 4, 3, 8, seed=1), normal(4, 4, 3, 8, seed=2)),
    report="pytorch#196468",
)
def attention_normalised_over_the_batch(q: Tensor, k: Tensor, v: Tensor):
    """A softmax over another axis is no attention."""
    return torch.softmax(torch.matmul(q, k.transpose(-2, -1)).div(128), 0).matmul(v)


@case(lambda: (tensor([[-1.0, 1.0, 2.0]]),), report="pytorch#161150")
def products_that_overflow(x: Tensor):
    """Three constants may not become one, which would overflow differently."""
    return torch.softmax(x * -1.7e14 * -1.7e14 * -1.7e14, 0)


@case(report="pytorch#190418")
def log_softmax_without_dimensions():
    """The softmax of one number."""
    y = torch.zeros(1).argmax().float()
    return F.log_softmax(y * y, -1)
