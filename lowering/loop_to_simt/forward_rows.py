"""Computes the values of a scratch row again where they are read, for rows that are too long to be kept."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.traits import is_side_effect_free

from ...dialects.loop import AllocOp, LoadOp, OffsetOp, ParallelOp, StoreOp
from .row_plan import TeamLoop


def forward_row(row: AllocOp, loops: Sequence[TeamLoop]) -> bool:
    """Replaces each load of the row by what its only store would have stored there, and removes the row.

    The row must be private: each load and the store are at the index of their own loop, and the loops have the same
    extents. False, and nothing is changed, if the value depends on more than pure ops and loads of other buffers.
    """
    uses = [(loop, access.op) for loop in loops for access in loop.accesses if access.root is row.result]
    stores = [(loop, op) for loop, op in uses if isinstance(op, StoreOp)]
    if len(stores) != 1:
        return False
    (source, store), loads = stores[0], [(loop, op) for loop, op in uses if isinstance(op, LoadOp)]
    needed = _needed(store.value, source.op.body.block)
    if needed is None or any(loop is source for loop, _ in loads):
        return False
    for loop, load in loads:
        _recompute(load, store.value, needed, source.op.body.block, loop.op.body.block)
    Rewriter.erase_op(store)
    for use in list(row.result.uses):
        if isinstance(use.operation, OffsetOp) and not list(use.operation.result.uses):
            Rewriter.erase_op(use.operation)
    Rewriter.erase_op(row)
    if isinstance(source.op, ParallelOp) and not any(isinstance(op, StoreOp) for op in source.op.walk()):
        Rewriter.erase_op(source.op)
    return True


def _needed(value: SSAValue, block: Block) -> list[Operation] | None:
    """The ops of the block that the value is computed by, in order; None if one of them cannot be done twice."""
    wanted: set[SSAValue] = {value}
    found: list[Operation] = []
    for op in reversed(list(block.ops)):
        if not any(result in wanted for result in op.results):
            continue
        if op.regions or not (isinstance(op, LoadOp) or is_side_effect_free(op)):
            return None
        found.append(op)
        wanted.update(op.operands)
    return found[::-1]


def _recompute(load: LoadOp, value: SSAValue, needed: Sequence[Operation], source: Block, target: Block) -> None:
    copies: dict[SSAValue, SSAValue] = dict(zip(source.args, target.args, strict=True))
    for op in needed:
        copy = op.clone(copies)
        Rewriter.insert_op(copy, InsertPoint.before(load))
        copies |= dict(zip(op.results, copy.results, strict=True))
    Rewriter.replace_op(load, [], [copies.get(value, value)])
