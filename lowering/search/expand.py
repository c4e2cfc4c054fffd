"""Replaces the composites that no kernel computes by their expansions."""

from __future__ import annotations

from xdsl.ir import Block, Operation

from ...dialects.errors import LoweringError
from ...dialects.hlir.builder import GraphBuilder
from ...dialects.hlir.contraction import ContractOp
from ...dialects.op import Kind, TensorOp
from .cost import is_callable, spelled

DEEPEST = 16
"""How deep expansions may nest."""


def has_kernel(op: TensorOp, libraries: frozenset[str]) -> bool:
    """Whether a kernel or an allowed library call computes the op in the form it has."""
    if op.KIND is Kind.LIBRARY:
        return is_callable(op, libraries)
    if isinstance(op, ContractOp):
        return bool(op.axis_numbers) and op.accumulator.is_float
    return spelled(op)


def expand_block(block: Block, libraries: frozenset[str]) -> None:
    """Expands, until every op of the block and of the regions inside has a kernel.

    Raises:
        LoweringError: an op has neither a kernel nor an expansion that ends.
    """
    for op in list(block.ops):
        for region in op.regions:
            for inner in region.blocks:
                expand_block(inner, libraries)
        if isinstance(op, TensorOp):
            _expand(op, libraries, 0)


def _expand(op: TensorOp, libraries: frozenset[str], depth: int) -> None:
    if has_kernel(op, libraries):
        return
    if depth > DEEPEST:
        raise LoweringError(f"the expansion of {op.name} nests deeper than {DEEPEST}", op=op)
    block = op.parent_block()
    assert block is not None
    scratch = Block()
    results = op.expand(GraphBuilder(scratch, op.location))
    made: list[Operation] = list(scratch.ops)
    for new in made:
        new.detach()
        block.insert_op_before(new, op)
    for old, new_value in zip(op.results, results, strict=True):
        if new_value.name_hint is None:
            new_value.name_hint = old.name_hint
        old.replace_all_uses_with(new_value)
    block.erase_op(op)
    for new in made:
        if isinstance(new, TensorOp):
            _expand(new, libraries, depth + 1)
