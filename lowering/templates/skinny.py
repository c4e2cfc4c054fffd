"""Matmul of a few rows by a wide matrix: limited by reading the matrix once, so each warp streams whole columns of it.

The right operand lies with its depth innermost (a row-major weight [N, K]), as does the left one; rows are at most
eight.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import VectorType, i32
from xdsl.ir import Region, SSAValue

from ...dialects import simt
from ...dialects.sym.dialect import ExprAttr
from ...dialects.sym.expr import Expr, constant, floordiv
from ..kernel_to_loop.scalar_ops import element_type, widen
from .epilogue import Epilogue
from .loader import Direction, Side, vector_width
from .problem import MatmulProblem, Operand

MAX_ROWS = 8
WARPS = 4


@dataclass(frozen=True)
class SkinnySizes:
    """Rows of the left operand at most, and columns of a block; its warps share them out."""

    rows: int
    columns: int

    @property
    def threads(self) -> int:
        return simt.WARP * WARPS

    @property
    def warp_columns(self) -> int:
        return self.columns // WARPS


def skinny_rows(problem: MatmulProblem) -> int | None:
    """The largest number of rows, if this template takes the problem."""
    rows = problem.indices.largest(problem.rows.extent)
    if rows is None or not 1 <= rows <= MAX_ROWS or problem.accumulator.bytes != 4:
        return None
    sides = _sides(problem)
    whole = all(_width(problem, side) * side.operand.dtype.bytes == 16 for side in sides)
    return rows if whole and sides[0].operand.dtype == sides[1].operand.dtype else None


def _sides(problem: MatmulProblem) -> tuple[Side, Side]:
    zero, batch = constant(0), problem.batch_index
    left = Side(problem.lhs, problem.rows.extent, lambda row, k: problem.index(batch, row, zero, k))
    right = Side(problem.rhs, problem.columns.extent, lambda column, k: problem.index(batch, zero, column, k))
    return left, right


def _width(problem: MatmulProblem, side: Side) -> int:
    return vector_width(problem, side, Direction.Depth, 16 // side.operand.dtype.bytes)


class Skinny:
    """Emits the kernel."""

    def __init__(self, problem: MatmulProblem, sizes: SkinnySizes):
        self.problem = problem
        self.sizes = sizes
        self.emitter = problem.emitter
        self.width = 16 // problem.lhs.dtype.bytes

    def build(self) -> simt.KernelOp:
        problem, sizes = self.problem, self.sizes
        grid = problem.place_block((sizes.rows, sizes.columns))
        thread = problem.named(self.emitter.add(simt.IdOp(simt.Id.ThreadX)), constant(sizes.threads), "thread")
        warp = problem.named(self.emitter.index(floordiv(thread, constant(32)), i32), constant(WARPS), "warp")
        lane = problem.named(self.emitter.index(thread - warp * 32, i32), constant(32), "lane")
        self.first_column = problem.first_column + warp * sizes.warp_columns
        self.left, self.right = _sides(problem)
        self._store(self._accumulate(lane), lane)
        return simt.KernelOp(
            problem.name,
            [],
            grid=[ExprAttr.get(grid)],
            block=[sizes.threads, 1, 1],
            symbols=problem.symbols,
            modes=problem.modes,
            body=Region(problem.block),
        )

    def _accumulate(self, lane: Expr) -> SSAValue:
        """What each lane adds up over its part of the depth: registers [row, column]."""
        problem, sizes, unrolled = self.problem, self.sizes, self.emitter.unrolled
        kind = problem.accumulator.attr
        totals = self.emitter.add(
            simt.RegsOp(simt.RegType.of([sizes.rows, sizes.warp_columns], kind), self.emitter.constant(0.0, kind))
        )
        element = element_type(problem.lhs.dtype)
        left, right = (
            self.emitter.add(simt.RegsOp(simt.RegType.of([count, self.width], element)))
            for count in (sizes.rows, sizes.warp_columns)
        )
        depth = problem.depth.extent
        chunk = problem.indices.variable(floordiv(depth, constant(self.width)))
        bounds = (lane, floordiv(depth, constant(self.width)), constant(32))
        with self.emitter.loop(bounds, chunk, hint="chunk"):
            self._load(self.right, sizes.warp_columns, self.first_column, chunk * self.width, right, simt.Hint.Stream)
            self._load(self.left, sizes.rows, problem.first_row, chunk * self.width, left, None)
            with ExitStack() as loops:
                row, column, part = (
                    loops.enter_context(unrolled(n)) for n in (sizes.rows, sizes.warp_columns, self.width)
                )
                a = self._wide(left, [row, part], problem.lhs)
                b = self._wide(right, [column, part], problem.rhs)
                place = [self.emitter.index(row, i32), self.emitter.index(column, i32)]
                total = self.emitter.add(simt.RegLoadOp(totals, place))
                self.emitter.do(simt.RegStoreOp(self.emitter.add(math.FmaOp(a, b, total)), totals, place))
        return totals

    def _load(
        self, side: Side, count: int, first: Expr, depth: Expr, registers: SSAValue, hint: simt.Hint | None
    ) -> None:
        problem, operand = self.problem, side.operand
        assert operand.argument is not None and operand.address is not None
        pointer = problem.region.pointers[operand.argument]
        kind = VectorType(element_type(operand.dtype), [self.width])
        with self.emitter.unrolled(count) as number:
            outer = first + number
            inside = problem.guard((outer, side.extent))
            offset = self.emitter.index(problem.region.replace(operand.address, side.indices(outer, depth)))
            vector = self.emitter.add(simt.LoadOp(pointer, offset, kind, inside, hint))
            self.emitter.do(simt.RegStoreOp(vector, registers, [self.emitter.index(number, i32)]))

    def _wide(self, registers: SSAValue, place: list[Expr], operand: Operand) -> SSAValue:
        value = self.emitter.add(simt.RegLoadOp(registers, [self.emitter.index(index, i32) for index in place]))
        return widen(self.emitter.add, value, operand.dtype)

    def _store(self, totals: SSAValue, lane: Expr) -> None:
        """All lanes add up; then each takes one result to the end, as far as there are results."""
        sizes, problem = self.sizes, self.problem
        kind = problem.accumulator.attr
        mine = self.emitter.add(simt.RegsOp(simt.RegType.of([1], kind)))
        zero = self.emitter.index(constant(0), i32)
        own = self.emitter.index(lane, i32)
        with self.emitter.unrolled(sizes.rows) as row, self.emitter.unrolled(sizes.warp_columns) as column:
            place = [self.emitter.index(row, i32), self.emitter.index(column, i32)]
            value = self.emitter.add(simt.RegLoadOp(totals, place))
            total = self.emitter.add(simt.ReduceWarpOp(simt.Combiner.Add, value))
            number = self.emitter.index(row * sizes.warp_columns + column, i32)
            here = self.emitter.add(arith.CmpiOp(own, number, "eq"))
            with self.emitter.when(here):
                self.emitter.do(simt.RegStoreOp(total, mine, [zero]))
        row = floordiv(lane, constant(sizes.warp_columns))
        column = self.first_column + lane - row * sizes.warp_columns
        with self.emitter.when(self.emitter.less(lane, constant(sizes.rows * sizes.warp_columns))):
            total = self.emitter.add(simt.RegLoadOp(mine, [zero]))
            Epilogue(problem, problem.batch_index, 1).strip(problem.first_row + row, column, lambda _: total)
