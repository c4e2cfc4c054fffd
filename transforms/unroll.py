"""Unrolling: a loop replaced by its iterations one after another."""

from __future__ import annotations

from xdsl.ir import SSAValue

from ..dialects.hlir.loop import LoopOp


def unroll_loop(loop: LoopOp) -> None:
    """Put a copy of the body for each iteration in front of the loop and erase the loop; its results become their
    values."""
    block = loop.parent
    assert block is not None
    trips, carried = loop.trip_count, list(loop.carried)
    streams = [loop.stream_values(j) for j in range(loop.stream_count)]
    collected: list[list[SSAValue]] = []
    for trip in range(trips):
        inputs = [*carried, *(stream[trip] for stream in streams), *loop.invariants]
        values: dict[SSAValue, SSAValue] = dict(zip(loop.body.block.args, inputs, strict=True))
        for op in loop.body.block.ops:
            if op is not loop.terminator:
                block.insert_op_before(op.clone(values), loop)
        yielded = [values[v] for v in loop.terminator.values]
        carried = yielded[: len(carried)]
        collected.append(yielded[len(carried) :])
    finals = [*carried, *(row[j] for j in range(len(collected[0])) for row in collected)]
    for result, value in zip(loop.outs, finals, strict=True):
        result.replace_all_uses_with(value)
    block.erase_op(loop)
