"""Cholesky factors and triangular systems, row after row: computed in f64, rounded once. Matrices have at most LARGEST
rows; larger ones are left to the importer, which refuses them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, cast

import torch
from torch import Tensor

aten = torch.ops.aten

LARGEST = 32
"""Every row is a few ops of the graph."""

LIMIT = f"is taken for real matrices of fixed sizes up to {LARGEST} only"
"""Why a factorisation is refused."""


def is_small(a: Tensor, *more: Tensor) -> bool:
    """Whether all matrices have a fixed, small number of rows and columns, and are of real floats."""
    sizes: list[Any] = [size for x in (a, *more) for size in x.shape[-2:]]
    return a.is_floating_point() and all(isinstance(size, int) and size <= LARGEST for size in sizes)


def columns_first(x: Tensor) -> Tensor:
    """The matrices as LAPACK leaves them, column after column in memory."""
    return x.mT.contiguous().mT


def places(x: Tensor) -> tuple[Tensor, Tensor]:
    """The number of each row, as a column, and of each column."""
    m, n = x.shape[-2:]
    return torch.arange(m, device=x.device).unsqueeze(-1), torch.arange(n, device=x.device)


def chosen(mask: Tensor, x: Tensor, dim: int) -> Tensor:
    """The only row (dim -2) or column (-1) where the mask holds: each step of an elimination then reads alike."""
    return torch.where(mask, x, 0).sum(dim, keepdim=True)


def shared_batch(a: Tensor, b: Tensor) -> tuple[int, ...]:
    """The sizes of the dims before those of the matrices, after broadcasting."""
    return cast(Any, torch).broadcast_shapes(a.shape[:-2], b.shape[:-2])


def cholesky_factor(a: Tensor) -> tuple[Tensor, Tensor]:
    """(L with L L^T = a, the number of the first pivot that is not positive or 0); only the lower half of a is read."""
    rows, columns = places(a)
    info = torch.zeros(a.shape[:-2], dtype=torch.int64, device=a.device)
    factor = torch.zeros_like(a)
    for k in range(a.shape[-1]):
        column = chosen(columns == k, a, -1)
        pivot = chosen(rows == k, column, -2)
        column = torch.where(rows >= k, column / pivot.sqrt(), 0.0)
        a = a - column @ column.mT
        factor = torch.where(columns == k, column, factor)
        info = torch.where((info == 0) & ~(pivot[..., 0, 0] > 0), k + 1, info)
    return factor, info.to(torch.int32)


def solved(a: Tensor, b: Tensor, *, upper: bool, unit: bool = False) -> Tensor:
    """x with a x = b for a triangular a, of which the other half is not read."""
    n = a.shape[-1]
    b = b.expand(*shared_batch(a, b), *b.shape[-2:])
    rows, columns = places(a)
    x = torch.zeros_like(b)
    for k in reversed(range(n)) if upper else range(n):
        row, column = chosen(rows == k, b, -2), chosen(columns == k, a, -1)
        if not unit:
            row = row / chosen(rows == k, column, -2)
        b = b - torch.where(rows < k if upper else rows > k, column, 0.0) @ row
        x = torch.where(rows == k, row, x)
    return x


def linalg_cholesky_ex(self: Tensor, *, upper: bool = False, check_errors: bool = False) -> tuple[Tensor, Tensor]:
    """The Cholesky factor, lower or upper, and which minor is not positive definite."""
    if check_errors or not is_small(self):
        return NotImplemented
    factor, info = cholesky_factor((self.mT if upper else self).to(torch.float64))
    factor = factor.to(self.dtype)
    return (factor.contiguous().mT if upper else columns_first(factor)), info


def cholesky(self: Tensor, upper: bool = False) -> Tensor:
    """The Cholesky factor; it is an error of the run that there is none."""
    if not is_small(self):
        return NotImplemented
    factor, info = linalg_cholesky_ex(self, upper=upper)
    aten._linalg_check_errors(info, "cholesky", is_matrix=self.dim() == 2)
    return factor


def linalg_solve_triangular(
    self: Tensor, B: Tensor, *, upper: bool, left: bool = True, unitriangular: bool = False
) -> Tensor:
    """X with A X = B, or X A = B."""
    if not is_small(self, B):
        return NotImplemented
    a, b = self.to(torch.float64), B.to(torch.float64)
    if left:
        return columns_first(solved(a, b, upper=upper, unit=unitriangular).to(self.dtype))
    return solved(a.mT, b.mT, upper=not upper, unit=unitriangular).to(self.dtype).contiguous().mT


def triangular_solve(
    self: Tensor, A: Tensor, upper: bool = True, transpose: bool = False, unitriangular: bool = False
) -> tuple[Tensor, Tensor]:
    """X with A X = self or A^T X = self, and a copy of A."""
    if not is_small(self, A):
        return NotImplemented
    a, b = A.to(torch.float64), self.to(torch.float64)
    if transpose:
        a, upper = a.mT, not upper
    x = solved(a, b, upper=upper, unit=unitriangular).to(self.dtype)
    batch = x.shape[:-2]
    return columns_first(x), columns_first(A.expand(*batch, *A.shape[-2:]))


def cholesky_solve(self: Tensor, input2: Tensor, upper: bool = False) -> Tensor:
    """X with L L^T X = self for a Cholesky factor L, or its transpose."""
    if not is_small(self, input2):
        return NotImplemented
    factor = input2.to(torch.float64)
    lower = factor.mT if upper else factor
    half = solved(lower, self.to(torch.float64), upper=False)
    return columns_first(solved(lower.mT, half, upper=True).to(self.dtype))


def cholesky_inverse(self: Tensor, upper: bool = False) -> Tensor:
    """The inverse of L L^T."""
    if not is_small(self):
        return NotImplemented
    factor = self.to(torch.float64)
    lower = factor.mT if upper else factor
    half = solved(lower, torch.eye(self.shape[-1], dtype=lower.dtype, device=self.device), upper=False)
    return columns_first((half.mT @ half).to(self.dtype))


DECOMPOSITIONS: Mapping[Any, Callable[..., Any]] = MappingProxyType(
    {
        aten.cholesky.default: cholesky,
        aten.linalg_cholesky_ex.default: linalg_cholesky_ex,
        aten.linalg_solve_triangular.default: linalg_solve_triangular,
        aten.triangular_solve.default: triangular_solve,
        aten.cholesky_solve.default: cholesky_solve,
        aten.cholesky_inverse.default: cholesky_inverse,
    }
)
