"""Expands composites that the loop level has no scalar function for."""

from __future__ import annotations

from xdsl.ir import Block
from xdsl.rewriter import InsertPoint, Rewriter

from ...dialects.hlir.builder import GraphBuilder
from ...dialects.op import Kind, TensorOp
from .scalar_ops import has_rule


def expand_composites(block: Block) -> None:
    """Replaces each composite of the block that cannot be spelled by its expansion, until none is left."""
    pending = [op for op in block.ops if isinstance(op, TensorOp)]
    while pending:
        op = pending.pop()
        if op.KIND is not Kind.COMPOSITE or has_rule(op):
            continue
        expansion = Block()
        results = GraphBuilder(expansion, op.location).expand(op)
        inner = [one for one in expansion.ops if isinstance(one, TensorOp)]
        Rewriter.inline_block(expansion, InsertPoint.before(op))
        for old, new in zip(op.results, results, strict=True):
            old.replace_all_uses_with(new)
        op.detach()
        op.erase()
        pending += inner
