"""Conditions on data that a graph asserts: where one does not hold, the run fails instead of returning its results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import torch
from torch.fx import Node
from xdsl.dialects.builtin import DenseArrayBase, StringAttr, i64
from xdsl.ir import SSAValue

from ...dialects.dtype import I64
from ...dialects.hlir.builder import GraphBuilder
from ...dialects.hlir.comparison import NotEqualOp
from ...dialects.hlir.conversion import SelectOp
from ...dialects.hlir.elementwise import AddOp, EqualOp
from ...dialects.hlir.indexing import CheckIndexOp
from ...dialects.hlir.reduction import MaxOp
from ...dialects.op import tensor_of
from ...dialects.sym.expr import constant
from .fx import overload_name

TRUE = ("aten._assert_async.default", "aten._assert_async.msg", "aten._functional_assert_async.msg")
"""Overloads that assert a number other than 0."""
ZERO = ("aten._linalg_check_errors.default",)
"""Overloads that assert that all numbers are 0: what a factorisation says of its matrices."""


EFFECTS = torch.ops.higher_order.with_effects
"""(token, overload, arguments) -> (token, results): how torch orders calls that matter for what they do."""
TOKENS = ("prims._make_token.default", "prims._sink_tokens.default")


def is_token(node: Node) -> bool:
    """Whether a placeholder is the token that the first effect of a graph waits for; a call passes None for it."""
    return bool(node.users) and all(user.target is EFFECTS and user.args[0] is node for user in node.users)


@dataclass(frozen=True)
class Asserted:
    """A call that asserts a tensor, and what its node returns."""

    overload: str
    tensor: Node
    results: Sequence[None]


def asserted_by(node: Node) -> Asserted | None:
    """What a call asserts, by itself or ordered by a token; None for any other call."""
    effect = node.target is EFFECTS
    overload = str(node.args[1]) if effect else overload_name(node)
    arguments = node.args[2:] if effect else node.args
    if overload not in (*TRUE, *ZERO) or not isinstance(arguments[0], Node):
        return None
    return Asserted(overload, arguments[0], [None, None] if effect else [None])


class Assertions:
    """What a graph asserts so far. A program has values and no effects, so `tied` makes a result depend on it."""

    def __init__(self, b: GraphBuilder):
        self.b = b
        self._checked: list[SSAValue] = []

    def add(self, overload: str, value: SSAValue) -> None:
        """Asserts a tensor, in the sense of one of the overloads."""
        b, type_ = self.b, tensor_of(value)
        if any(extent.as_int() == 0 for extent in type_.dims):
            return
        compare = EqualOp if overload in TRUE else NotEqualOp
        broken = b.cast(b.emit(compare, [value, b.constant(0, type_)]), I64)
        if type_.rank:
            flat = b.reshape(broken, [reduce(lambda p, q: p * q, type_.dims, constant(1))])
            broken = b.emit(MaxOp, [flat], axes=DenseArrayBase.from_list(i64, [0]))
        none = b.constant(0, tensor_of(broken))
        self._checked.append(b.emit(CheckIndexOp, [broken, none], error=StringAttr("value")))

    def __bool__(self) -> bool:
        return bool(self._checked)

    def tied(self, value: SSAValue) -> SSAValue:
        """The value, computed only by runs in which everything holds."""
        b, total = self.b, self._checked[0]
        for checked in self._checked[1:]:
            total = b.emit(AddOp, [total, checked])
        holds = b.emit(EqualOp, [total, b.constant(0, tensor_of(total))])
        type_ = tensor_of(value)
        return b.emit(SelectOp, [b.broadcast(holds, type_.dims), value, b.constant(0, type_)])
