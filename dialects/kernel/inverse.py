"""The inverse of a view that reads every element of its source exactly once, so that a kernel can store the view."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import permutations, product

from ..hlir.index_map import IndexMap, canonical, compose, identity, linear_coefficients, reshape
from ..sym.expr import Expr, constant, floordiv, index
from ..sym.substitute import index_numbers

MAXIMUM_DIGITS = 4
"""Up to how many source dims that one result dim merges are tried in every order."""


@cache
def invert(index_map: IndexMap, source: tuple[Expr, ...], result: tuple[Expr, ...]) -> IndexMap | None:
    """The map from an index of the source to the one index of the result that reads it, or None where none was
    found."""
    if element_count(source) != element_count(result):
        return None
    for exprs in _candidates(index_map, source, result):
        inverse = canonical(IndexMap(len(source), exprs), source)
        there = compose(inverse, index_map, source)
        back = compose(index_map, inverse, result)
        if there == canonical(identity(len(source)), source) and back == canonical(identity(len(result)), result):
            return inverse
    return None


def element_count(dims: Sequence[Expr]) -> Expr:
    """How many elements a tensor with these extents has."""
    total: Expr = constant(1)
    for extent in dims:
        total = total * extent
    return total


def _candidates(index_map: IndexMap, source: tuple[Expr, ...], result: tuple[Expr, ...]) -> Iterator[tuple[Expr, ...]]:
    options = [list(_positions(i, index_map, source, result)) for i in range(len(result))]
    if all(options):
        yield from product(*options)
    yield reshape(result, source).exprs


def _positions(i: int, index_map: IndexMap, source: Sequence[Expr], result: Sequence[Expr]) -> Iterator[Expr]:
    """Ways to write index i of the result in indices of the source."""
    if result[i].as_int() == 1:
        yield constant(0)
        return
    readers = [j for j, expr in enumerate(index_map.exprs) if i in index_numbers(expr)]
    for j in readers:
        linear = linear_coefficients(index_map.exprs[j], index_map.rank)
        if linear is not None:
            yield from _solved(i, j, linear, result)
    if 1 < len(readers) <= MAXIMUM_DIGITS:
        for order in permutations(readers):
            yield _merged(order, source)


def _solved(i: int, j: int, linear: tuple[tuple[Expr, ...], Expr], result: Sequence[Expr]) -> Iterator[Expr]:
    """index i from source index j = sum of coefficient * index + rest."""
    coefficients, rest = linear
    step = coefficients[i].as_int()
    if all(not c.terms for k, c in enumerate(coefficients) if k != i) and step in (1, -1):
        yield (index(j) - rest) if step == 1 else (rest - index(j))
    elif not rest.terms and (step is None or step > 0):
        digit = floordiv(index(j), coefficients[i])
        yield digit
        if result[i].as_int() != 0:
            yield digit - result[i] * floordiv(digit, result[i])


def _merged(order: Sequence[int], source: Sequence[Expr]) -> Expr:
    """The source indices as digits of one number, most significant first."""
    total: Expr = constant(0)
    for j in order:
        total = total * source[j] + index(j)
    return total
