"""Expands composites that the loop level has no scalar function for, and contractions that are no matrix product."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.ir import Block
from xdsl.rewriter import InsertPoint, Rewriter

from ...dialects.hlir.builder import GraphBuilder
from ...dialects.op import Kind, TensorOp
from .scalar_ops import has_rule


def expand_composites(block: Block) -> None:
    """Replaces each composite of the block that cannot be spelled by its expansion, until none is left."""
    _expand(block, lambda op: op.KIND is Kind.COMPOSITE and not has_rule(op))


def expand_contractions(block: Block) -> None:
    """Replaces each contraction by products and a sum."""
    _expand(block, lambda op: op.KIND is Kind.CONTRACTION)


def _expand(block: Block, wanted: Callable[[TensorOp], bool]) -> None:
    pending = [op for op in block.ops if isinstance(op, TensorOp)]
    while pending:
        op = pending.pop()
        if not wanted(op):
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
