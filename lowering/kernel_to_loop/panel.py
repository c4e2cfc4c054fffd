"""The packed panels of a CPU matmul and the register tile that multiplies them."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects import arith, scf, vector
from xdsl.ir import Block, SSAValue

from ...dialects.hlir.index_map import linear_coefficients
from ...dialects.loop import LoadOp, OffsetOp, PackOp, ParallelOp, StoreOp
from ...dialects.loop import Mapping as LoopMapping
from ...dialects.op import tensor_of
from ...dialects.sym.expr import Expr, constant, floordiv
from .index_code import INDEX
from .matmul_context import Context, close_loop, open_loop
from .matmul_plan import Operand, memory_reads
from .scalar_ops import cast
from .scope import Scope, named
from .values import ValueCode

CONFLICT = 4096
"""Rows that lie a multiple of this many bytes apart fall into the same lines of the first cache."""


@dataclass(frozen=True)
class Depth:
    """A block of the contracted index: where it starts and how long it is."""

    start: SSAValue
    size: SSAValue


class PanelCode:
    """Emits packing and multiplication for one kernel."""

    def __init__(self, context: Context):
        self.context = context
        problem = context.problem
        self.reader = problem.coordinates.reader(context.symbols)
        self.values = ValueCode(context.frame.code, self.reader, dict(context.frame.operands))
        self.depth: Expr = constant(context.tiles.kb) if context.blocked else problem.k

    # Packing

    def columns_scratch(self, scope: Scope) -> SSAValue:
        """Room for the packed columns of a task."""
        return named(self.context.scratch(scope, self.depth * self.context.width), "packed_columns")

    def rows_scratch(self, scope: Scope) -> SSAValue:
        """Room for the packed rows of one register tile."""
        return named(self.context.scratch(scope, self.depth * self.context.tiles.mr), "packed_rows")

    def pack_columns(self, panels: SSAValue, first: SSAValue, columns: SSAValue, depth: Depth, scope: Scope) -> None:
        """All panels of a task's columns, one after another."""
        ctx, nr = self.context, self.context.tiles.nr
        loop, body = open_loop(scope, ctx.number(0), columns, ctx.number(nr))
        column = loop.body.block.args[0]
        lanes = ctx.least(body, ctx.minus(body, columns, column), ctx.number(nr))
        target = body.add(OffsetOp(panels, ctx.times(body, column, ctx.fixed(self.depth))))
        outer = ctx.problem.batch + 1
        self._pack(ctx.problem.rhs, outer, ctx.plus(body, first, column), lanes, depth, target, nr, body)
        close_loop(loop, scope)

    def _pack(
        self,
        operand: Operand,
        outer: int,
        first: SSAValue,
        lanes: SSAValue,
        depth: Depth,
        target: SSAValue,
        width: int,
        scope: Scope,
    ) -> None:
        """Lanes `first` and on of variable `outer` as one panel."""
        ctx = self.context
        if operand.strides is not None and tensor_of(operand.value).dtype.is_float:
            source = self._address(operand, first, depth.start, scope)
            strides = [ctx.fixed(stride) for stride in operand.strides]
            scope.run(PackOp(source, strides, target, lanes, depth.size, width))
            return
        self._pack_computed(operand, outer, first, lanes, depth, target, width, scope)

    def _address(self, operand: Operand, first: SSAValue, start: SSAValue, scope: Scope) -> SSAValue:
        """The pointer to element (first, start) of a factor that is read linearly."""
        ctx = self.context
        assert operand.source is not None and operand.offset is not None and operand.strides is not None
        pointer = ctx.frame.operands[operand.source]
        offset = ctx.frame.code.emit(operand.offset, scope)
        for position, stride in ((first, operand.strides[0]), (start, operand.strides[1])):
            offset = ctx.plus(scope, offset, ctx.times(scope, position, ctx.fixed(stride)))
        return scope.add(OffsetOp(pointer, offset))

    def _pack_computed(
        self,
        operand: Operand,
        outer: int,
        first: SSAValue,
        lanes: SSAValue,
        depth: Depth,
        target: SSAValue,
        width: int,
        scope: Scope,
    ) -> None:
        """A panel of computed elements, in the order in which memory is read."""
        ctx, inner = self.context, self.context.problem.batch + 2
        along_depth = self._contiguous_along(operand, inner) > self._contiguous_along(operand, outer)
        extents = [lanes, depth.size] if along_depth else [depth.size, lanes]
        loops = [ParallelOp([extents[0]], LoopMapping.Sequential), ParallelOp([extents[1]], LoopMapping.Vector)]
        middle = scope.inner(loops[0].body.block)
        body = middle.inner(loops[1].body.block)
        lane, k = (loop.body.block.args[0] for loop in (loops if along_depth else loops[::-1]))
        lane_scope, k_scope = (middle, body) if along_depth else (body, middle)
        lane_scope.bind(outer, ctx.plus(lane_scope, first, lane))
        k_scope.bind(inner, ctx.plus(k_scope, depth.start, k))
        element = self.values.value(operand.value, operand.at, body)
        wide = cast(body.of([element]).add, element, tensor_of(operand.value).dtype, ctx.accumulator)
        body.run(StoreOp(wide, target, ctx.plus(body, ctx.times(body, k, width), lane)))
        middle.run(loops[1])
        scope.run(loops[0])
        self._clear(lanes, depth, target, width, scope)

    def _contiguous_along(self, operand: Operand, number: int) -> int:
        count = len(self.context.problem.coordinates.extents)
        total = 0
        for read in memory_reads((operand.value, operand.at), self.reader):
            linear = linear_coefficients(self.reader.address(*read), count)
            total += linear is not None and linear[0][number].as_int() == 1
        return total

    def _clear(self, lanes: SSAValue, depth: Depth, target: SSAValue, width: int, scope: Scope) -> None:
        """Zero in the lanes that a panel does not fill."""
        ctx = self.context
        loop = ParallelOp([depth.size, ctx.minus(scope, ctx.number(width), lanes)], LoopMapping.Sequential)
        body = scope.inner(loop.body.block)
        k, lane = loop.body.block.args
        offset = ctx.plus(body, ctx.times(body, k, width), ctx.plus(body, lane, lanes))
        body.run(StoreOp(ctx.zero(), target, offset))
        scope.run(loop)

    # Multiplication

    def _reads_directly(self) -> bool:
        """Whether the register tile can read the left factor where it lies."""
        ctx, lhs = self.context, self.context.problem.lhs
        if lhs.strides is None or tensor_of(lhs.value).dtype != ctx.accumulator:
            return False
        row = lhs.strides[0].as_int()
        return row is None or row == 0 or row * ctx.accumulator.bytes % CONFLICT != 0

    def _rows_are_whole(self) -> bool:
        return floordiv(self.context.problem.m, constant(self.context.tiles.mr)) * self.context.tiles.mr == (
            self.context.problem.m
        )

    def rows(
        self, room: SSAValue | None, first: SSAValue, live: SSAValue, depth: Depth, scope: Scope
    ) -> tuple[SSAValue, SSAValue, SSAValue]:
        """Pointer, row stride and depth stride of the left factor for one register tile, packed where it must be."""
        ctx, mr, lhs = self.context, self.context.tiles.mr, self.context.problem.lhs
        direct = self._reads_directly()
        if direct and self._rows_are_whole():
            assert lhs.strides is not None
            strides = ctx.fixed(lhs.strides[0]), ctx.fixed(lhs.strides[1])
            return self._address(lhs, first, depth.start, scope), *strides
        assert room is not None
        if not direct:
            self._pack(lhs, ctx.problem.batch, first, live, depth, room, mr, scope)
            return room, ctx.number(1), ctx.number(mr)
        assert lhs.strides is not None
        full = scope.add(arith.CmpiOp(live, ctx.number(mr), "eq"))
        block = Block()
        otherwise = scope.inner(block, guard=True)
        self._pack(lhs, ctx.problem.batch, first, live, depth, room, mr, otherwise)
        block.add_op(scf.YieldOp())
        empty = Block([scf.YieldOp()])
        scope.run(scf.IfOp(full, [], [empty], [block]))
        choices = [
            (self._address(lhs, first, depth.start, scope), scope.add(OffsetOp(room, ctx.number(0)))),
            (ctx.fixed(lhs.strides[0]), ctx.number(1)),
            (ctx.fixed(lhs.strides[1]), ctx.number(mr)),
        ]
        pointer, row_stride, depth_stride = (scope.add(arith.SelectOp(full, a, b)) for a, b in choices)
        return pointer, row_stride, depth_stride

    def needs_row_scratch(self) -> bool:
        return not (self._reads_directly() and self._rows_are_whole())

    def multiply(
        self,
        left: tuple[SSAValue, SSAValue, SSAValue],
        panels: SSAValue,
        columns: SSAValue,
        sums: SSAValue,
        depth: Depth,
        accumulate: bool,
        scope: Scope,
    ) -> None:
        """sums = left * panels for all panels of the task, or sums += with `accumulate`."""
        ctx = self.context
        offsets = [ctx.times(scope, left[1], row) for row in range(ctx.tiles.mr)]
        loop, body = open_loop(scope, ctx.number(0), columns, ctx.number(ctx.tiles.nr))
        column = named(loop.body.block.args[0], "tile")
        panel = named(body.add(OffsetOp(panels, ctx.times(body, column, ctx.fixed(self.depth)))), "panel")
        places = self._places(column, body)
        inits = [self._initial(sums, place, accumulate, body) for place in places]
        totals = self._register_tile(left, offsets, panel, inits, depth, body)
        for place, total in zip(places, totals, strict=True):
            body.run(StoreOp(total, sums, place))
        close_loop(loop, scope)

    def _places(self, column: SSAValue, scope: Scope) -> list[SSAValue]:
        ctx, tiles = self.context, self.context.tiles
        places: list[SSAValue] = []
        for row in range(tiles.mr):
            for part in range(tiles.nv):
                places.append(ctx.plus(scope, column, ctx.number(row * ctx.width + part * tiles.width)))
        return places

    def _initial(self, sums: SSAValue, place: SSAValue, accumulate: bool, scope: Scope) -> SSAValue:
        ctx = self.context
        if accumulate:
            return scope.add(LoadOp(sums, place, ctx.vector))
        if "zeros" not in scope.memo:
            scope.memo["zeros"] = scope.add(vector.BroadcastOp(ctx.zero(), ctx.vector))
        return scope.memo["zeros"]

    def _register_tile(
        self,
        left: tuple[SSAValue, SSAValue, SSAValue],
        offsets: list[SSAValue],
        panel: SSAValue,
        inits: list[SSAValue],
        depth: Depth,
        scope: Scope,
    ) -> list[SSAValue]:
        """The sums over the depth of one tile, all in vector registers."""
        ctx, tiles = self.context, self.context.tiles
        block = Block(arg_types=[INDEX, *[ctx.vector] * len(inits)])
        k, *sums = block.args
        named(k, "k")
        for argument in sums:
            argument.name_hint = "sum"
        loop = scf.ForOp(ctx.number(0), depth.size, ctx.number(1), inits, block)
        body = scope.inner(block)
        base = ctx.times(body, k, tiles.nr)
        parts = [
            body.add(LoadOp(panel, ctx.plus(body, base, ctx.number(part * tiles.width)), ctx.vector))
            for part in range(tiles.nv)
        ]
        row = body.add(OffsetOp(left[0], ctx.times(body, k, left[2])))
        results: list[SSAValue] = []
        for number, offset in enumerate(offsets):
            factor = body.add(vector.BroadcastOp(body.add(LoadOp(row, offset)), ctx.vector))
            for part, column in enumerate(parts):
                results.append(body.add(vector.FMAOp(factor, column, sums[number * tiles.nv + part])))
        body.run(scf.YieldOp(*results))
        scope.run(loop)
        return list(loop.res)
