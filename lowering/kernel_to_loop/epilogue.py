"""What a CPU matmul does with finished sums: the elementwise ops after the contraction, and the stores."""

from __future__ import annotations

from xdsl.dialects import arith
from xdsl.ir import SSAValue

from ...dialects.hlir.contraction import ContractOp
from ...dialects.kernel.placement import Placement
from ...dialects.loop import Mapping as LoopMapping
from ...dialects.loop import ParallelOp
from ...dialects.op import TensorOp
from ...dialects.sym.bounds import Bounds
from ...dialects.sym.expr import Expr, constant, index
from .coordinates import Coordinates
from .frame import Frame
from .index_code import IndexCode
from .matmul_context import Context
from .reads import Key
from .scope import Scope
from .stored import stored_elements
from .values import Kept, ValueCode


def epilogue_addresses(
    frame: Frame, placement: Placement, contraction: ContractOp, coordinates: Coordinates, symbols: Bounds
) -> list[Expr]:
    """The offsets at which the epilogue loads and stores."""
    reader = coordinates.reader(symbols)
    stored = stored_elements(frame, placement, coordinates, symbols)
    found = [one.address for one in stored]
    pending: list[Key] = [(one.value, one.at) for one in stored]
    seen: set[Key] = set()
    while pending:
        key = pending.pop()
        op = key[0].owner
        if key in seen or op is contraction:
            continue
        seen.add(key)
        if isinstance(op, TensorOp):
            pending += reader.reads(op, key[1])
        else:
            found.append(reader.address(*key))
    return found


class Epilogue:
    """Emits the loops over finished rows. Variables: batch, m, n (or its runs and places in a run), k, then the row and
    column within the sums."""

    def __init__(self, context: Context, placement: Placement):
        self.context = context
        problem, frame = context.problem, context.frame
        coordinates, column = problem.coordinates, problem.batch + 1
        if context.group > 1:
            coordinates = coordinates.split(column, constant(context.group), context.symbols)
        self.code = IndexCode(frame.code.symbols, frame.code.ranges)
        for extent in coordinates.extents:
            self.code.variable(extent)
        self.stored = stored_elements(frame, placement, coordinates, context.symbols)
        self.row = self.code.variable(constant(context.tiles.mb))
        self.run = self.code.variable(constant(context.tiles.nb))
        reader = coordinates.reader(context.symbols)
        self.values = ValueCode(self.code, reader, dict(frame.operands))
        self.sums: Key = (problem.contraction.result, coordinates.parallel)

    def rows(
        self, sums: SSAValue, first: SSAValue, live: SSAValue, column: SSAValue, columns: SSAValue, scope: Scope
    ) -> None:
        """Finishes `live` rows from row `first` on, and `columns` columns from `column` on."""
        ctx, m = self.context, self.context.problem.batch
        loop = ParallelOp([live], LoopMapping.Sequential)
        body = scope.inner(loop.body.block, {self.row: loop.body.block.args[0]})
        body.bind(m, ctx.plus(body, first, loop.body.block.args[0]))
        if ctx.group > 1:
            self._runs(sums, column, columns, body)
        else:
            inner = ParallelOp([columns], LoopMapping.Vector)
            place = body.inner(inner.body.block, {self.run: inner.body.block.args[0]})
            place.bind(m + 1, ctx.plus(place, column, inner.body.block.args[0]))
            self._finish(sums, index(self.row) * ctx.width + index(self.run), place)
            body.run(inner)
        scope.run(loop)

    def _runs(self, sums: SSAValue, column: SSAValue, columns: SSAValue, scope: Scope) -> None:
        """The columns as runs of `group`; a task begins with a whole run."""
        ctx, m, size = self.context, self.context.problem.batch, self.context.number(self.context.group)
        loop = ParallelOp([scope.add(arith.DivUIOp(columns, size))], LoopMapping.Sequential)
        body = scope.inner(loop.body.block, {self.run: loop.body.block.args[0]})
        body.bind(m + 1, ctx.plus(body, scope.add(arith.DivUIOp(column, size)), loop.body.block.args[0]))
        inner = ParallelOp([size], LoopMapping.Vector)
        place = body.inner(inner.body.block, {m + 2: inner.body.block.args[0]})
        self._finish(sums, index(self.row) * ctx.width + index(self.run) * ctx.group + index(m + 2), place)
        body.run(inner)
        scope.run(loop)

    def _finish(self, sums: SSAValue, position: Expr, scope: Scope) -> None:
        self.values.kept[self.sums] = Kept(sums, position, ready=True, dtype=self.context.accumulator)
        for one in self.stored:
            self.values.store(one, scope)
