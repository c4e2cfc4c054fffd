"""Reading decoded e-graphs: the classes of an `equivalence.graph`, and putting a choice of members in its place.

A class is what other ops use: the result of an `equivalence.class`, or a value that is the only form of itself.
Nothing here needs egglog.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeVar

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.equivalence import ClassOp, GraphOp, YieldOp
from xdsl.ir import Operation, OpResult, SSAValue

from ...dialects.errors import ContractError, InternalError

OperationT = TypeVar("OperationT", bound=Operation)
MOVES_ROUNDING = "moves_rounding"
"""Attribute of an e-graph whose members are equal over the reals; without it they round the same values."""


@dataclass(frozen=True)
class EClass:
    """`value` is what users read; each of `members` is one way to make it, in the order of their smallest terms."""

    value: SSAValue
    members: tuple[SSAValue, ...]

    @property
    def op(self) -> ClassOp | None:
        """The class op, or None where there is one member only."""
        owner = self.value.owner
        return owner if isinstance(owner, ClassOp) else None


def copy_of(op: OperationT) -> OperationT:
    """A deep copy of an op with e-graphs inside. xDSL's clone leaves an operand that is used before its definition on
    the
    original, whose values would then have users outside their module."""
    copy = op.clone()
    own: dict[SSAValue, SSAValue] = {}
    for old, new in zip(op.walk(), copy.walk(), strict=True):
        own.update(zip(old.results, new.results, strict=True))
    for new in copy.walk():
        for position, operand in enumerate(new.operands):
            if operand in own:
                new.operands[position] = own[operand]
    return copy


def graphs(module: ModuleOp) -> list[GraphOp]:
    """Every e-graph of the module, inner ones first."""
    found: list[GraphOp] = []

    def visit(op: Operation) -> None:
        for region in op.regions:
            for block in region.blocks:
                for inner in block.ops:
                    visit(inner)
        if isinstance(op, GraphOp):
            found.append(op)

    visit(module)
    return found


def classes(graph: GraphOp) -> list[EClass]:
    """The classes of an e-graph in the order of their smallest terms; values from outside that are in no class are
    none."""
    found: list[EClass] = []
    block = graph.body.block
    members = {value for op in block.ops if isinstance(op, ClassOp) for value in op.arguments}
    for op in block.ops:
        if isinstance(op, ClassOp):
            found.append(EClass(op.result, tuple(op.arguments)))
        elif not isinstance(op, YieldOp):
            found += [EClass(result, (result,)) for result in op.results if result not in members]
    return found


def roots(graph: GraphOp) -> list[SSAValue]:
    """The class values that the e-graph yields."""
    last = graph.body.block.last_op
    if not isinstance(last, YieldOp):
        raise ContractError("an e-graph ends with equivalence.yield", op=graph)
    return list(last.values)


def operands_of(member: SSAValue) -> tuple[SSAValue, ...]:
    """The class values that a member is made of; none for a value from outside."""
    return tuple(member.op.operands) if isinstance(member, OpResult) else ()


def is_inside(value: SSAValue, graph: GraphOp) -> bool:
    """Whether an op of the e-graph makes the value."""
    return isinstance(value, OpResult) and value.op.parent is graph.body.block


def replace_by_choice(graph: GraphOp, choice: Mapping[SSAValue, SSAValue]) -> None:
    """Put the chosen member of each class, as far as the results need it, in the place of the e-graph.

    `choice` takes class values to members; a class of one member needs no entry. The chosen ops are moved, not copied,
    so their identity, locations and regions stay.

    Raises:
        InternalError: the choice is cyclic.
    """
    block = graph.parent
    if block is None:
        raise InternalError("an e-graph outside any block", op=graph)
    order = _ordered(graph, choice)
    made: dict[SSAValue, SSAValue] = {}

    def value_of(value: SSAValue) -> SSAValue:
        return made.get(value, choice.get(value, value))

    for op in order:
        operands = [value_of(operand) for operand in op.operands]
        op.detach()
        block.insert_op_before(op, graph)
        op.operands = operands
    finals = [value_of(value) for value in roots(graph)]
    for result, value in zip(tuple(graph.results), finals, strict=True):
        result.replace_all_uses_with(value)
    block.detach_op(graph)
    _drop(graph)


def _ordered(graph: GraphOp, choice: Mapping[SSAValue, SSAValue]) -> list[Operation]:
    """The ops that the choice needs, each after those it reads."""
    order: list[Operation] = []
    state: dict[Operation, int] = {}
    for root in roots(graph):
        stack = [(root, False)]
        while stack:
            value, finished = stack.pop()
            member = choice.get(value, value)
            if not is_inside(member, graph) or not isinstance(member, OpResult):
                continue
            op = member.op
            if isinstance(op, ClassOp):
                raise InternalError(f"no member is chosen for a class of {len(op.arguments)}", op=op)
            if finished:
                if state[op] == 1:
                    state[op] = 2
                    order.append(op)
            elif state.get(op) is None:
                state[op] = 1
                stack.append((value, True))
                stack += [(operand, False) for operand in reversed(op.operands)]
            elif state[op] == 1:
                raise InternalError("the chosen members need one another in a cycle", op=op)
    return order


def _drop(graph: GraphOp) -> None:
    for op in list(graph.body.block.ops):
        op.drop_all_references()
    graph.erase(safe_erase=False)


def first_acyclic_choice(graph: GraphOp) -> dict[SSAValue, SSAValue]:
    """For each class its first member whose operands can be made before it: a valid selection that looks at no cost."""
    return acyclic_choice(graph, lambda member: 0.0)


def acyclic_choice(graph: GraphOp, cost: Callable[[SSAValue], float]) -> dict[SSAValue, SSAValue]:
    """For each class a member, of those that can be made before it the cheapest by its own cost, then the first."""
    known: set[SSAValue] = set()
    chosen: dict[SSAValue, SSAValue] = {}
    waiting = classes(graph)
    inside = {c.value for c in waiting}

    def ready(member: SSAValue) -> bool:
        return all(o in known or o not in inside for o in operands_of(member))

    while waiting:
        later: list[EClass] = []
        for one in waiting:
            able = [m for m in one.members if ready(m)]
            if able:
                chosen[one.value] = min(able, key=cost)
                known.add(one.value)
            else:
                later.append(one)
        if len(later) == len(waiting):
            raise InternalError("classes of an e-graph need one another in a cycle without an entry", op=graph)
        waiting = later
    return chosen


def member_ops(graph: GraphOp) -> Iterator[Operation]:
    """The ops of an e-graph that make values."""
    return (op for op in graph.body.block.ops if not isinstance(op, ClassOp | YieldOp))
