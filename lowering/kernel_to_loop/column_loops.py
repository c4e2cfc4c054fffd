"""Row programs whose rows lie across memory: neighbouring rows are lanes, and the totals of a block of them stay in
cache while the reduced index runs."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith, scf
from xdsl.ir import Block, SSAValue

from ...dialects.hlir.reduction import Reduction
from ...dialects.loop import AllocOp, LoadOp, ParallelOp, StoreOp
from ...dialects.loop import Mapping as LoopMapping
from ...dialects.sym.expr import constant, index
from .index_code import INDEX
from .row_program import RowProgram
from .scalar_ops import RULES, element_type
from .scope import Scope, named
from .stored import Stored
from .values import Kept

LANES = 128
"""Rows of a block."""


def prefers_columns(program: RowProgram) -> bool:
    """Whether the elements that reductions read are contiguous along the last parallel index, not along the reduced
    one."""
    if not program.reductions or not program.rows or program.count == program.rows:
        return False
    return program.varying(program.rows - 1) > program.varying(program.count - 1)


class ColumnLoops:
    """Emits the blocks of one kernel."""

    def __init__(self, program: RowProgram):
        self.program = program
        self.lane_variable = program.rows - 1
        self.inner = list(range(program.rows, program.count))
        self.lane = program.code.variable(constant(LANES))
        root, extent = program.frame.root, program.extent(self.lane_variable)
        lanes = program.code.number(LANES, root)
        extents = [program.extent(n) for n in range(self.lane_variable)]
        self.grid = ParallelOp([*extents, root.add(arith.CeilDivSIOp(extent, lanes))], LoopMapping.Grid)
        self.grid.attributes["grain"] = program.grain(LANES * program.size(self.inner))
        args = self.grid.body.block.args
        self.scope = root.inner(self.grid.body.block, dict(enumerate(args[:-1])))
        self.start = self.scope.add(arith.MuliOp(args[-1], lanes))
        left = self.scope.add(arith.SubiOp(extent, self.start))
        self.lanes = named(self.scope.add(arith.MinSIOp(left, lanes)), "lanes")

    def emit(self) -> None:
        """Threads share the outer rows and the blocks of neighbouring rows."""
        program, scope = self.program, self.scope
        for reduction in program.reductions:
            self._reduction(reduction, scope)
        variables = frozenset(self.inner)
        full = [one for one in program.stored if one.depends_on(variables)]
        self._store([one for one in program.stored if one not in full], scope)
        if full:
            loops, body = self._open(scope)
            self._store(full, body)
            self._close(loops)
        program.frame.root.run(self.grid)

    def _lane_loop(self, scope: Scope) -> tuple[ParallelOp, Scope, SSAValue]:
        """A loop over the rows of a block; its own index is the lane."""
        loop = ParallelOp([self.lanes], LoopMapping.Vector)
        lane = loop.body.block.args[0]
        body = scope.inner(loop.body.block, {self.lane: lane})
        body.bind(self.lane_variable, body.add(arith.AddiOp(self.start, lane)))
        return loop, body, lane

    def _open(self, scope: Scope) -> tuple[list[tuple[scf.ForOp, Scope]], Scope]:
        """Loops over the reduced index, one after another inside."""
        program, loops = self.program, list[tuple[scf.ForOp, Scope]]()
        for number in self.inner:
            block = Block(arg_types=[INDEX])
            zero, one = (program.code.number(value, scope) for value in (0, 1))
            loops.append((scf.ForOp(zero, program.extent(number), one, [], block), scope))
            scope = scope.inner(block, {number: block.args[0]})
        return loops, scope

    def _close(self, loops: Sequence[tuple[scf.ForOp, Scope]]) -> None:
        for loop, outer in reversed(loops):
            loop.body.block.add_op(scf.YieldOp())
            outer.run(loop)

    def _reduction(self, op: Reduction, scope: Scope) -> None:
        """The totals of a block in scratch, one a lane."""
        program, accumulator = self.program, op.accumulator
        count = program.code.number(LANES, scope)
        totals = named(scope.add(AllocOp(count, element_type(accumulator), LANES)), op.name.removeprefix("hlir."))
        clear = ParallelOp([self.lanes], LoopMapping.Vector)
        clear.body.block.add_op(StoreOp(program.identity(op), totals, clear.body.block.args[0]))
        scope.run(clear)
        loops, inner = self._open(scope)
        loop, body, lane = self._lane_loop(inner)
        element = program.contribution(op, body)
        before = body.add(LoadOp(totals, lane))
        body.run(StoreOp(RULES[op.COMBINE](body.add, accumulator, [before, element]), totals, lane))
        inner.run(loop)
        self._close(loops)
        kept = Kept(totals, index(self.lane), ready=True, dtype=accumulator)
        program.values.kept[op.results[0], program.coordinates.parallel] = kept

    def _store(self, stored: Sequence[Stored], scope: Scope) -> None:
        if stored:
            loop, body, _ = self._lane_loop(scope)
            for one in stored:
                self.program.values.store(one, body)
            scope.run(loop)
