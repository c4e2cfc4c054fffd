"""The elements that a kernel stores, in terms of its loop variables."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import SSAValue

from ...dialects.kernel.placement import Placement
from ...dialects.sym.bounds import Bounds, simplify
from ...dialects.sym.expr import Expr
from ...dialects.sym.substitute import index_numbers, substitute_indices
from .coordinates import Coordinates
from .frame import Frame
from .reads import At


@dataclass(frozen=True)
class Stored:
    """A value that the kernel stores: the element for the current index, its memory, and the offset there."""

    value: SSAValue
    at: At
    pointer: SSAValue
    address: Expr

    def depends_on(self, variables: frozenset[int]) -> bool:
        """Whether it is another element for other values of these loop variables."""
        return any(n in variables for e in (*self.at, self.address) for n in index_numbers(e))


def stored_elements(frame: Frame, placement: Placement, coordinates: Coordinates, symbols: Bounds) -> list[Stored]:
    """What the kernel stores, one a result."""
    reader = coordinates.reader(symbols)
    table = dict(enumerate((*coordinates.parallel, *coordinates.reduced)))
    found: list[Stored] = []
    for value, index_map, pointer in zip(frame.kernel.stored, placement.stored, frame.results, strict=True):
        at = tuple(simplify(substitute_indices(e, table), reader.bounds) for e in index_map.exprs)
        found.append(Stored(value, at, pointer, reader.address(value, at)))
    return found
