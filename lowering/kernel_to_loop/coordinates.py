"""The loop variables of a kernel: its dims, merged where they are contiguous everywhere, split where views divide."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from ...dialects.hlir.index_map import linear_coefficients
from ...dialects.sym.bounds import Bounds, simplify
from ...dialects.sym.expr import Expr, constant, floordiv, index
from ...dialects.sym.monomial import Atom
from ...dialects.sym.substitute import substitute_indices
from .reads import At, Reader


@dataclass(frozen=True)
class Coordinates:
    """The dims of a kernel in terms of loop variables d0, d1, ...: of these the first `rows` make up the parallel dims,
    the others the reduced ones."""

    parallel: At
    reduced: At
    extents: tuple[Expr, ...]
    rows: int

    def bounds(self, symbols: Bounds) -> Bounds:
        return Bounds(symbols.symbols, self.extents)

    def reader(self, symbols: Bounds) -> Reader:
        """Which elements are read at these coordinates."""
        return Reader(self.bounds(symbols), self.parallel, self.reduced)

    def _replaced(self, extents: Sequence[Expr], rows: int, values: Sequence[Expr], symbols: Bounds) -> Coordinates:
        bounds = Bounds(symbols.symbols, tuple(extents))
        table = dict(enumerate(values))

        def moved(at: At) -> At:
            return tuple(simplify(substitute_indices(e, table), bounds) for e in at)

        return Coordinates(moved(self.parallel), moved(self.reduced), tuple(extents), rows)

    def merged(self, at: int, symbols: Bounds) -> Coordinates:
        """Variables `at` and `at + 1` as one."""
        inner = self.extents[at + 1]
        whole = index(at)
        values = [index(i) for i in range(at)]
        values += [floordiv(whole, inner), whole - inner * floordiv(whole, inner)]
        values += [index(i - 1) for i in range(at + 2, len(self.extents))]
        extents = [*self.extents[:at], self.extents[at] * inner, *self.extents[at + 2 :]]
        return self._replaced(extents, self.rows - (at < self.rows), values, symbols)

    def split(self, at: int, by: Expr, symbols: Bounds) -> Coordinates:
        """Variable `at` as one that steps by `by` and one below it; `by` divides the extent."""
        values = [index(i) for i in range(at)] + [index(at) * by + index(at + 1)]
        values += [index(i + 1) for i in range(at + 1, len(self.extents))]
        extents = [*self.extents[:at], floordiv(self.extents[at], by), by, *self.extents[at + 1 :]]
        return self._replaced(extents, self.rows + (at < self.rows), values, symbols)

    def dropped(self, at: int, symbols: Bounds) -> Coordinates:
        """Without a variable of extent 1."""
        values = [index(i) for i in range(at)] + [constant(0)]
        values += [index(i - 1) for i in range(at + 1, len(self.extents))]
        extents = [*self.extents[:at], *self.extents[at + 1 :]]
        return self._replaced(extents, self.rows - (at < self.rows), values, symbols)


Addresses = Callable[[Coordinates], Sequence[Expr]]
"""All index expressions that the kernel computes for given coordinates."""


def divisions(exprs: Sequence[Expr]) -> list[Atom]:
    """The floor divisions in the expressions, with repeats."""
    return [atom for e in exprs for atom in e.atoms() if atom.kind == "floordiv"]


def choose_coordinates(start: Coordinates, addresses: Addresses, symbols: Bounds) -> Coordinates:
    """Splits variables as long as that removes divisions, then merges neighbours as long as that adds none."""
    best = start
    for at in reversed(range(len(best.extents))):
        if best.extents[at].as_int() == 1:
            best = best.dropped(at, symbols)
    best = _split(best, addresses, symbols)
    cost = len(divisions(addresses(best)))
    for at in reversed(range(len(best.extents) - 1)):
        if at + 1 < len(best.extents) and at + 1 != best.rows and best.extents[at + 1].as_int() != 0:
            candidate = best.merged(at, symbols)
            if len(divisions(addresses(candidate))) <= cost:
                best = candidate
    return best


def _split(best: Coordinates, addresses: Addresses, symbols: Bounds) -> Coordinates:
    found = divisions(addresses(best))
    while found:
        for at, by in _candidates(best, found):
            candidate = best.split(at, by, symbols)
            left = divisions(addresses(candidate))
            if len(left) < len(found):
                best, found = candidate, left
                break
        else:
            return best
    return best


def _candidates(coordinates: Coordinates, found: Sequence[Atom]) -> Iterator[tuple[int, Expr]]:
    """Variables with a factor of their extent by which some division divides them."""
    seen: set[tuple[int, Expr]] = set()
    count = len(coordinates.extents)
    for atom in found:
        linear = linear_coefficients(atom.args[0], count)
        if linear is None:
            continue
        for at in reversed(range(count)):
            step = linear[0][at]
            if not step.terms:
                continue
            by = floordiv(atom.args[1], step) if step.as_int() != 1 and (step.as_int() or 1) > 0 else atom.args[1]
            extent = coordinates.extents[at]
            fits = by.as_int() != 1 and by * step == atom.args[1] and by != extent
            if fits and (at, by) not in seen and floordiv(extent, by) * by == extent:
                seen.add((at, by))
                yield at, by
