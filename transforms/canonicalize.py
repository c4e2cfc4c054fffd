"""canonicalize: dead code, common subexpressions, and every exact simplification of one op, in one sweep down and one
up."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.traits import Pure

from ..dialects.op import TensorOp
from .fold.algebra import ALGEBRA
from .fold.arranging import ARRANGING
from .fold.constants import fold_constants
from .fold.rule import Fold, Folded

FOLDS: Mapping[type[TensorOp], tuple[Fold, ...]] = MappingProxyType({**ALGEBRA, **ARRANGING})


@dataclass(frozen=True)
class CanonicalizePass(ModulePass):
    """Leaves no dead or repeated pure op, no identity or stacked view, and no op that an exact fold removes.

    Every fold keeps each bit of each value. Folds need their operands folded, and operands stand before their users, so
    one sweep in order reaches the end; e-graphs are left as they are.
    """

    name: ClassVar[str] = "canonicalize"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        canonicalize_regions(op)


def canonicalize_regions(op: Operation) -> None:
    """Canonicalize every block inside the op."""
    if op.name == "equivalence.graph":
        return
    for region in op.regions:
        for block in region.blocks:
            canonicalize_block(block)


def canonicalize_block(block: Block) -> None:
    """Canonicalize one block and what is inside its ops."""
    seen: dict[Hashable, Operation] = {}
    for op in list(block.ops):
        canonicalize_regions(op)
        if isinstance(op, TensorOp) and not op.regions:
            _simplify(op, block, seen)
    for op in reversed(list(block.ops)):
        if is_dead(op):
            block.erase_op(op)


def is_dead(op: Operation) -> bool:
    """Whether nothing can tell that the op is gone."""
    return bool(op.results) and all(r.first_use is None for r in op.results) and op.has_trait(Pure)


def _simplify(op: TensorOp, block: Block, seen: dict[Hashable, Operation]) -> None:
    """Fold the op as far as it goes, then join it with an equal one before it."""
    if is_dead(op):
        return
    while (folded := fold(op)) is not None:
        if isinstance(folded, SSAValue):
            _replace(op, (folded,), block)
            return
        folded.location = op.location
        block.insert_op_before(folded, op)
        _replace(op, folded.results, block)
        op = folded
    key = (type(op), tuple(op.operands), tuple(sorted(op.properties.items(), key=lambda item: item[0])))
    first = seen.setdefault(key, op)
    if first is not op:
        _replace(op, first.results, block)


def fold(op: TensorOp) -> Folded:
    """The first fold that applies to the op."""
    for rule in FOLDS.get(type(op), ()):
        folded = rule(op)
        if folded is not None:
            return folded
    return fold_constants(op)


def _replace(op: TensorOp, values: Sequence[SSAValue], block: Block) -> None:
    for old, new in zip(op.results, values, strict=True):
        old.replace_all_uses_with(new)
    block.erase_op(op)
