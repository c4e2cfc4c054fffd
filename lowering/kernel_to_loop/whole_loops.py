"""Row programs of one long row: threads share blocks of it, and the totals of the blocks are combined afterwards."""

from __future__ import annotations

from xdsl.dialects import arith
from xdsl.ir import SSAValue

from ...dialects.hlir.reduction import Reduction
from ...dialects.loop import AllocOp, LoadOp, ParallelOp, ReduceOp, StoreOp, YieldOp
from ...dialects.loop import Mapping as LoopMapping
from ...dialects.sym.bounds import interval
from ...dialects.sym.expr import ceildiv, constant
from .row_loops import BLOCK, elementwise, ordered
from .row_program import COMBINERS, RowProgram
from .scalar_ops import element_type
from .scope import named


def is_one_long_row(program: RowProgram) -> bool:
    """Whether there is nothing to share but the row itself, and enough of it."""
    if not program.reductions or program.rows or not program.count:
        return False
    sizes = [extent.as_int() for extent in program.coordinates.extents]
    return None in sizes or program.size(range(program.count)) > 2 * BLOCK


class WholeLoops:
    """Emits the loops of one kernel."""

    def __init__(self, program: RowProgram):
        self.program = program
        self.outer, self.last = list(range(program.count - 1)), program.count - 1
        extents = program.coordinates.extents
        self.blocks = ceildiv(extents[self.last], constant(BLOCK))
        count = self.blocks
        for number in self.outer:
            count = count * extents[number]
        self.count = count

    def emit(self) -> None:
        """The reductions in order, then what is stored."""
        program = self.program
        for reduction in program.reductions:
            self._reduction(reduction)
        variables = frozenset(range(program.count))
        full = [one for one in program.stored if one.depends_on(variables)]
        for one in program.stored:
            if one not in full:
                program.values.store(one, program.frame.root)
        if full:
            elementwise(program, self.outer, [self.last], full, program.frame.root)

    def _reduction(self, op: Reduction) -> None:
        program, root = self.program, self.program.frame.root
        count = program.code.emit(self.count, root)
        bound = interval(self.count, program.symbols).high
        totals = named(root.add(AllocOp(count, element_type(op.accumulator), bound)), "totals")
        init = ordered(op, root.add, program.identity(op))
        self._blocks(op, init, totals)
        final = ReduceOp([count], init, COMBINERS[op.COMBINE], LoopMapping.Vector)
        body = root.inner(final.body.block)
        body.run(YieldOp(body.add(LoadOp(totals, final.body.block.args[0]))))
        root.run(final)
        named(final.result, op.name.removeprefix("hlir."))
        program.remember(op, ordered(op, root.add, final.result), root)

    def _blocks(self, op: Reduction, init: SSAValue, totals: SSAValue) -> None:
        """One total for each block of the last index and each value of the others."""
        program, root = self.program, self.program.frame.root
        extents = [program.extent(n) for n in self.outer]
        grid = ParallelOp([*extents, program.code.emit(self.blocks, root)], LoopMapping.Grid)
        grid.attributes["grain"] = program.grain(BLOCK)
        args = grid.body.block.args
        scope = root.inner(grid.body.block, dict(zip(self.outer, args, strict=False)))
        per_block = program.code.number(BLOCK, scope)
        start = scope.add(arith.MuliOp(args[-1], per_block))
        left = scope.add(arith.SubiOp(program.extent(self.last), start))
        loop = ReduceOp([scope.add(arith.MinSIOp(left, per_block))], init, COMBINERS[op.COMBINE], LoopMapping.Vector)
        body = scope.inner(loop.body.block)
        body.bind(self.last, body.add(arith.AddiOp(start, loop.body.block.args[0])))
        body.run(YieldOp(ordered(op, body.add, program.contribution(op, body))))
        scope.run(loop)
        place = args[0]
        for number, argument in enumerate(args[1:], 1):
            scaled = scope.add(arith.MuliOp(place, grid.extents[number]))
            place = scope.add(arith.AddiOp(scaled, argument))
        scope.run(StoreOp(loop.result, totals, place))
        root.run(grid)
