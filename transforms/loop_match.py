"""How the iterations of a repeated body are wired: what is local, carried, the same in each, or one value an
iteration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias, TypeGuard

from xdsl.ir import Operation, SSAValue

from ..dialects.hlir.creation import ConstantOp, IotaOp
from ..dialects.hlir.view import ViewOp
from .repetition import Labels, owner_of


@dataclass(frozen=True)
class Local:
    """Result `index` of the body's op number `op`."""

    op: int
    index: int


@dataclass(frozen=True)
class Carried:
    """What op number `op` of the iteration before gave; before the first iteration, `initial`."""

    op: int
    index: int
    initial: SSAValue


@dataclass(frozen=True)
class Invariant:
    """The same value in every iteration."""

    value: SSAValue


@dataclass(frozen=True)
class Stream:
    """One value from outside for each iteration."""

    values: tuple[SSAValue, ...]


Source: TypeAlias = Local | Carried | Invariant | Stream


@dataclass
class Body:
    """A loop to be: `iterations[i][j]` is op number j of iteration i, `sources[j]` says where its operands come from.

    The first `core` ops are those of the run; after them come ops pulled in, on which nothing but the body depends.
    """

    iterations: list[list[Operation]]
    sources: list[list[Source]] = field(default_factory=list[list[Source]])
    core: int = 0

    @property
    def trips(self) -> int:
        return len(self.iterations)

    def carried(self) -> list[Carried]:
        """The carried values, each once, in the order of their first use."""
        return list(dict.fromkeys(s for row in self.sources for s in row if isinstance(s, Carried)))

    def is_recurrent(self) -> bool:
        """Whether some carried value depends on one of the iteration before; else the iterations are independent."""
        dependent: set[int] = set()
        for number in range(self.core):
            sources = self.sources[number]
            if any(isinstance(s, Carried) or (isinstance(s, Local) and s.op in dependent) for s in sources):
                dependent.add(number)
        return any(c.op in dependent for c in self.carried())

    def members(self) -> set[Operation]:
        """The ops that the loop replaces."""
        return {op for ops in self.iterations for op in ops[: self.core]}


def is_free(op: Operation | None) -> TypeGuard[Operation]:
    """Whether the op is better made anew in each iteration than kept: views, splats and index expressions are never
    stored."""
    return isinstance(op, ViewOp | ConstantOp | IotaOp)


class Matcher:
    """Finds the wiring of iterations. `satellites` are cheap ops on arguments alone, which may be pulled into the
    body."""

    def __init__(self, iterations: Sequence[Sequence[Operation]], labels: Labels, satellites: set[Operation]):
        self.body = Body([list(ops) for ops in iterations], core=len(iterations[0]))
        self.labels = labels
        self.satellites = satellites
        self.place = {op: (i, j) for i, ops in enumerate(iterations) for j, op in enumerate(ops)}
        self.pulled: dict[tuple[Operation, ...], int] = {}

    def match(self) -> Body | None:
        """The wired body, or None where the iterations are wired differently."""
        at = 0
        while at < len(self.body.iterations[0]):
            row: list[Source] = []
            for position in range(len(self.body.iterations[0][at].operands)):
                source = self._classify(tuple(ops[at].operands[position] for ops in self.body.iterations))
                if source is None:
                    return None
                row.append(source)
            self.body.sources.append(row)
            at += 1
        return self.body

    def _classify(self, values: tuple[SSAValue, ...]) -> Source | None:
        owners = [owner_of(v) for v in values]
        places = [self.place.get(op) if op is not None else None for op, _ in owners]
        if all(place is None for place in places):
            return self._outside(values, owners)
        last, index = places[-1], owners[-1][1]
        if last is None or any(i != index for (_, i), place in zip(owners, places, strict=True) if place):
            return None
        number = last[1]
        if all(place == (i, number) for i, place in enumerate(places)):
            return Local(number, index)
        if places[0] is None and all(place == (i, number) for i, place in enumerate(places[1:])):
            return Carried(number, index, values[0])
        return None

    def _outside(self, values: tuple[SSAValue, ...], owners: list[tuple[Operation | None, int]]) -> Source:
        if all(v is values[0] for v in values):
            op, index = owners[0]
            return Local(self._pull((op,) * len(values)), index) if is_free(op) else Invariant(values[0])
        ops = tuple(op for op, _ in owners if op is not None and op in self.satellites)
        if len(ops) == len(values) and len({(self.labels.of(op), i) for op, i in owners if op is not None}) == 1:
            return Local(self._pull(ops), owners[0][1])
        return Stream(values)

    def _pull(self, ops: tuple[Operation, ...]) -> int:
        number = self.pulled.get(ops)
        if number is None:
            number = self.pulled[ops] = len(self.body.iterations[0])
            for iteration, op in zip(self.body.iterations, ops, strict=True):
                iteration.append(op)
        return number


def iteration_before(body: Body, labels: Labels) -> list[Operation] | None:
    """The core ops of one more iteration in front, found backwards from the initial values of what is carried.

    They need not stand together: the first iteration often holds ops that all iterations share.
    """
    found: dict[int, Operation] = {}
    members = body.members()
    work = [(c.op, owner_of(c.initial)[0]) for c in body.carried()]
    while work:
        number, op = work.pop()
        template = body.iterations[0][number]
        if op is None or op in members or labels.of(op) != labels.of(template):
            return None
        if number in found:
            if found[number] is not op:
                return None
            continue
        found[number] = op
        for source, operand in zip(body.sources[number], op.operands, strict=True):
            if isinstance(source, Local):
                work.append((source.op, owner_of(operand)[0]))
    if any(number not in found for number in range(body.core)):
        return None
    ops = [found[number] for number in range(body.core)]
    return ops if len(set(ops)) == len(ops) else None


def is_convex(members: set[Operation], ops: Sequence[Operation]) -> bool:
    """Whether no way leads out of the members and back in."""
    tainted: set[Operation] = set()
    for op in ops:
        owners = [owner_of(operand)[0] for operand in op.operands]
        if op in members:
            if any(owner in tainted for owner in owners):
                return False
        elif any(owner in members or owner in tainted for owner in owners):
            tainted.add(op)
    return True
