"""Whether a contraction is a matrix product that libraries compute on operands where they lie, and with which
strides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..dialects.hlir.index_map import IndexMap, flat_address, linear_coefficients, row_major_strides
from ..dialects.sym.expr import Expr, constant


@dataclass(frozen=True)
class BatchIndex:
    """One index that both matrices and the result run over; strides in elements, 0 where an operand is the same for
    all."""

    extent: Expr
    lhs: Expr
    rhs: Expr
    result: Expr


@dataclass(frozen=True)
class GemmForm:
    """result[i, j] = sum over r of lhs[i, r] * rhs[r, j] for each value of the batch indices; strides in elements.

    The result is row-major: its column stride is 1. Each operand has a stride of 1 along rows or along columns. A batch
    index on which one operand does not depend has stride 0 there.
    """

    batch: tuple[BatchIndex, ...]
    m: Expr
    n: Expr
    k: Expr
    lhs_strides: tuple[Expr, Expr]
    rhs_strides: tuple[Expr, Expr]
    result_row: Expr
    lhs_offset: Expr
    rhs_offset: Expr

    @property
    def lhs_transposed(self) -> bool:
        """Whether the elements of a column of lhs lie together."""
        return self.lhs_strides[1].as_int() != 1

    @property
    def rhs_transposed(self) -> bool:
        """Whether the elements of a column of rhs lie together."""
        return self.rhs_strides[1].as_int() != 1


@dataclass(frozen=True)
class _Index:
    """An index of the space: its extent, and how far it moves in each operand and in the result."""

    extent: Expr
    lhs: Expr
    rhs: Expr
    out: Expr
    reduced: bool


ZERO, ONE = constant(0), constant(1)


def gemm_form(
    lhs_map: IndexMap,
    rhs_map: IndexMap,
    axes: Sequence[int],
    space: Sequence[Expr],
    lhs_dims: Sequence[Expr],
    rhs_dims: Sequence[Expr],
) -> GemmForm | None:
    """The matrix product that a contraction over dense row-major operands is, or None."""
    indices = _indices(lhs_map, rhs_map, axes, space, lhs_dims, rhs_dims)
    if indices is None:
        return None
    live = [i for i in indices if i.extent.as_int() != 1]
    if any(i.lhs is ZERO and i.rhs is ZERO for i in live):
        return None
    k = _merged([i for i in live if i.reduced])
    outer = [i for i in live if not i.reduced]
    rows = [i for i in outer if i.rhs is ZERO]
    columns = [i for i in outer if i.lhs is ZERO]
    batch = [i for i in outer if i.rhs is not ZERO and i.lhs is not ZERO]
    # What cannot be one matrix dimension with its neighbours is looped over from outside.
    m, looped_rows = _innermost(rows)
    n, looped_columns = _innermost(columns)
    if k is None or any(i.reduced and (i.lhs is ZERO or i.rhs is ZERO) for i in live):
        return None
    if m is None and n is None:
        return None
    m, n = m or _none(), n or _none()
    if n.extent.as_int() != 1 and n.out.as_int() != 1:
        return None
    lhs, rhs = (m.lhs, k.lhs), (k.rhs, n.rhs)
    if not (_unit(lhs, (m, k)) and _unit(rhs, (k, n))):
        return None
    loops = tuple(BatchIndex(i.extent, i.lhs, i.rhs, i.out) for i in (*batch, *looped_rows, *looped_columns))
    lhs_offset, rhs_offset = _offsets(lhs_map, rhs_map, space, lhs_dims, rhs_dims)
    return GemmForm(loops, m.extent, n.extent, k.extent, lhs, rhs, m.out, lhs_offset, rhs_offset)


def _none() -> _Index:
    """A matrix dimension of extent 1."""
    return _Index(ONE, ONE, ONE, ONE, False)


def _unit(strides: tuple[Expr, Expr], dims: tuple[_Index, _Index]) -> bool:
    """Whether one of two dimensions has stride 1, or extent 1 so that its stride does not matter."""
    return any(s.as_int() == 1 or d.extent.as_int() == 1 for s, d in zip(strides, dims, strict=True))


def _coefficients(
    index_map: IndexMap, dims: Sequence[Expr], space: Sequence[Expr]
) -> tuple[tuple[Expr, ...], Expr] | None:
    address = flat_address(index_map, row_major_strides(dims), space)
    return linear_coefficients(address, len(space))


def _offsets(
    lhs_map: IndexMap, rhs_map: IndexMap, space: Sequence[Expr], lhs_dims: Sequence[Expr], rhs_dims: Sequence[Expr]
) -> tuple[Expr, Expr]:
    lhs, rhs = _coefficients(lhs_map, lhs_dims, space), _coefficients(rhs_map, rhs_dims, space)
    return (lhs[1] if lhs else ZERO), (rhs[1] if rhs else ZERO)


def _indices(
    lhs_map: IndexMap,
    rhs_map: IndexMap,
    axes: Sequence[int],
    space: Sequence[Expr],
    lhs_dims: Sequence[Expr],
    rhs_dims: Sequence[Expr],
) -> list[_Index] | None:
    lhs, rhs = _coefficients(lhs_map, lhs_dims, space), _coefficients(rhs_map, rhs_dims, space)
    if lhs is None or rhs is None:
        return None
    kept = [i for i in range(len(space)) if i not in axes]
    out = dict(zip(kept, row_major_strides([space[i] for i in kept]), strict=True))
    return [_Index(space[i], lhs[0][i], rhs[0][i], out.get(i, ZERO), i in axes) for i in range(len(space))]


def _joins(a: _Index, b: _Index) -> bool:
    """Whether a outside b is one dimension: a step of a is as long as all of b, in the operands and the result."""
    pairs = ((a.lhs, b.lhs), (a.rhs, b.rhs), (a.out, b.out))
    return all(x is y * b.extent for x, y in pairs)


def _join(a: _Index, b: _Index) -> _Index:
    return _Index(a.extent * b.extent, b.lhs, b.rhs, b.out, b.reduced)


def _merged(indices: Sequence[_Index]) -> _Index | None:
    """All indices as one, in any order that works; None if there is none."""
    if not indices:
        return _Index(ONE, ONE, ONE, ZERO, True)
    for first in indices:
        rest = [i for i in indices if i is not first]
        if not rest:
            return first
        inner = _merged(rest)
        if inner is not None and _joins(first, inner):
            return _join(first, inner)
    return None


def _innermost(indices: Sequence[_Index]) -> tuple[_Index | None, list[_Index]]:
    """The last indices that are one dimension, and the ones outside them."""
    left = list(indices)
    if not left:
        return None, []
    one = left.pop()
    while left and _joins(left[-1], one):
        one = _join(left.pop(), one)
    return one, left
