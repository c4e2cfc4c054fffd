"""Index maps of views: one expression a source dimension over the indices of the result, and their algebra."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache

from ..errors import TypeRuleError
from ..sym.bounds import Bounds, Interval, simplify
from ..sym.expr import Expr, IntLike, constant, floordiv, index, lift
from ..sym.substitute import index_numbers, substitute_indices


@dataclass(frozen=True)
class IndexMap:
    """result[d0, ..., d(rank-1)] = source[exprs]. Canonical only together with the extents of the result."""

    rank: int
    exprs: tuple[Expr, ...]

    def __post_init__(self) -> None:
        for expr in self.exprs:
            beyond = [n for n in index_numbers(expr) if n >= self.rank]
            if beyond:
                raise TypeRuleError(f"map of {self.rank} indices uses d{beyond[0]}")

    def __str__(self) -> str:
        names = ", ".join(f"d{i}" for i in range(self.rank))
        return f"({names}) -> ({', '.join(map(str, self.exprs))})"


def extent_bounds(extents: Sequence[Expr]) -> Bounds:
    """Bounds for maps over a result with these extents. An empty result reads nothing, so every extent is at least
    1."""
    ranges: dict[str, Interval] = {}
    for extent in extents:
        atom = extent.as_atom()
        if atom is not None and atom.kind == "symbol":
            ranges[atom.name] = Interval(1, None)
        elif len(extent.terms) == 1 and extent.terms[0][1] > 0:
            for factor, _ in extent.terms[0][0]:
                if factor.kind == "symbol":
                    ranges[factor.name] = Interval(1, None)
    return Bounds(ranges, tuple(extents))


@cache
def canonical(index_map: IndexMap, extents: tuple[Expr, ...]) -> IndexMap:
    """The one spelling of a map for these result extents: index 0 where the extent is 1, decided floor divisions
    removed."""
    zeros = {i: constant(0) for i, extent in enumerate(extents) if extent.as_int() == 1}
    bounds = extent_bounds(extents)
    exprs = (substitute_indices(e, zeros) if zeros else e for e in index_map.exprs)
    return IndexMap(index_map.rank, tuple(simplify(e, bounds) for e in exprs))


def identity(rank: int) -> IndexMap:
    """Every index to itself."""
    return IndexMap(rank, tuple(index(i) for i in range(rank)))


def is_identity(index_map: IndexMap, source: Sequence[Expr], result: Sequence[Expr]) -> bool:
    """Whether the view is its source: equal extents and, for them, the identity map."""
    return tuple(source) == tuple(result) and canonical(index_map, tuple(result)) == canonical(
        identity(len(source)), tuple(result)
    )


def compose(outer: IndexMap, inner: IndexMap, extents: Sequence[Expr]) -> IndexMap:
    """The map of view(outer, view(inner, x)), canonical for the extents of the outer result."""
    values = dict(enumerate(outer.exprs))
    return canonical(IndexMap(outer.rank, tuple(substitute_indices(e, values) for e in inner.exprs)), tuple(extents))


def permutation(order: Sequence[int]) -> IndexMap:
    """Result dim i is source dim order[i]."""
    position = {source: i for i, source in enumerate(order)}
    return IndexMap(len(order), tuple(index(position[j]) for j in range(len(order))))


def broadcast(source: Sequence[Expr], result: Sequence[Expr]) -> IndexMap:
    """NumPy broadcasting: source dims align with the last result dims; a source extent of 1 reads index 0."""
    shift = len(result) - len(source)
    exprs: list[Expr] = []
    for i, extent in enumerate(source):
        stretched = extent.as_int() == 1 and result[i + shift].as_int() != 1
        exprs.append(constant(0) if stretched else index(i + shift))
    return IndexMap(len(result), tuple(exprs))


def reshape(source: Sequence[Expr], result: Sequence[Expr]) -> IndexMap:
    """Row-major reshape of `source` extents to `result` extents."""
    flat: Expr = constant(0)
    stride: Expr = constant(1)
    for i in reversed(range(len(result))):
        flat = flat + index(i) * stride
        stride = stride * result[i]
    exprs: list[Expr] = []
    inner: Expr = constant(1)
    for j in reversed(range(len(source))):
        position = floordiv(flat, inner) if inner.as_int() != 1 else flat
        exprs.append(
            position - source[j] * floordiv(position, source[j]) if j and source[j].as_int() != 0 else position
        )
        inner = inner * source[j] if source[j].as_int() != 0 else inner
    return canonical(IndexMap(len(result), tuple(reversed(exprs))), tuple(result))


def slicing(starts: Iterable[IntLike], steps: Iterable[IntLike]) -> IndexMap:
    """Result index i reads start + step * i on every dimension; a negative step flips."""
    exprs = tuple(lift(start) + index(i) * step for i, (start, step) in enumerate(zip(starts, steps, strict=True)))
    return IndexMap(len(exprs), exprs)


def insert_axes(rank: int, axes: Iterable[int]) -> IndexMap:
    """The map from a tensor of `rank` dims, read by a tensor of `rank` dims without those axes, as if they were there.

    For y = reduce(x, axes): view(y, insert_axes(x.rank, axes)) has the shape of x.
    """
    dropped = set(axes)
    return IndexMap(rank, tuple(index(i) for i in range(rank) if i not in dropped))


def linear_coefficients(expr: Expr, rank: int) -> tuple[tuple[Expr, ...], Expr] | None:
    """(coefficient of each index, rest) if the expression is linear in every index with index-free coefficients, else
    None."""
    coefficients = [constant(0)] * rank
    rest = expr
    for i in range(rank):
        coefficient = substitute_indices(expr, {i: index(i) + 1}) - expr
        if index_numbers(coefficient):
            return None
        coefficients[i] = coefficient
        rest = rest - coefficient * index(i)
    return None if index_numbers(rest) else (tuple(coefficients), rest)


def row_major_strides(extents: Sequence[Expr]) -> tuple[Expr, ...]:
    """Elements between neighbours along each dimension of a dense row-major tensor."""
    strides: list[Expr] = []
    step: Expr = constant(1)
    for extent in reversed(extents):
        strides.append(step)
        step = step * extent
    return tuple(reversed(strides))


def flat_address(index_map: IndexMap, strides: Sequence[Expr], extents: Sequence[Expr]) -> Expr:
    """The element offset that a map reads in a source with these strides, simplified for the result extents."""
    total: Expr = constant(0)
    for expr, stride in zip(index_map.exprs, strides, strict=True):
        total = total + expr * stride
    return simplify(total, extent_bounds(extents))
