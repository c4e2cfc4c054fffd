"""Places in one arena for values with live ranges: those alive at one moment never overlap, dead space is used
again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from ...dialects.host.order import Order
from ...dialects.sym.bounds import Bounds, simplify
from ...dialects.sym.expr import Expr, ceildiv, constant, maximum, monomial_expr

COARSE = 1024
"""From this factor of a symbolic size on, the factor is rounded up to the alignment, which keeps sizes comparable."""
Measure = Callable[[Expr], int]


@dataclass(frozen=True)
class Request:
    """A value that needs memory from step `first` to step `last`, both included."""

    size: Expr
    first: int
    last: int

    def meets(self, other: Request) -> bool:
        """Whether both are alive at some step."""
        return self.first <= other.last and other.first <= self.last


@dataclass(frozen=True)
class Plan:
    """An offset for each request, the size of the arena, and the bytes alive at the worst step: no plan takes less."""

    offsets: tuple[Expr, ...]
    size: Expr
    bound: Expr


def aligned(size: Expr, alignment: int, bounds: Bounds) -> Expr:
    """The size, or a little more, as a multiple of the alignment."""
    if len(size.terms) == 1:
        monomial, factor = size.terms[0]
        if monomial and factor >= COARSE:
            return monomial_expr(monomial, -(-factor // alignment) * alignment)
    return simplify(ceildiv(size, alignment) * alignment, bounds)


def plan_arena(requests: Sequence[Request], alignment: int, bounds: Bounds, measure: Measure) -> Plan:
    """Places the requests, the largest first. `measure` gives a size the number by which sizes are compared.

    Sizes that are multiples of one another are placed at the lowest free offset; others share slots, each as large as
    the largest of its values.
    """
    rounded = [Request(aligned(r.size, alignment, bounds), r.first, r.last) for r in requests]
    order = sorted(range(len(rounded)), key=lambda i: (-measure(rounded[i].size), rounded[i].first, i))
    unit = _common_unit(rounded)
    if unit is not None:
        offsets, size = _lowest_free(rounded, order, unit)
    else:
        offsets, size = _slots(rounded, order, bounds, measure)
    bound = largest(_alive(rounded), bounds, measure)
    return Plan(tuple(offsets[i] for i in range(len(rounded))), size, bound)


def _common_unit(requests: Sequence[Request]) -> Expr | None:
    """The product of symbols that every size is a number of, or None."""
    units = {r.size.terms[0][0] if len(r.size.terms) == 1 else None for r in requests if r.size.terms}
    if len(units) > 1 or None in units:
        return None
    return monomial_expr(next(iter(units), ()) or ())


def _factor(size: Expr) -> int:
    return size.terms[0][1] if size.terms else 0


def _lowest_free(requests: Sequence[Request], order: Sequence[int], unit: Expr) -> tuple[dict[int, Expr], Expr]:
    """Each at the lowest offset that is free while it lives, in multiples of the unit."""
    placed: dict[int, int] = {}
    for i in order:
        size = _factor(requests[i].size)
        taken = sorted(
            (placed[j], placed[j] + _factor(requests[j].size)) for j in placed if requests[i].meets(requests[j])
        )
        offset = 0
        for low, high in taken:
            if offset + size <= low:
                break
            offset = max(offset, high)
        placed[i] = offset
    end = max((offset + _factor(requests[i].size) for i, offset in placed.items()), default=0)
    return {i: unit * offset for i, offset in placed.items()}, unit * end


@dataclass
class _Slot:
    members: list[int] = field(default_factory=list[int])
    sizes: dict[Expr, None] = field(default_factory=dict[Expr, None])


def _slots(
    requests: Sequence[Request], order: Sequence[int], bounds: Bounds, measure: Measure
) -> tuple[dict[int, Expr], Expr]:
    """Values whose lives do not meet share a slot, those of comparable size first."""
    slots: list[_Slot] = []
    known = Order(bounds)
    for i in order:
        free = [s for s in slots if not any(requests[i].meets(requests[j]) for j in s.members)]
        size = requests[i].size
        fitting = [s for s in free if any(known.at_most(size, other) for other in s.sizes)]
        if fitting or free:
            slot = (fitting or free)[0]
        else:
            slot = _Slot()
            slots.append(slot)
        slot.members.append(i)
        if not fitting:
            slot.sizes[size] = None
    offsets: dict[int, Expr] = {}
    start: Expr = constant(0)
    for slot in slots:
        offsets |= dict.fromkeys(slot.members, start)
        start = start + largest(slot.sizes, bounds, measure)
    return offsets, start


def _alive(requests: Sequence[Request]) -> list[Expr]:
    """The bytes alive at each step at which a request begins."""
    sums: list[Expr] = []
    for step in sorted({r.first for r in requests}):
        total: Expr = constant(0)
        for request in requests:
            if request.first <= step <= request.last:
                total = total + request.size
        sums.append(total)
    return sums


def largest(values: Iterable[Expr], bounds: Bounds, measure: Measure) -> Expr:
    """The maximum of the values, without those that another one always reaches; 0 for none."""
    distinct = sorted(dict.fromkeys(values), key=lambda e: (-measure(e), str(e)))
    known = Order(bounds)
    kept: list[Expr] = []
    for value in distinct:
        if not any(known.at_most(value, other) for other in kept):
            kept.append(value)
    return maximum(*kept) if kept else constant(0)
