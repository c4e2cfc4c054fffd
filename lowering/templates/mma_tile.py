"""Matmul of bf16 and f16 on the tensor cores (sm_80 and later): mma.sync fed by ldmatrix from a ring of asynchronously
filled tiles. Takes any extents, strides, prologue and epilogue; what cannot be copied in 16 bytes is gathered."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from xdsl.dialects.builtin import f32, i32
from xdsl.ir import Region, SSAValue

from ...dialects import nv, simt
from ...dialects.dtype import BF16, F16, F32
from ...dialects.sym.dialect import ExprAttr
from ...dialects.sym.expr import Expr, constant, floordiv
from ..kernel_to_loop.scalar_ops import element_type
from .epilogue import Epilogue
from .loader import Side
from .problem import MatmulProblem, Operand
from .swizzled_tile import Lane, SwizzledTile

KINDS = {BF16: nv.MmaKind.M16N8K16Bf16, F16: nv.MmaKind.M16N8K16F16}


@dataclass(frozen=True)
class MmaSizes:
    """Rows, columns and depth of a block's tile, tiles under way, and how the warps lie over the tile."""

    rows: int
    columns: int
    depth: int
    stages: int
    warp_rows: int
    warp_columns: int
    min_blocks: int = 1

    @property
    def threads(self) -> int:
        return simt.WARP * self.warp_rows * self.warp_columns


def takes(problem: MatmulProblem) -> bool:
    """Whether the operands are of a type that the tensor cores multiply, summed in f32."""
    dtype = problem.lhs.dtype
    return dtype in KINDS and problem.rhs.dtype == dtype and problem.accumulator == F32


class MmaTile:
    """Emits the kernel."""

    def __init__(self, problem: MatmulProblem, sizes: MmaSizes):
        self.problem = problem
        self.sizes = sizes
        self.emitter = problem.emitter
        self.kind = KINDS[problem.lhs.dtype]
        self.row_tiles = sizes.rows // sizes.warp_rows // 16
        """Tiles of 16 rows of a warp."""
        self.column_pairs = sizes.columns // sizes.warp_columns // 16
        """Pairs of tiles of 8 columns of a warp."""

    def build(self) -> simt.KernelOp:
        problem, sizes = self.problem, self.sizes
        grid = problem.place_block((sizes.rows, sizes.columns))
        self.thread = problem.named(self.emitter.add(simt.IdOp(simt.Id.ThreadX)), constant(sizes.threads), "thread")
        self._place_warp()
        zero, batch = constant(0), problem.batch_index
        self.left = self._tile(problem.lhs, problem.rows.extent, True, lambda r, k: problem.index(batch, r, zero, k))
        self.right = self._tile(
            problem.rhs, problem.columns.extent, False, lambda c, k: problem.index(batch, zero, c, k)
        )
        self.stage = self.left.elements + self.right.elements
        pointer = simt.PtrType.of(element_type(problem.lhs.dtype), simt.Space.Shared, 16)
        self.shared = self.emitter.add(simt.SharedOp(0, pointer))
        self._store(self._accumulate())
        return simt.KernelOp(
            problem.name,
            [],
            grid=[ExprAttr.get(grid)],
            block=[sizes.threads, 1, 1],
            smem=sizes.stages * self.stage * problem.lhs.dtype.bytes,
            min_blocks=sizes.min_blocks if sizes.min_blocks > 1 else None,
            symbols=problem.symbols,
            modes=problem.modes,
            body=Region(problem.block),
        )

    def _tile(
        self, operand: Operand, extent: Expr, is_left: bool, indices: Callable[[Expr, Expr], list[Expr]]
    ) -> SwizzledTile:
        sizes = self.sizes
        outer = sizes.rows if is_left else sizes.columns
        side = Side(operand, extent, indices)
        return SwizzledTile(self.problem, side, outer, sizes.depth, sizes.threads, is_left)

    def _place_warp(self) -> None:
        sizes, named, value = self.sizes, self.problem.named, self.emitter.index
        warp = named(value(floordiv(self.thread, constant(32)), i32), constant(sizes.threads // 32), "warp")
        lane = named(value(self.thread - warp * 32, i32), constant(32), "lane")
        eighth = named(value(floordiv(lane, constant(8)), i32), constant(4))
        third = named(value(floordiv(eighth, constant(2)), i32), constant(2))
        self.lane = Lane(
            named(value(lane - eighth * 8, i32), constant(8)), named(value(eighth - third * 2, i32), constant(2)), third
        )
        quad = named(value(floordiv(lane, constant(4)), i32), constant(8))
        self.result_row, self.result_column = quad, named(value((lane - quad * 4) * 2, i32), constant(7))
        across = floordiv(warp, constant(sizes.warp_columns))
        self.warp_row = across * (16 * self.row_tiles)
        self.warp_column = (warp - across * sizes.warp_columns) * (16 * self.column_pairs)

    def _fill(self, stage: Expr, depth: Expr) -> None:
        problem = self.problem
        self.left.fill(self.thread, problem.first_row, depth, self.shared, stage)
        self.right.fill(self.thread, problem.first_column, depth, self.shared, stage + self.left.elements)
        self.emitter.do(nv.CpAsyncCommitOp())

    def _accumulate(self) -> SSAValue:
        """The totals of the thread: registers [row tile, column tile, half, column]."""
        sizes, problem = self.sizes, self.problem
        shape = [self.row_tiles, 2 * self.column_pairs, 2, 2]
        totals = self.emitter.add(simt.RegsOp(simt.RegType.of(shape, f32), self.emitter.constant(0.0, f32)))
        left = self.emitter.add(simt.RegsOp(simt.RegType.of([self.row_tiles, 4], i32)))
        right = self.emitter.add(simt.RegsOp(simt.RegType.of([self.column_pairs, 2, 2], i32)))
        ahead = sizes.stages - 1
        with self.emitter.unrolled(ahead, "stage") as stage:
            self._fill(stage * self.stage, stage * sizes.depth)
        steps = floordiv(problem.depth.extent + sizes.depth - 1, constant(sizes.depth))
        step = problem.indices.variable(steps)
        with self.emitter.loop((constant(0), steps, constant(1)), step, hint="step"):
            self.emitter.do(nv.CpAsyncWaitOp(ahead - 1))
            self.emitter.do(simt.BarrierOp())
            self._fill(self._ring(step + ahead), (step + ahead) * sizes.depth)
            self._multiply(totals, left, right, self._ring(step))
        return totals

    def _ring(self, step: Expr) -> Expr:
        """The element offset of the stage that a step uses."""
        stages = self.sizes.stages
        turn = self.emitter.index((step - stages * floordiv(step, constant(stages))) * self.stage, i32)
        return self.problem.named(turn, constant(stages * self.stage))

    def _multiply(self, totals: SSAValue, left: SSAValue, right: SSAValue, start: Expr) -> None:
        """Adds the products of one stage."""
        unrolled, index = self.emitter.unrolled, self.emitter.index
        with unrolled(self.sizes.depth // 16, "depth") as step:
            with unrolled(self.row_tiles) as row:
                outer = self.warp_row + row * 16
                self.left.read_fragment(self.shared, start, outer, step, self.lane, (left, [index(row, i32)]))
            with unrolled(self.column_pairs) as pair:
                outer = self.warp_column + pair * 16
                beside = start + self.left.elements
                self.right.read_fragment(self.shared, beside, outer, step, self.lane, (right, [index(pair, i32)]))
            with unrolled(self.row_tiles) as row, unrolled(self.column_pairs) as pair, unrolled(2) as half:
                place = [index(row, i32), index(pair * 2 + half, i32)]
                columns = (right, [index(pair, i32), index(half, i32)])
                self.emitter.do(nv.MmaOp(self.kind, (totals, place), (left, place[:1]), columns))

    def _store(self, totals: SSAValue) -> None:
        unrolled = self.emitter.unrolled
        epilogue = Epilogue(self.problem, self.problem.batch_index, 2)
        with unrolled(self.row_tiles) as tile, unrolled(2) as half, unrolled(2 * self.column_pairs) as strip:
            row = self.problem.first_row + self.warp_row + tile * 16 + half * 8 + self.result_row
            column = self.problem.first_column + self.warp_column + strip * 8 + self.result_column

            def total(lane: Expr) -> SSAValue:
                place = [self.emitter.index(index, i32) for index in (tile, strip, half, lane)]
                return self.emitter.add(simt.RegLoadOp(totals, place))

            epilogue.strip(row, column, total)
