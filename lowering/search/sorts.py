"""Sorts on a GPU: rows that fit a block of threads are sorted there, longer ones in chunks that are then merged."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from xdsl.dialects.builtin import IntAttr
from xdsl.ir import Block, Operation, SSAValue

from ...dialects.dtype import I64
from ...dialects.hlir.builder import GraphBuilder
from ...dialects.hlir.creation import IotaOp
from ...dialects.hlir.merging import MergeRunsOp
from ...dialects.hlir.ordering import SortOp
from ...dialects.hlir.types import MapAttr
from ...dialects.op import tensor_of
from ...dialects.sym.bounds import Bounds, interval
from ...dialects.sym.expr import index

CHUNKS: Mapping[str, int] = MappingProxyType({"cuda": 4096, "metal": 1024})
"""Elements that a block sorts in its shared memory, where each takes twice its own bytes and 4 for its place."""
LONGEST = 1 << 31
"""Taken for a row without a maximum."""


def split_sorts(block: Block, target: str, bounds: Bounds) -> None:
    """Replaces each sort of the block and of the regions inside by merges; target c has a sort of its own."""
    chunk = CHUNKS.get(target)
    if chunk is None:
        return
    for op in list(block.ops):
        for region in op.regions:
            for inner in region.blocks:
                split_sorts(inner, target, bounds)
        if isinstance(op, SortOp):
            _split(op, chunk, bounds)


def _split(op: SortOp, chunk: int, bounds: Bounds) -> None:
    block = op.parent_block()
    assert block is not None
    scratch = Block()
    results = _merges(op, chunk, bounds, GraphBuilder(scratch, op.location))
    made: list[Operation] = list(scratch.ops)
    for new in made:
        new.detach()
        block.insert_op_before(new, op)
    for old, value in zip(op.results, results, strict=True):
        value.name_hint = old.name_hint
        old.replace_all_uses_with(value)
    block.erase_op(op)


def _merges(op: SortOp, chunk: int, bounds: Bounds, b: GraphBuilder) -> tuple[SSAValue, ...]:
    """Runs of one element become runs of a chunk in one op, after which each op merges pairs."""
    tensor, axis = tensor_of(op.operand), op.axis.data
    high = interval(tensor.dims[axis], bounds).high
    longest = LONGEST if high is None else high
    places = MapAttr.get(tensor.rank, [index(axis)])
    values = (op.operand, b.emit(IotaOp, [], value=places, shape=tensor.shape, dtype=I64.attr))
    run, to = 1, min(chunk, max(2, 1 << (longest - 1).bit_length()))
    while run < longest or run == 1:
        values = b.emit_all(
            MergeRunsOp, values, axis=op.axis, descending=op.descending, run=IntAttr(run), to=IntAttr(to)
        )
        run, to = to, 2 * to
    return values
