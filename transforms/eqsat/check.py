"""Translation validation of an e-graph: every member of every class, computed from the values of the classes it reads,
has the value of its class. One pass covers all unions, and errors do not add up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.equivalence import GraphOp
from xdsl.ir import Block, Operation, OpResult, SSAValue

from ...dialects.dtype import dtype_of_numpy
from ...dialects.errors import EvaluationError
from ...dialects.evaluate import bind_symbols, evaluate_op, find_function
from ...dialects.hlir.elementwise import Elementwise
from ...dialects.hlir.loop import LoopOp
from ...dialects.op import Array, Environment, Kind, TensorOp, tensor_of
from .egraph_ops import MOVES_ROUNDING, EClass, classes, copy_of, first_acyclic_choice, graphs, replace_by_choice, roots

TOLERANCE = 128.0
"""Allowed difference in eps of the dtype times the largest magnitude among result and operands."""


@dataclass(frozen=True)
class Mismatch:
    """A member whose value is not that of its class."""

    member: str
    first: str
    why: str

    def __str__(self) -> str:
        return f"{self.member} is not equal to {self.first}: {self.why}"


def plain_module(module: ModuleOp) -> ModuleOp:
    """A copy in which the first member that can be made stands for each class, so that it can be evaluated as a
    graph."""
    copy = copy_of(module)
    for graph in graphs(copy):
        replace_by_choice(graph, first_acyclic_choice(graph))
    return copy


def check_members(
    module: ModuleOp, name: str, inputs: Sequence[Array], symbols: Mapping[str, int] | None = None
) -> tuple[int, list[Mismatch]]:
    """How many members beside the first of each class were checked on a call of function `name`, and those that
    differ."""
    function = find_function(module, name)
    env = Environment(bind_symbols([a.type for a in function.body.block.args], inputs, symbols or {}))
    checker = _Checker(env)
    checker.block(function.body.block, inputs)
    return checker.checked, checker.found


class _Checker:
    def __init__(self, env: Environment):
        self.env = env
        self.checked = 0
        self.unit = 0.0
        self.found: list[Mismatch] = []

    def block(self, block: Block, inputs: Sequence[Array]) -> list[Array]:
        """Checks the e-graph that a block holds; what the block returns."""
        values: dict[SSAValue, Array] = dict(zip(block.args, inputs, strict=True))
        for op in block.ops:
            if isinstance(op, GraphOp):
                self.graph(op, values)
            elif op.results:
                raise EvaluationError("a saturated block holds one e-graph", op=op)
        last = block.last_op
        assert last is not None
        return [values[o] for o in last.operands]

    def graph(self, graph: GraphOp, values: dict[SSAValue, Array]) -> None:
        """Values of all classes, then every member against its class."""
        known = classes(graph)
        self.unit = _coarsest(known) if MOVES_ROUNDING in graph.attributes else 0.0
        chosen = first_acyclic_choice(graph)
        waiting = list(known)
        while waiting:
            later = [one for one in waiting if not self._evaluate_class(one, chosen[one.value], values)]
            assert len(later) < len(waiting)
            waiting = later
        for one in known:
            for member in one.members:
                if member is not chosen[one.value]:
                    self._compare(one, chosen[one.value], member, values)
        for result, root in zip(graph.results, roots(graph), strict=True):
            values[result] = values[root]

    def _evaluate_class(self, one: EClass, member: SSAValue, values: dict[SSAValue, Array]) -> bool:
        if not isinstance(member, OpResult):
            values[one.value] = values[member]
            return True
        if not all(o in values for o in member.op.operands):
            return False
        values[one.value] = self.evaluate(member, values)
        return True

    def evaluate(self, member: SSAValue, values: Mapping[SSAValue, Array]) -> Array:
        """The value of a member from those of the classes that it reads."""
        if not isinstance(member, OpResult):
            return values[member]
        op = member.op
        operands = [values[o] for o in op.operands]
        if isinstance(op, LoopOp):
            first = [operands[i] for i in _first_iteration(op)]
            self.block(op.body.block, first)
            op = _plain_loop(op)
        return evaluate_op(op, operands, self.env)[member.index]

    def _compare(self, one: EClass, first: SSAValue, member: SSAValue, values: Mapping[SSAValue, Array]) -> None:
        self.checked += 1
        want, got = values[one.value], self.evaluate(member, values)
        operands = [values[o] for m in (first, member) if isinstance(m, OpResult) for o in m.op.operands]
        strict = all(_keeps_signs(m) for m in (first, member))
        why = difference(want, got, operands, strict, self.unit)
        if why:
            self.found.append(Mismatch(_text(member), _text(first), why))


def _first_iteration(loop: LoopOp) -> list[int]:
    """Positions of the operands that the first iteration takes."""
    carried, trips, streams = len(loop.carried), loop.trip_count, len(loop.streams)
    invariants = range(carried + streams, len(loop.operands))
    return [*range(carried), *range(carried, carried + streams, trips), *invariants]


def _plain_loop(loop: LoopOp) -> Operation:
    copy = copy_of(loop)
    # The copy stands alone: it must not count as a user of the values around the original.
    copy.operands = Block(arg_types=[operand.type for operand in loop.operands]).args
    module = ModuleOp([copy])
    return next(iter(plain_module(module).ops))


def _keeps_signs(member: SSAValue) -> bool:
    """Whether a zero of the member has a defined sign: sums may be taken in any order."""
    op = member.owner
    return (
        not isinstance(op, TensorOp)
        or op.KIND is Kind.VIEW
        or (op.KIND is Kind.ELEMENTWISE and isinstance(op, Elementwise))
    )


def _coarsest(known: Sequence[EClass]) -> float:
    """The largest eps of the dtypes in an e-graph: a rounding that is moved is seen through casts too."""
    return max((tensor_of(one.value).dtype.eps for one in known), default=0.0)


def difference(want: Array, got: Array, operands: Sequence[Array], signs: bool, unit: float = 0.0) -> str:
    """How two values differ, or nothing. With `signs`, zeros have the same sign; `unit` is a lower bound on eps."""
    if want.shape != got.shape or want.dtype != got.dtype:
        return f"{got.dtype}{list(got.shape)} instead of {want.dtype}{list(want.shape)}"
    dtype = dtype_of_numpy(want.dtype)
    if not dtype.is_float:
        same = np.asarray(want == got)
        return "" if same.all() else _at(want, got, same)
    wide, other = want.astype(np.float64), got.astype(np.float64)
    with np.errstate(all="ignore"):
        equal = (wide == other) | (np.isnan(wide) & np.isnan(other))
        finite = np.isfinite(wide) & np.isfinite(other)
        scale = max([_largest(x) for x in (want, *operands)], default=0.0)
        near = finite & (np.abs(wide - other) <= TOLERANCE * max(dtype.eps, unit) * scale)
        same = equal | near
        if signs:
            same &= (wide != 0) | (other != 0) | (np.signbit(wide) == np.signbit(other))
    return "" if same.all() else _at(want, got, same)


def _largest(x: Array) -> float:
    wide = x.astype(np.float64)
    return float(np.max(np.abs(wide), where=np.isfinite(wide), initial=0.0))


def _at(want: Array, got: Array, same: Array) -> str:
    at = tuple(int(i) for i in np.argwhere(~np.asarray(same, np.bool_))[0])
    return f"{got[at]} instead of {want[at]} at {list(at)}"


def _text(member: SSAValue) -> str:
    if not isinstance(member, OpResult):
        return "an argument"
    op = member.op
    return f"{op.name} {dict(op.properties)}" if op.properties else op.name
