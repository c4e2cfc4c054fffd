"""LU factors with row exchanges, and what follows from them: solutions, inverses, determinants. Computed in f64,
rounded once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import torch
from torch import Tensor

from .triangular import chosen, columns_first, is_small, places, shared_batch, solved

aten = torch.ops.aten


def lu_factors(a: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """(L below the diagonal and U, for each step the row that it exchanged with its own counted from 1, the number of
    the first pivot that is 0)."""
    rows, columns = places(a)
    steps = torch.arange(min(a.shape[-2:]), device=a.device)
    info = torch.zeros(a.shape[:-2], dtype=torch.int64, device=a.device)
    pivots = torch.zeros(*a.shape[:-2], len(steps), dtype=torch.int64, device=a.device)
    for k in range(len(steps)):
        size = chosen(columns == k, a, -1).abs()
        best = torch.where(rows < k, -1.0, size).argmax(-2, keepdim=True)
        first, other = chosen(rows == k, a, -2), chosen(rows == best, a, -2)
        a = torch.where(rows == k, other, torch.where(rows == best, first, a))
        pivot, column = chosen(columns == k, other, -1), chosen(columns == k, a, -1)
        factors = torch.where(pivot == 0, column, column / pivot)
        a = torch.where((rows > k) & (columns > k), a - factors @ other, a)
        a = torch.where((rows > k) & (columns == k), factors, a)
        pivots = torch.where(steps == k, best.squeeze(-1) + 1, pivots)
        info = torch.where((info == 0) & (pivot[..., 0, 0] == 0), k + 1, info)
    return a, pivots.to(torch.int32), info.to(torch.int32)


def row_order(pivots: Tensor, rows: int) -> Tensor:
    """The rows of the matrix in the order in which its factors have them."""
    count = pivots.shape[-1]
    numbers, steps = torch.arange(rows, device=pivots.device), torch.arange(count, device=pivots.device)
    order = numbers.expand(*pivots.shape[:-1], rows)
    for k in range(count):
        other = chosen(steps == k, pivots.to(torch.int64), -1) - 1
        own, theirs = chosen(numbers == k, order, -1), order.gather(-1, other)
        order = torch.where(numbers == k, theirs, torch.where(numbers == other, own, order))
    return order


def split_factors(lu: Tensor) -> tuple[Tensor, Tensor]:
    """L with ones on its diagonal, and U."""
    m, n = lu.shape[-2:]
    k = min(m, n)
    eye = torch.eye(m, k, dtype=lu.dtype, device=lu.device)
    return lu[..., :, :k].tril(-1) + eye, lu[..., :k, :].triu()


def solution(lu: Tensor, pivots: Tensor, b: Tensor) -> Tensor:
    """x with a x = b, from the factors of a."""
    order = row_order(pivots, lu.shape[-1])
    batch = shared_batch(lu, b)
    b = b.expand(*batch, *b.shape[-2:])
    moved = b.gather(-2, order.unsqueeze(-1).expand(*batch, *b.shape[-2:]))
    return solved(lu, solved(lu, moved, upper=False, unit=True), upper=True)


def linalg_lu_factor_ex(
    self: Tensor, *, pivot: bool = True, check_errors: bool = False
) -> tuple[Tensor, Tensor, Tensor]:
    """The factors in one matrix, the row exchanges, and which pivot is 0."""
    if check_errors or not pivot or not is_small(self):
        return NotImplemented
    lu, pivots, info = lu_factors(self.to(torch.float64))
    return columns_first(lu.to(self.dtype)), pivots, info


def lu_unpack(
    LU_data: Tensor, LU_pivots: Tensor, unpack_data: bool = True, unpack_pivots: bool = True
) -> tuple[Tensor, Tensor, Tensor]:
    """(P, L, U) with P L U the matrix; what is not asked for is empty."""
    if not is_small(LU_data):
        return NotImplemented
    nothing = torch.empty([0], dtype=LU_data.dtype, device=LU_data.device)
    lower, upper = split_factors(LU_data) if unpack_data else (nothing, nothing)
    return _permutation(LU_data, LU_pivots) if unpack_pivots else nothing, lower, upper


def _permutation(lu: Tensor, pivots: Tensor) -> Tensor:
    m = lu.shape[-2]
    order = row_order(pivots, m)
    return (torch.arange(m, device=lu.device).unsqueeze(-1) == order.unsqueeze(-2)).to(lu.dtype)


def linalg_lu(self: Tensor, *, pivot: bool = True) -> tuple[Tensor, Tensor, Tensor]:
    """(P, L, U) with P L U the matrix."""
    if not pivot or not is_small(self):
        return NotImplemented
    lu, pivots, _ = lu_factors(self.to(torch.float64))
    lower, upper = split_factors(lu.to(self.dtype))
    return _permutation(lower, pivots), lower.contiguous(), upper.contiguous()


def linalg_lu_solve(LU: Tensor, pivots: Tensor, B: Tensor, *, left: bool = True, adjoint: bool = False) -> Tensor:
    """X with A X = B or X A = B, where A (or its transpose) has these factors."""
    if not is_small(LU, B):
        return NotImplemented
    lu, b = LU.to(torch.float64), B.to(torch.float64)
    if left != adjoint:
        x = solution(lu, pivots, b if left else b.mT)
    else:
        x = _transposed_solution(lu, pivots, b if left else b.mT)
    x = x.to(LU.dtype)
    return columns_first(x) if left else x.mT.contiguous()


def _transposed_solution(lu: Tensor, pivots: Tensor, b: Tensor) -> Tensor:
    """x with a^T x = b, from the factors of a."""
    half = solved(lu.mT, b, upper=False)
    x = solved(lu.mT, half, upper=True, unit=True)
    order = row_order(pivots, lu.shape[-1])
    back = (order.unsqueeze(-2) == torch.arange(lu.shape[-1], device=lu.device).unsqueeze(-1)).to(lu.dtype)
    return back @ x


def linalg_inv_ex(self: Tensor, *, check_errors: bool = False) -> tuple[Tensor, Tensor]:
    """The inverse, and which pivot is 0."""
    if check_errors or not is_small(self):
        return NotImplemented
    lu, pivots, info = lu_factors(self.to(torch.float64))
    eye = torch.eye(self.shape[-1], dtype=lu.dtype, device=self.device)
    return columns_first(solution(lu, pivots, eye).to(self.dtype)), info


def linalg_solve_ex(
    A: Tensor, B: Tensor, *, left: bool = True, check_errors: bool = False
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """X with A X = B or X A = B, the factors of A, their row exchanges, and which pivot is 0."""
    vector = B.dim() == 1 or (A.dim() - 1 == B.dim() and tuple(B.shape) == tuple(A.shape[:-1]))
    matrix = B.unsqueeze(-1) if vector else B
    if check_errors or not is_small(A, matrix):
        return NotImplemented
    lu, pivots, info = lu_factors(A.to(torch.float64))
    b = matrix.to(torch.float64)
    x = solution(lu, pivots, b) if left else _transposed_solution(lu, pivots, b.mT).mT
    x = x.to(A.dtype)
    if vector:
        x = x.squeeze(-1)
    result = columns_first(x) if left and x.dim() > 1 else x.contiguous()
    return result, columns_first(lu.to(A.dtype)), pivots, info


def _exchanges(pivots: Tensor) -> Tensor:
    """-1 for an odd number of row exchanges, else 1."""
    own = torch.arange(1, pivots.shape[-1] + 1, device=pivots.device)
    return 1 - 2 * ((pivots != own).sum(-1) % 2)


def _determinant_factors(A: Tensor) -> tuple[Tensor, Tensor]:
    """Factors and row exchanges of A, or of A^T where A is contiguous: the gradient takes them so."""
    lu, pivots, _ = lu_factors((A.mT if A.is_contiguous() else A).to(torch.float64))
    return lu, pivots


def linalg_det(A: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The determinant, the factors and their row exchanges."""
    if not is_small(A):
        return NotImplemented
    lu, pivots = _determinant_factors(A)
    value = lu.diagonal(0, -2, -1).prod(-1) * _exchanges(pivots)
    return value.to(A.dtype), columns_first(lu.to(A.dtype)), pivots


def linalg_slogdet(A: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Sign and logarithm of the determinant, the factors and their row exchanges."""
    if not is_small(A):
        return NotImplemented
    lu, pivots = _determinant_factors(A)
    diagonal = lu.diagonal(0, -2, -1)
    sign = diagonal.sgn().prod(-1) * _exchanges(pivots)
    logarithm = diagonal.abs().log().sum(-1)
    return sign.to(A.dtype), logarithm.to(A.dtype), columns_first(lu.to(A.dtype)), pivots


DECOMPOSITIONS: Mapping[Any, Callable[..., Any]] = MappingProxyType(
    {
        aten.linalg_lu_factor_ex.default: linalg_lu_factor_ex,
        aten.lu_unpack.default: lu_unpack,
        aten.linalg_lu.default: linalg_lu,
        aten.linalg_lu_solve.default: linalg_lu_solve,
        aten.linalg_inv_ex.default: linalg_inv_ex,
        aten._linalg_solve_ex.default: linalg_solve_ex,
        aten._linalg_det.default: linalg_det,
        aten._linalg_slogdet.default: linalg_slogdet,
    }
)
