"""kernel.matmul to loops for a CPU: tasks over blocks of the result, packed panels, a register tile of vectors, and the
epilogue on each row of tiles while it is in cache."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects.builtin import IntegerAttr, i64
from xdsl.ir import SSAValue

from ...dialects.kernel.function import FuncOp
from ...dialects.kernel.launch import MatmulOp
from ...dialects.loop import KernelOp, OffsetOp, ParallelOp, StoreOp
from ...dialects.loop import Mapping as LoopMapping
from ...dialects.sym.bounds import Bounds, Interval
from ...dialects.sym.expr import ceildiv, constant
from .epilogue import Epilogue, epilogue_addresses
from .expand import expand_composites
from .frame import Frame
from .matmul_context import Context, close_loop, open_loop
from .matmul_plan import analyse, choose_tiles, column_group, is_stored_by_columns, schedule_numbers, size_of
from .panel import Depth, PanelCode
from .scope import Scope, named

THREAD_FLOPS = 500_000
"""Multiplications and additions that a thread should have at least; some 3 us."""


class MatmulLowering:
    """State of lowering one kernel.matmul."""

    def __init__(self, function: FuncOp, ranges: Mapping[str, Interval]):
        frame, symbols = Frame.of(function, ranges), Bounds(ranges)
        kernel = frame.kernel
        assert isinstance(kernel, MatmulOp)
        expand_composites(kernel.block)
        placement = kernel.placement()
        contraction = kernel.contraction
        space = placement.space
        problem = analyse(contraction, space.parallel, space.reduced, symbols)
        addresses = epilogue_addresses(frame, placement, contraction, problem.coordinates, symbols)
        if is_stored_by_columns(problem, addresses):
            problem = analyse(contraction, space.parallel, space.reduced, symbols, swapped=True)
            addresses = epilogue_addresses(frame, placement, contraction, problem.coordinates, symbols)
        group = column_group(problem, addresses)
        accumulator = contraction.accumulator
        tiles = choose_tiles(problem, schedule_numbers(kernel.schedule), accumulator.bits, group, symbols)
        self.context = Context(frame, symbols, problem, tiles, group, accumulator)
        for extent in problem.coordinates.extents:
            frame.code.variable(extent)
        self.panels = PanelCode(self.context)
        self.epilogue = Epilogue(self.context, placement)

    def lower(self) -> KernelOp:
        """The loop kernel."""
        ctx, problem, tiles = self.context, self.context.problem, self.context.tiles
        extents = [*problem.coordinates.extents[: problem.batch], ceildiv(problem.m, constant(tiles.mb))]
        extents.append(ceildiv(problem.n, constant(tiles.nb)))
        grid = ParallelOp([ctx.fixed(extent) for extent in extents], LoopMapping.Grid)
        depth = size_of(problem.k, ctx.symbols)
        grid.attributes["grain"] = IntegerAttr(max(1, THREAD_FLOPS // (2 * tiles.mb * tiles.nb * max(1, depth))), i64)
        args = grid.body.block.args
        scope = ctx.frame.root.inner(grid.body.block, dict(enumerate(args[: problem.batch])))
        row, column = ctx.times(scope, args[-2], tiles.mb), ctx.times(scope, args[-1], tiles.nb)
        rows = ctx.least(scope, ctx.minus(scope, ctx.fixed(problem.m), row), ctx.number(tiles.mb))
        columns = ctx.least(scope, ctx.minus(scope, ctx.fixed(problem.n), column), ctx.number(tiles.nb))
        for value, hint in ((row, "row"), (column, "column"), (rows, "rows"), (columns, "columns")):
            named(value, hint)
        if ctx.blocked:
            self._in_blocks(row, rows, column, columns, scope)
        else:
            self._at_once(row, rows, column, columns, scope)
        ctx.frame.root.run(grid)
        return ctx.frame.finish()

    def _at_once(self, row: SSAValue, rows: SSAValue, column: SSAValue, columns: SSAValue, scope: Scope) -> None:
        """Each row of register tiles over the whole depth, then its epilogue."""
        ctx, mr = self.context, self.context.tiles.mr
        depth = Depth(ctx.number(0), ctx.fixed(ctx.problem.k))
        packed = self.panels.columns_scratch(scope)
        room = self.panels.rows_scratch(scope) if self.panels.needs_row_scratch() else None
        sums = named(ctx.scratch(scope, constant(mr * ctx.width)), "sums")
        self.panels.pack_columns(packed, column, columns, depth, scope)
        loop, tile = open_loop(scope, ctx.number(0), rows, ctx.number(mr))
        offset = loop.body.block.args[0]
        live = ctx.least(tile, ctx.minus(tile, rows, offset), ctx.number(mr))
        first = ctx.plus(tile, row, offset)
        left = self.panels.rows(room, first, live, depth, tile)
        self.panels.multiply(left, packed, columns, sums, depth, False, tile)
        self.epilogue.rows(sums, first, live, column, columns, tile)
        close_loop(loop, scope)

    def _in_blocks(self, row: SSAValue, rows: SSAValue, column: SSAValue, columns: SSAValue, scope: Scope) -> None:
        """The sums of the whole task over one block of the depth after another, then the epilogue."""
        ctx, tiles = self.context, self.context.tiles
        packed = self.panels.columns_scratch(scope)
        room = self.panels.rows_scratch(scope) if self.panels.needs_row_scratch() else None
        sums = named(ctx.scratch(scope, constant(tiles.mb * ctx.width)), "sums")
        clear = ParallelOp([ctx.number(tiles.mb * ctx.width)], LoopMapping.Vector)
        clear.body.block.add_op(StoreOp(ctx.zero(), sums, clear.body.block.args[0]))
        scope.run(clear)
        whole = ctx.fixed(ctx.problem.k)
        outer, block = open_loop(scope, ctx.number(0), whole, ctx.number(tiles.kb))
        start = outer.body.block.args[0]
        depth = Depth(start, ctx.least(block, ctx.minus(block, whole, start), ctx.number(tiles.kb)))
        self.panels.pack_columns(packed, column, columns, depth, block)
        loop, tile = open_loop(block, ctx.number(0), rows, ctx.number(tiles.mr))
        offset = loop.body.block.args[0]
        live = ctx.least(tile, ctx.minus(tile, rows, offset), ctx.number(tiles.mr))
        left = self.panels.rows(room, ctx.plus(tile, row, offset), live, depth, tile)
        part = tile.add(OffsetOp(sums, ctx.times(tile, offset, ctx.width)))
        self.panels.multiply(left, packed, columns, part, depth, True, tile)
        close_loop(loop, block)
        close_loop(outer, scope)
        self.epilogue.rows(sums, row, rows, column, columns, scope)


def is_product_of_matrices(kernel: MatmulOp, ranges: Mapping[str, Interval]) -> bool:
    """Whether register tiles pay: floats, and not a matrix times a vector whose factors both lie along the depth."""
    op, space = kernel.contraction, kernel.placement().space
    if not op.accumulator.is_float:
        return False
    problem = analyse(op, space.parallel, space.reduced, Bounds(ranges))
    along_depth = all(one.strides is not None and one.strides[1].as_int() == 1 for one in (problem.lhs, problem.rhs))
    return not (along_depth and 1 in (problem.m.as_int(), problem.n.as_int()))


def lower_matmul(function: FuncOp, ranges: Mapping[str, Interval]) -> KernelOp:
    """The loop kernel of a function that holds a kernel.matmul which `is_product_of_matrices`."""
    return MatmulLowering(function, ranges).lower()
