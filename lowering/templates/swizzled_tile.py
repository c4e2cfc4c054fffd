"""Tiles of 16-bit operands in shared memory for the matrix units: filled by asynchronous copies, read as fragments.

A tile lies in rows of 16-byte chunks along the direction in which the operand is dense; chunks of a row are permuted
by the row's number, so that the eight rows that one instruction reads at a chunk lie in different banks.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass

from xdsl.dialects import arith
from xdsl.dialects.builtin import VectorType, i32
from xdsl.ir import SSAValue

from ...dialects import nv, simt
from ...dialects.sym.expr import Expr, constant, floordiv
from ..kernel_to_loop.scalar_ops import element_type, number
from .loader import Direction, Side, direction_of
from .problem import MatmulProblem

CHUNK = 8
"""Elements of a chunk."""


@dataclass(frozen=True)
class Lane:
    """A thread's place in its warp: `low` is lane % 8, `second` (lane / 8) % 2, `third` lane / 16."""

    low: Expr
    second: Expr
    third: Expr


class SwizzledTile:
    """One operand's tile of `outer` rows (or columns) and `depth` depths."""

    def __init__(self, problem: MatmulProblem, side: Side, outer: int, depth: int, threads: int, is_left: bool):
        self.problem = problem
        self.emitter = problem.emitter
        self.side = side
        self.outer, self.depth, self.threads = outer, depth, threads
        self.is_left = is_left
        self.direction, self.width = direction_of(problem, side, CHUNK)
        along_depth = self.direction is Direction.Depth
        self.rows, self.chunks = (outer, depth // CHUNK) if along_depth else (depth, outer // CHUNK)

    @property
    def elements(self) -> int:
        return self.outer * self.depth

    def _swizzled(self, chunk: Expr, mask: Expr) -> Expr:
        value = self.emitter.add(arith.XOrIOp(self.emitter.index(chunk, i32), self.emitter.index(mask, i32)))
        return self.problem.named(value, constant(self.chunks))

    def _mask(self, low: Expr) -> Expr:
        """What permutes the chunks of a row with this number modulo 8."""
        return low if self.chunks >= CHUNK else floordiv(low, constant(CHUNK // self.chunks))

    def fill(self, thread: Expr, first_outer: Expr, first_depth: Expr, shared: SSAValue, start: Expr) -> None:
        """Starts copying the tile whose corner is given to the shared memory from an element offset on."""
        with self._steps(self.rows * self.chunks // self.threads) as step:
            place = step * self.threads + thread
            row = self.problem.named(
                self.emitter.index(floordiv(place, constant(self.chunks)), i32), constant(self.rows)
            )
            chunk = place - row * self.chunks
            low = row - CHUNK * floordiv(row, constant(CHUNK))
            target = start + row * (self.chunks * CHUNK) + self._swizzled(chunk, self._mask(low)) * CHUNK
            if self.direction is Direction.Depth:
                outer, depth = first_outer + row, first_depth + chunk * CHUNK
            else:
                outer, depth = first_outer + chunk * CHUNK, first_depth + row
            if self.width == CHUNK:
                self._copy_chunk(outer, depth, shared, target)
            else:
                self._gather_chunk(outer, depth, shared, target)

    def _steps(self, count: int) -> AbstractContextManager[Expr]:
        """A thread's chunks one after the other; all at once where each is a single copy, which needs few registers."""
        return self.emitter.unrolled(count) if self.width == CHUNK else self.emitter.repeated(count)

    def _inside(self, outer: Expr, depth: Expr) -> SSAValue | None:
        return self.problem.guard((outer, self.side.extent), (depth, self.problem.depth.extent))

    def _copy_chunk(self, outer: Expr, depth: Expr, shared: SSAValue, target: Expr) -> None:
        problem, operand = self.problem, self.side.operand
        assert operand.argument is not None and operand.address is not None
        source = problem.region.pointers[operand.argument]
        offset = self.emitter.index(problem.region.replace(operand.address, self.side.indices(outer, depth)))
        place = self.emitter.index(target, i32)
        self.emitter.do(nv.CpAsyncOp(source, offset, shared, place, 2 * CHUNK, self._inside(outer, depth)))

    def _gather_chunk(self, outer: Expr, depth: Expr, shared: SSAValue, target: Expr) -> None:
        """Element by element, for strides that no copy of 16 bytes fits, and for operands that are computed."""
        operand = self.side.operand
        element = element_type(operand.dtype)
        chunk = self.emitter.add(simt.RegsOp(simt.RegType.of([CHUNK], element)))
        zero = number(self.emitter.add, 0, operand.dtype)
        with self.emitter.unrolled(CHUNK) as lane:
            here = (outer, depth + lane) if self.direction is Direction.Depth else (outer + lane, depth)
            evaluate = self.problem.region.evaluation(self.side.indices(*here))
            (value,) = self.emitter.when_value(
                self._inside(*here), lambda: [evaluate(operand.value, operand.at)], [zero]
            )
            self.emitter.do(simt.RegStoreOp(value, chunk, [self.emitter.index(lane, i32)]))
        vector = self.emitter.add(simt.RegLoadOp(chunk, [], VectorType(element, [CHUNK])))
        self.emitter.do(simt.StoreOp(vector, shared, self.emitter.index(target, i32)))

    def read_fragment(
        self,
        shared: SSAValue,
        start: Expr,
        outer: Expr,
        step: Expr,
        lane: Lane,
        target: tuple[SSAValue, list[SSAValue]],
    ) -> None:
        """Loads the 16 x 16 elements from an outer index (a multiple of 16) and depth 16 * step on into four
        registers."""
        half_outer, half_depth = (lane.second, lane.third) if self.is_left else (lane.third, lane.second)
        if self.direction is Direction.Depth:
            row, chunk = outer + half_outer * CHUNK + lane.low, step * 2 + half_depth
        else:
            row, chunk = step * 16 + half_depth * CHUNK + lane.low, floordiv(outer, constant(CHUNK)) + half_outer
        place = start + row * (self.chunks * CHUNK) + self._swizzled(chunk, self._mask(lane.low)) * CHUNK
        transposed = self.direction is Direction.Outer
        self.emitter.do(nv.LdmatrixOp(shared, self.emitter.index(place, i32), *target, 4, transposed))
