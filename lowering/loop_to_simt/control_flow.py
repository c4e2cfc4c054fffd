"""Branches and loops of upstream scf inside a thread."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from xdsl.dialects import scf
from xdsl.dialects.builtin import IndexType, i64
from xdsl.ir import Attribute, Block, Region, SSAValue

if TYPE_CHECKING:
    from .thread_code import ThreadCode


def for_loop(code: ThreadCode, op: scf.ForOp) -> None:
    bounds = (code.index_of(op.lb), code.index_of(op.ub), code.index_of(op.step))
    index, *arguments = op.body.block.args
    variable = code.space.variable(bounds[1])
    code.space.bind(index, variable)
    unroll = "unroll" in op.attributes
    with code.emitter.loop(bounds, variable, _carried(code, op.iter_args), unroll=unroll) as loop:
        _receive(code, arguments, loop.arguments)
        code.block(op.body.block)
        last = op.body.block.last_op
        loop.carry(_carried(code, last.operands if last is not None else ()))
    _receive(code, op.res, loop.results)


def _carried(code: ThreadCode, values: Iterable[SSAValue]) -> list[SSAValue]:
    """What leaves a block: an index travels as i64, since nothing is known of what it becomes."""
    return [
        code.emitter.index(code.index_of(value), i64) if isinstance(value.type, IndexType) else code.values[value]
        for value in values
    ]


def _carried_type(value: SSAValue) -> Attribute:
    return i64 if isinstance(value.type, IndexType) else value.type


def _receive(code: ThreadCode, values: Sequence[SSAValue], emitted: Sequence[SSAValue]) -> None:
    """The other end of `_carried`."""
    for value, new in zip(values, emitted, strict=True):
        if isinstance(value.type, IndexType):
            code.bind_index(value, new)
        else:
            code.values[value] = new


def condition(code: ThreadCode, op: scf.IfOp) -> None:
    regions: list[Region] = []
    for region in (op.true_region, op.false_region):
        if region.first_block is None:
            continue
        block = Block()
        with code.emitter.inside(block):
            code.block(region.block)
            last = region.block.last_op
            code.emitter.do(scf.YieldOp(*_carried(code, last.operands if last is not None else ())))
        regions.append(Region(block))
    otherwise = regions[1] if len(regions) > 1 else None
    types = [_carried_type(result) for result in op.output]
    new = scf.IfOp(code.values[op.cond], types, regions[0], otherwise)
    code.emitter.do(new)
    _receive(code, op.output, new.output)


def while_loop(code: ThreadCode, op: scf.WhileOp) -> None:
    before = Block(arg_types=[_carried_type(value) for value in op.arguments])
    with code.emitter.inside(before):
        _receive(code, op.before_region.block.args, before.args)
        code.block(op.before_region.block)
        test = op.before_region.block.last_op
        assert isinstance(test, scf.ConditionOp)
        passed = _carried(code, test.args)
        code.emitter.do(scf.ConditionOp(code.values[test.condition], *passed))
    after = Block(arg_types=[_carried_type(value) for value in op.res])
    with code.emitter.inside(after):
        _receive(code, op.after_region.block.args, after.args)
        code.block(op.after_region.block)
        last = op.after_region.block.last_op
        assert last is not None
        code.emitter.do(scf.YieldOp(*_carried(code, last.operands)))
    arguments = _carried(code, op.arguments)
    new = scf.WhileOp(arguments, [_carried_type(value) for value in op.res], Region(before), Region(after))
    code.emitter.do(new)
    _receive(code, op.res, new.res)
