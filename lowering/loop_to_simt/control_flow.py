"""Branches and loops of upstream scf inside a thread."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.dialects import scf
from xdsl.dialects.builtin import IndexType
from xdsl.ir import Attribute, Block, Operation, Region

from ...dialects.errors import LoweringError

if TYPE_CHECKING:
    from .thread_code import ThreadCode


def for_loop(code: ThreadCode, op: scf.ForOp) -> None:
    bounds = (code.index_of(op.lb), code.index_of(op.ub), code.index_of(op.step))
    index, *arguments = op.body.block.args
    for argument in arguments:
        _refuse_index(op, argument.type)
    variable = code.space.variable(bounds[1])
    code.space.bind(index, variable)
    unroll = "unroll" in op.attributes
    with code.emitter.loop(bounds, variable, [code.values[init] for init in op.iter_args], unroll=unroll) as loop:
        code.values |= zip(arguments, loop.arguments, strict=True)
        code.block(op.body.block)
        last = op.body.block.last_op
        loop.carry([code.values[value] for value in last.operands] if last is not None else [])
    code.values |= zip(op.res, loop.results, strict=True)


def _refuse_index(op: Operation, kind: Attribute) -> None:
    if isinstance(kind, IndexType):
        hint = "carry an integer and cast it"
        raise LoweringError("a carried value of type index is not mapped", op=op, stage="map-threads", hint=hint)


def condition(code: ThreadCode, op: scf.IfOp) -> None:
    for result in op.output:
        _refuse_index(op, result.type)
    regions: list[Region] = []
    for region in (op.true_region, op.false_region):
        if region.first_block is None:
            continue
        block = Block()
        with code.emitter.inside(block):
            code.block(region.block)
            last = region.block.last_op
            code.emitter.do(scf.YieldOp(*([code.values[value] for value in last.operands] if last else [])))
        regions.append(Region(block))
    otherwise = regions[1] if len(regions) > 1 else None
    new = scf.IfOp(code.values[op.cond], [result.type for result in op.output], regions[0], otherwise)
    code.emitter.do(new)
    code.values |= zip(op.output, new.output, strict=True)


def while_loop(code: ThreadCode, op: scf.WhileOp) -> None:
    for value in (*op.arguments, *op.res):
        _refuse_index(op, value.type)
    before = Block(arg_types=[value.type for value in op.arguments])
    code.values |= zip(op.before_region.block.args, before.args, strict=True)
    with code.emitter.inside(before):
        code.block(op.before_region.block)
        test = op.before_region.block.last_op
        assert isinstance(test, scf.ConditionOp)
        passed = [code.values[value] for value in test.args]
        code.emitter.do(scf.ConditionOp(code.values[test.condition], *passed))
    after = Block(arg_types=[value.type for value in op.res])
    code.values |= zip(op.after_region.block.args, after.args, strict=True)
    with code.emitter.inside(after):
        code.block(op.after_region.block)
        last = op.after_region.block.last_op
        assert last is not None
        code.emitter.do(scf.YieldOp(*(code.values[value] for value in last.operands)))
    arguments = [code.values[value] for value in op.arguments]
    new = scf.WhileOp(arguments, [value.type for value in op.res], Region(before), Region(after))
    code.emitter.do(new)
    code.values |= zip(op.res, new.res, strict=True)
