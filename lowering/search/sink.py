"""Moves views and constants that a loop is given into its body, so that the loop gets what they read and nothing is
copied."""

from __future__ import annotations

from xdsl.ir import Block, Operation, SSAValue

from ...dialects.hlir.creation import LiteralOp
from ...dialects.hlir.loop import LoopOp
from ...dialects.hlir.view import ViewOp
from ...dialects.op import Kind, TensorOp


def sink_into_loops(block: Block) -> None:
    """Moves what the loops of the block, and the loops inside them, are given as far in as it goes."""
    for op in list(block.ops):
        if isinstance(op, LoopOp):
            body = _sink(op).body.block
            sink_into_loops(body)


def _sink(loop: LoopOp) -> LoopOp:
    """The loop without views and constants among its streams and invariants."""
    while True:
        invariants = list(loop.invariants)
        moved = next((i for i, v in enumerate(invariants) if _movable(v)), None)
        if moved is not None:
            loop = _sink_invariant(loop, moved)
            continue
        streams = [loop.stream_values(j) for j in range(loop.stream_count)]
        moved = next((j for j, values in enumerate(streams) if _same_views(values)), None)
        if moved is None:
            return loop
        loop = _sink_stream(loop, moved)


def _movable(value: SSAValue) -> bool:
    op = value.owner
    return isinstance(op, TensorOp) and op.KIND in (Kind.VIEW, Kind.CREATION) and not isinstance(op, LiteralOp)


def _same_views(values: tuple[SSAValue, ...]) -> bool:
    """Whether all iterations get the same view of what they are given."""
    ops = [v.owner for v in values]
    first = ops[0]
    if not isinstance(first, ViewOp):
        return False
    return all(isinstance(op, ViewOp) and op.map == first.map and op.source.type == first.source.type for op in ops)


def _sink_invariant(loop: LoopOp, number: int) -> LoopOp:
    invariants = list(loop.invariants)
    op = invariants[number].owner
    assert isinstance(op, Operation)
    first = len(loop.carried) + loop.stream_count
    _clone_into(loop.body.block, op, first + number)
    invariants[number : number + 1] = list(op.operands)
    return _rebuilt(loop, [loop.stream_values(j) for j in range(loop.stream_count)], invariants)


def _sink_stream(loop: LoopOp, number: int) -> LoopOp:
    streams = [loop.stream_values(j) for j in range(loop.stream_count)]
    views = [v.owner for v in streams[number] if isinstance(v.owner, ViewOp)]
    _clone_into(loop.body.block, views[0], len(loop.carried) + number)
    streams[number] = tuple(view.source for view in views)
    return _rebuilt(loop, streams, list(loop.invariants))


def _clone_into(body: Block, op: Operation, position: int) -> None:
    """Makes the op at the start of the body in the place of the argument, on arguments for what it reads."""
    old = body.args[position]
    values: dict[SSAValue, SSAValue] = {}
    for offset, operand in enumerate(op.operands):
        values[operand] = body.insert_arg(operand.type, position + 1 + offset)
        values[operand].name_hint = operand.name_hint
    copy = op.clone(values)
    first = body.first_op
    assert first is not None
    body.insert_op_before(copy, first)
    old.replace_all_uses_with(copy.results[0])
    body.erase_arg(old)


def _rebuilt(loop: LoopOp, streams: list[tuple[SSAValue, ...]], invariants: list[SSAValue]) -> LoopOp:
    """The loop on other operands, in the place of the old one."""
    block = loop.parent_block()
    assert block is not None
    body = loop.body.detach_block(0)
    made = LoopOp.build_loop(loop.trip_count, list(loop.carried), streams, invariants, body)
    made.location = loop.location
    block.insert_op_before(made, loop)
    for old, new in zip(loop.results, made.results, strict=True):
        new.name_hint = old.name_hint
        old.replace_all_uses_with(new)
    block.erase_op(loop)
    return made
