"""QR factors by Householder reflections, with LAPACK's signs. Computed in f64, rounded once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import torch
from torch import Tensor

from .triangular import chosen, columns_first, is_small, places

aten = torch.ops.aten


def reflected(a: Tensor) -> tuple[Tensor, Tensor]:
    """(R above the diagonal and below it the vectors of the reflections without their leading ones, their factors)."""
    rows, columns = places(a)
    steps = torch.arange(min(a.shape[-2:]), device=a.device)
    factors = a.new_zeros((*a.shape[:-2], len(steps)))
    for k in range(len(steps)):
        own, below, here, right = rows == k, rows > k, columns == k, columns > k
        column = chosen(here, a, -1)
        alpha = chosen(own, column, -2)
        rest = torch.where(below, column, 0.0)
        length = (rest * rest).sum(-2, keepdim=True)
        still = length == 0
        beta = torch.where(still, alpha, torch.where(alpha < 0, 1.0, -1.0) * (alpha * alpha + length).sqrt())
        tau = torch.where(still, 0.0, (beta - alpha) / beta)
        vector = torch.where(below, torch.where(still, rest, rest / (alpha - beta)), own.to(a.dtype))
        changed = a - tau * vector * (vector.mT @ a)
        kept = torch.where(below, vector, torch.where(own, beta, a))
        a = torch.where(right, changed, torch.where(here, kept, a))
        factors = torch.where(steps == k, tau.squeeze(-1), factors)
    return a, factors


def product_of_reflections(a: Tensor, tau: Tensor, x: Tensor, *, transposed: bool = False) -> Tensor:
    """Q x or Q^T x, where Q = H1 H2 ... is the product of the reflections that `reflected` describes."""
    (rows, columns), count = places(a), tau.shape[-1]
    steps = torch.arange(count, device=a.device)
    for k in range(count) if transposed else reversed(range(count)):
        vector = torch.where(rows > k, chosen(columns == k, a, -1), (rows == k).to(a.dtype))
        factor = chosen(steps == k, tau, -1).unsqueeze(-1)
        x = x - factor * vector * (vector.mT @ x)
    return x


def geqrf(self: Tensor) -> tuple[Tensor, Tensor]:
    """R, the vectors of the reflections below it, and their factors."""
    if not is_small(self):
        return NotImplemented
    a, tau = reflected(self.to(torch.float64))
    return columns_first(a.to(self.dtype)), tau.to(self.dtype)


def linalg_qr(A: Tensor, mode: str = "reduced") -> tuple[Tensor, Tensor]:
    """(Q, R) with Q R the matrix; with mode r no Q, with mode complete a square one."""
    if not is_small(A):
        return NotImplemented
    a, tau = reflected(A.to(torch.float64))
    m, n = A.shape[-2:]
    k = m if mode == "complete" else min(m, n)
    upper = columns_first(a[..., :k, :].triu().to(A.dtype))
    if mode == "r":
        return torch.empty([0], dtype=A.dtype, device=A.device), upper
    eye = torch.eye(m, k, dtype=a.dtype, device=A.device)
    return columns_first(product_of_reflections(a, tau, eye.expand(*A.shape[:-2], m, k)).to(A.dtype)), upper


def linalg_householder_product(input: Tensor, tau: Tensor) -> Tensor:
    """The first columns of the product of reflections."""
    if not is_small(input):
        return NotImplemented
    a = input.to(torch.float64)
    m, n = a.shape[-2:]
    eye = torch.eye(m, n, dtype=a.dtype, device=a.device)
    return columns_first(product_of_reflections(a, tau.to(a.dtype), eye.expand(a.shape)).to(input.dtype))


def ormqr(self: Tensor, input2: Tensor, input3: Tensor, left: bool = True, transpose: bool = False) -> Tensor:
    """Q other or other Q, where Q, or its transpose, is the product of reflections."""
    if not is_small(self, input3):
        return NotImplemented
    a, tau, x = (t.to(torch.float64) for t in (self, input2, input3))
    if left:
        result = product_of_reflections(a, tau, x, transposed=transpose)
    else:
        result = product_of_reflections(a, tau, x.mT, transposed=not transpose).mT
    return columns_first(result.to(self.dtype))


DECOMPOSITIONS: Mapping[Any, Callable[..., Any]] = MappingProxyType(
    {
        aten.geqrf.default: geqrf,
        aten.linalg_qr.default: linalg_qr,
        aten.linalg_householder_product.default: linalg_householder_product,
        aten.ormqr.default: ormqr,
    }
)
