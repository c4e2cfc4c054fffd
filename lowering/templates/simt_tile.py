"""Matmul on the general cores: a block computes a tile from double-buffered shared memory, a thread a tile of it in
registers.

Runs as CUDA and as Metal; takes any extents, strides, prologue and epilogue.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass

from xdsl.dialects import math
from xdsl.dialects.builtin import VectorType, i32
from xdsl.ir import Region, SSAValue

from ...dialects import simt
from ...dialects.sym.dialect import ExprAttr
from ...dialects.sym.expr import Expr, constant, floordiv
from .epilogue import Epilogue
from .loader import Side, StagedLoader
from .problem import MatmulProblem, Operand


@dataclass(frozen=True)
class TileSizes:
    """Rows, columns and depth of a block's tile; rows and columns of a thread's; blocks that a multiprocessor must
    hold."""

    rows: int
    columns: int
    depth: int
    thread_rows: int
    thread_columns: int
    min_blocks: int = 1

    @property
    def threads(self) -> int:
        return (self.rows // self.thread_rows) * (self.columns // self.thread_columns)


class SimtTile:
    """Emits the kernel."""

    def __init__(self, problem: MatmulProblem, sizes: TileSizes):
        self.problem = problem
        self.sizes = sizes
        self.emitter = problem.emitter
        self.lanes = 16 // problem.accumulator.bytes
        """Neighbouring rows or columns that a thread reads from shared memory at once."""
        self.row_groups = sizes.thread_rows // self.lanes
        self.column_groups = sizes.thread_columns // self.lanes

    def build(self) -> simt.KernelOp:
        problem, sizes = self.problem, self.sizes
        rows, columns = problem.rows.extent, problem.columns.extent
        grid = problem.place_block((sizes.rows, sizes.columns))
        self.thread = problem.named(self.emitter.add(simt.IdOp(simt.Id.ThreadX)), constant(sizes.threads), "thread")
        batch = problem.batch_index
        zero = constant(0)
        self.left = self._loader(problem.lhs, rows, sizes.rows, lambda r, k: problem.index(batch, r, zero, k))
        self.right = self._loader(problem.rhs, columns, sizes.columns, lambda c, k: problem.index(batch, zero, c, k))
        buffer = self.left.shared_elements + self.right.shared_elements
        kind = problem.accumulator
        pointer = simt.PtrType.of(kind.attr, simt.Space.Shared, 16)
        self.shared = self.emitter.add(simt.SharedOp(0, pointer))
        self.buffer = buffer
        totals = self._accumulate()
        self._store(totals)
        return simt.KernelOp(
            problem.name,
            [],
            grid=[ExprAttr.get(grid)],
            block=[sizes.threads, 1, 1],
            smem=2 * buffer * kind.bytes,
            min_blocks=sizes.min_blocks if sizes.min_blocks > 1 else None,
            symbols=problem.symbols,
            modes=problem.modes,
            body=Region(problem.block),
        )

    def _loader(
        self, operand: Operand, extent: Expr, outer: int, indices: Callable[[Expr, Expr], list[Expr]]
    ) -> StagedLoader:
        side = Side(operand, extent, indices)
        return StagedLoader(self.problem, side, (outer, self.sizes.depth), self.sizes.threads)

    def _fetch(self, depth: Expr) -> None:
        self.left.load(self.thread, self.problem.first_row, depth)
        self.right.load(self.thread, self.problem.first_column, depth)

    def _put(self, buffer: Expr) -> None:
        self.left.store(self.thread, self.shared, buffer)
        self.right.store(self.thread, self.shared, buffer + self.left.shared_elements)

    def _accumulate(self) -> SSAValue:
        """The totals of the thread's tile: registers [row group, row, column group, column]."""
        sizes, problem = self.sizes, self.problem
        across = sizes.columns // sizes.thread_columns
        thread_row = floordiv(self.thread, constant(across))
        thread_column = self.thread - thread_row * across
        shape = [self.row_groups, self.lanes, self.column_groups, self.lanes]
        element = problem.accumulator.attr
        totals = self.emitter.add(simt.RegsOp(simt.RegType.of(shape, element), self.emitter.constant(0.0, element)))
        left = self.emitter.add(simt.RegsOp(simt.RegType.of(shape[:2], element)))
        right = self.emitter.add(simt.RegsOp(simt.RegType.of(shape[2:], element)))
        self.place = (thread_row * self.lanes, thread_column * self.lanes)
        self._fetch(constant(0))
        self._put(constant(0))
        self.emitter.do(simt.BarrierOp())
        steps = floordiv(problem.depth.extent + sizes.depth - 1, constant(sizes.depth))
        step = problem.indices.variable(steps)
        with self.emitter.loop((constant(0), steps, constant(1)), step, hint="step"):
            odd = step - 2 * floordiv(step, constant(2))
            current = problem.named(self.emitter.index(odd * self.buffer, i32), constant(self.buffer + 1))
            self._fetch((step + 1) * sizes.depth)
            self._multiply(totals, left, right, current)
            self._put(self.buffer - current)
            self.emitter.do(simt.BarrierOp())
        return totals

    def _multiply(self, totals: SSAValue, left: SSAValue, right: SSAValue, buffer: Expr) -> None:
        """Adds the products of one buffer."""
        with self.emitter.unrolled(self.sizes.depth, "depth") as depth:
            self._read(left, self.row_groups, buffer + depth * self.left.pitch + self.place[0], self.sizes.rows)
            start = buffer + self.left.shared_elements + depth * self.right.pitch + self.place[1]
            self._read(right, self.column_groups, start, self.sizes.columns)
            counts = (self.row_groups, self.lanes, self.column_groups, self.lanes)
            with ExitStack() as loops:
                variables = [loops.enter_context(self.emitter.unrolled(count)) for count in counts]
                place = [self.emitter.index(variable, i32) for variable in variables]
                a = self.emitter.add(simt.RegLoadOp(left, place[:2]))
                b = self.emitter.add(simt.RegLoadOp(right, place[2:]))
                total = self.emitter.add(simt.RegLoadOp(totals, place))
                self.emitter.do(simt.RegStoreOp(self.emitter.add(math.FmaOp(a, b, total)), totals, place))

    def _read(self, registers: SSAValue, groups: int, start: Expr, extent: int) -> None:
        """Fills [group, lane] registers; groups lie evenly over the tile so that a warp reads neighbouring vectors."""
        kind = VectorType(self.problem.accumulator.attr, [self.lanes])
        with self.emitter.unrolled(groups) as group:
            offset = self.emitter.index(start + group * (extent // groups), i32)
            vector = self.emitter.add(simt.LoadOp(self.shared, offset, kind))
            self.emitter.do(simt.RegStoreOp(vector, registers, [self.emitter.index(group, i32)]))

    def _store(self, totals: SSAValue) -> None:
        sizes, unrolled = self.sizes, self.emitter.unrolled
        epilogue = Epilogue(self.problem, self.problem.batch_index, self.lanes)
        with unrolled(self.row_groups) as group, unrolled(self.lanes) as row, unrolled(self.column_groups) as strip:
            at_row = self.problem.first_row + group * (sizes.rows // self.row_groups) + self.place[0] + row
            at_column = self.problem.first_column + strip * (sizes.columns // self.column_groups) + self.place[1]

            def total(lane: Expr) -> SSAValue:
                place = [self.emitter.index(index, i32) for index in (group, row, strip, lane)]
                return self.emitter.add(simt.RegLoadOp(totals, place))

            epilogue.strip(at_row, at_column, total)
