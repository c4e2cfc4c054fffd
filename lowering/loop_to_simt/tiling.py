"""How the index space of a loop is cut into tiles of neighbouring elements, one tile a step of one thread."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir import Attribute, SSAValue

from ...dialects.simt import element_bytes
from ...dialects.sym.expr import Expr, constant, floordiv
from ...dialects.sym.substitute import substitute_indices
from .accesses import Access, Summary, stride
from .index_space import IndexSpace

VECTOR_BYTES = 16
WIDEST_TILE_BYTES = 32
"""Bytes of the widest element type in one tile: two vector accesses."""


@dataclass(frozen=True)
class Tiling:
    """Tile q of `count` covers elements q * width to q * width + width - 1 of the flattened space, all of one
    innermost row.

    `groups` holds the extents after neighbouring dims were merged, `sizes` the dims that each group consists of.
    """

    count: Expr
    width: int
    groups: tuple[Expr, ...]
    sizes: tuple[tuple[Expr, ...], ...]

    def indices(self, tile: Expr, lane: Expr) -> list[Expr]:
        """The index of each dim at an element: a tile and a lane below `width`."""
        rest = tile
        reversed_groups: list[list[Expr]] = []
        for position in range(len(self.groups) - 1, -1, -1):
            innermost = position == len(self.groups) - 1
            extent = floordiv(self.groups[position], constant(self.width)) if innermost else self.groups[position]
            if position:
                outer = floordiv(rest, divisor(extent))
                here, rest = rest - extent * outer, outer
            else:
                here = rest
            merged = here * self.width + lane if innermost else here
            reversed_groups.append(_split(merged, self.sizes[position]))
        return [index for group in reversed(reversed_groups) for index in group]


def divisor(extent: Expr) -> Expr:
    """What a flat index is divided by; nothing runs over a static extent of 0, but its indices are still written."""
    return constant(1) if extent.as_int() == 0 else extent


def _split(merged: Expr, extents: Sequence[Expr]) -> list[Expr]:
    indices: list[Expr] = []
    for extent in reversed(extents[1:]):
        outer = floordiv(merged, divisor(extent))
        indices.append(merged - extent * outer)
        merged = outer
    return [merged, *reversed(indices)]


def merge_dims(extents: Sequence[Expr], variables: Sequence[Expr], expressions: Sequence[Expr]) -> list[list[int]]:
    """Groups of neighbouring dims that every expression steps through as if they were one."""
    groups: list[list[int]] = [[0]]
    for dim in range(1, len(extents)):
        outer, inner = variables[dim - 1], variables[dim]
        if all(_steps_as_one(expr, outer, inner, extents[dim]) for expr in expressions):
            groups[-1].append(dim)
        else:
            groups.append([dim])
    return groups


def _steps_as_one(expr: Expr, outer: Expr, inner: Expr, extent: Expr) -> bool:
    a, b = stride(expr, outer), stride(expr, inner)
    return a is not None and b is not None and a == b * extent


def product(extents: Sequence[Expr]) -> Expr:
    total = constant(1)
    for extent in extents:
        total = total * extent
    return total


class Tiler:
    """Chooses the tiling of a loop body from what it reads and writes."""

    def __init__(self, space: IndexSpace, alignments: dict[SSAValue, int], widest: int = 0):
        self.space = space
        self.alignments = alignments
        """Bytes that the beginning of each argument is aligned to; scratch is aligned for vector accesses."""
        self.widest = widest
        """The largest width to consider, 0 for what the element types allow."""

    def tile(self, extents: Sequence[Expr], variables: Sequence[Expr], summary: Summary) -> Tiling:
        """The tiling with the widest tiles in which every access is a vector access or the same for all lanes."""
        merged = merge_dims(extents, variables, summary.expressions())
        sizes = tuple(tuple(extents[dim] for dim in group) for group in merged)
        groups = tuple(product(group) for group in sizes)
        for width in self._widths(summary):
            if not self.space.is_multiple(groups[-1], width):
                continue
            count = product((*groups[:-1], floordiv(groups[-1], constant(width))))
            tiling = Tiling(count, width, groups, sizes)
            if width == 1 or self._fits(tiling, variables, summary):
                return tiling
        return Tiling(product(groups), 1, groups, sizes)

    def _widths(self, summary: Summary) -> list[int]:
        if summary.nests or summary.allocates or not summary.accesses or _reloads(summary.accesses):
            return [1]
        sizes = [element_bytes(access.element) for access in summary.accesses]
        width = min(VECTOR_BYTES // min(sizes), WIDEST_TILE_BYTES // max(sizes))
        if self.widest:
            width = min(width, self.widest)
        widths: list[int] = []
        while width >= 1:
            widths.append(width)
            width //= 2
        return widths

    def _fits(self, tiling: Tiling, variables: Sequence[Expr], summary: Summary) -> bool:
        tile = self.space.variable(tiling.count)
        lane = self.space.variable(constant(tiling.width))
        offsets = self.offsets(tiling, variables, summary.accesses, tile, lane)
        kinds = [
            self.lane_stride(access, offset, lane, tiling.width)
            for access, offset in zip(summary.accesses, offsets, strict=True)
        ]
        return None not in kinds and 1 in kinds

    def offsets(
        self, tiling: Tiling, variables: Sequence[Expr], accesses: Sequence[Access], tile: Expr, lane: Expr
    ) -> list[Expr]:
        """The offset of each access at an element of a tile."""
        numbers = [variable_number(variable) for variable in variables]
        values = dict(zip(numbers, tiling.indices(tile, lane), strict=True))
        return [self.space.simplify(substitute_indices(access.offset, values)) for access in accesses]

    def lane_stride(self, access: Access, offset: Expr, lane: Expr, width: int) -> int | None:
        """1 for an access that is a vector access of the tile, 0 for one that is the same for all lanes, else None."""
        step = stride(offset, lane)
        if step is None or step.as_int() is None:
            return None
        if step.as_int() == 0:
            return None if access.is_store else 0
        if step.as_int() != 1 or not self.space.is_multiple(offset - lane, width):
            return None
        size = element_bytes(access.element) * width
        return 1 if self.alignments.get(access.root, VECTOR_BYTES) >= min(size, VECTOR_BYTES) else None


def variable_number(variable: Expr) -> int:
    atom = variable.as_atom()
    assert atom is not None and atom.kind == "index"
    return atom.number


def _reloads(accesses: Sequence[Access]) -> bool:
    """Whether a buffer is read after it was written: then the order of single elements may matter."""
    written: list[SSAValue] = []
    for access in accesses:
        if access.is_store:
            written.append(access.root)
        elif access.root in written:
            return True
    return False


def vector_split(element: Attribute, width: int) -> tuple[int, int]:
    """(pieces, lanes of a piece) of the vector accesses that move a tile of an element type."""
    lanes = min(width, VECTOR_BYTES // element_bytes(element))
    return width // lanes, lanes
