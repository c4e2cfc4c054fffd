"""Moves one tile of an operand from global to shared memory, in vectors where its strides allow."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from xdsl.dialects.builtin import VectorType, i32
from xdsl.ir import Attribute, SSAValue

from ...dialects import simt
from ...dialects.sym.expr import Expr, constant, floordiv
from ..kernel_to_loop.scalar_ops import element_type, number, widen
from ..loop_to_simt.accesses import stride
from .problem import MatmulProblem, Operand


class Direction(Enum):
    """Along which index of its tile an operand lies densely in memory."""

    Depth = "depth"
    Outer = "outer"


@dataclass(frozen=True)
class Side:
    """One operand of a matmul, seen alike from both sides: `indices(outer, depth)` are the space's indices at a row
    (of the left operand) or column (of the right one) and a depth; `extent` bounds the outer index."""

    operand: Operand
    extent: Expr
    indices: Callable[[Expr, Expr], list[Expr]]


def vector_width(problem: MatmulProblem, side: Side, direction: Direction, widest: int) -> int:
    """The widest vector that can be loaded along a direction: a power of two up to `widest`, 1 if there is none."""
    address = side.operand.address
    if address is None:
        return 1
    space = problem.indices
    extent = problem.depth.extent if direction is Direction.Depth else side.extent
    width = widest
    while width > 1:
        lane = space.variable(constant(width))
        group = space.variable(floordiv(extent, constant(width)))
        moved = group * width + lane
        if direction is Direction.Depth:
            indices = side.indices(space.variable(side.extent), moved)
        else:
            indices = side.indices(moved, space.variable(problem.depth.extent))
        offset = problem.region.replace(address, indices)
        step = stride(offset, lane)
        dense = step is not None and step.as_int() == 1 and space.is_multiple(offset - lane, width)
        if dense and space.is_multiple(extent, width):
            return width
        width //= 2
    return 1


def direction_of(problem: MatmulProblem, side: Side, widest: int) -> tuple[Direction, int]:
    """The direction with the wider vectors and their width; without any, one in which neighbouring threads read
    neighbours."""
    along_depth = vector_width(problem, side, Direction.Depth, widest)
    along_outer = vector_width(problem, side, Direction.Outer, widest)
    if along_depth == along_outer == 1 and side.operand.address is not None:
        outer = problem.indices.variable(side.extent)
        indices = side.indices(outer, problem.indices.variable(problem.depth.extent))
        step = stride(problem.region.replace(side.operand.address, indices), outer)
        return (Direction.Outer if step is not None and step.as_int() == 1 else Direction.Depth), 1
    return (Direction.Depth, along_depth) if along_depth >= along_outer else (Direction.Outer, along_outer)


class StagedLoader:
    """Loads a tile [outer, depth] into registers and later writes it to shared memory as [depth][outer], widened.

    Elements beyond the edges become zero.
    """

    def __init__(self, problem: MatmulProblem, side: Side, tile: tuple[int, int], threads: int):
        self.problem = problem
        self.emitter = problem.emitter
        self.side = side
        self.outer, self.depth = tile
        self.threads = threads
        self.compute = problem.accumulator
        lanes = 16 // self.compute.bytes
        widest = min(lanes, 16 // side.operand.dtype.bytes, self.outer * self.depth // threads)
        self.direction, self.width = direction_of(problem, side, widest)
        self.count = self.outer * self.depth // (threads * self.width)
        self.pitch = self.outer + lanes
        """Elements between neighbouring depths in shared memory; the extra ones spread a transposing write over the
        banks."""
        element = element_type(side.operand.dtype)
        self.element: Attribute = element
        self.registers = self.emitter.add(simt.RegsOp(simt.RegType.of([self.count, self.width], element)))

    @property
    def shared_elements(self) -> int:
        return self.depth * self.pitch

    def _places(self, chunk: Expr, thread: Expr) -> tuple[Expr, Expr]:
        """(outer, depth) of the first element of a thread's chunk inside the tile."""
        number_ = chunk * self.threads + thread
        fast = self.depth if self.direction is Direction.Depth else self.outer
        across = floordiv(number_, constant(fast // self.width))
        along = (number_ - across * (fast // self.width)) * self.width
        return (across, along) if self.direction is Direction.Depth else (along, across)

    def load(self, thread: Expr, first_outer: Expr, first_depth: Expr) -> None:
        """Starts the loads of the tile whose corner is given."""
        with self.emitter.unrolled(self.count, "chunk") as chunk:
            outer, depth = self._places(chunk, thread)
            row, k = first_outer + outer, first_depth + depth
            inside = self.problem.guard((row, self.side.extent), (k, self.problem.depth.extent))
            self._load_chunk(chunk, self.side.indices(row, k), inside)

    def _load_chunk(self, chunk: Expr, indices: list[Expr], inside: SSAValue | None) -> None:
        operand = self.side.operand
        place = [self.emitter.index(chunk, i32)]
        if operand.argument is None or operand.address is None:
            zero = number(self.emitter.add, 0, operand.dtype)
            evaluate = self.problem.region.evaluation(indices)
            (value,) = self.emitter.when_value(inside, lambda: [evaluate(operand.value, operand.at)], [zero])
            self.emitter.do(simt.RegStoreOp(value, self.registers, [*place, self.emitter.index(constant(0), i32)]))
            return
        pointer = self.problem.region.pointers[operand.argument]
        offset = self.emitter.index(self.problem.region.replace(operand.address, indices))
        if self.width == 1:
            place.append(self.emitter.index(constant(0), i32))
            kind = self.element
        else:
            kind = VectorType(self.element, [self.width])
        value = self.emitter.add(simt.LoadOp(pointer, offset, kind, inside))
        self.emitter.do(simt.RegStoreOp(value, self.registers, place))

    def store(self, thread: Expr, shared: SSAValue, start: Expr) -> None:
        """Writes the loaded tile to shared memory from an element offset on."""
        along_depth = self.direction is Direction.Depth
        with self.emitter.unrolled(self.count, "chunk") as chunk:
            outer, depth = self._places(chunk, thread)
            with self.emitter.unrolled(self.width, "lane") as lane:
                place = [self.emitter.index(chunk, i32), self.emitter.index(lane, i32)]
                value = self.emitter.add(simt.RegLoadOp(self.registers, place))
                value = widen(self.emitter.add, value, self.side.operand.dtype)
                row, column = (depth + lane, outer) if along_depth else (depth, outer + lane)
                offset = self.emitter.index(start + row * self.pitch + column, i32)
                self.emitter.do(simt.StoreOp(value, shared, offset))
