"""roll-loops: a body that straight-line code repeats becomes one hlir.loop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass

from ..dialects.errors import OptionError
from ..dialects.hlir.elementwise import Elementwise
from ..dialects.hlir.loop import LoopOp, YieldOp
from ..dialects.op import Kind, TensorOp
from .canonicalize import is_dead
from .loop_match import Body, Carried, Invariant, Local, Matcher, Source, Stream, is_convex, iteration_before
from .repetition import Labels, Run, cut_costs, find_runs, owner_of, stages

OFFSETS = 4
"""How many equally good cuts of one repetition are tried."""


@dataclass(frozen=True)
class RollLoopsPass(ModulePass):
    """Leaves no recurrence of `minimum` or more equal iterations written out, as far as order in the text shows them.

    An iteration must depend on the one before and hold a contraction or an irregular op, else kernels would be torn
    apart for nothing. The body is rotated so that what it carries is what a default cover stores anyway.
    """

    name: ClassVar[str] = "roll-loops"

    minimum: int = 2

    def __post_init__(self) -> None:
        if self.minimum < 2:
            raise OptionError(f"minimum must be at least 2, found {self.minimum}", stage=self.name)

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in op.ops:
            if isinstance(function, FuncOp) and not function.is_declaration:
                while roll_one(function.body.block, self.minimum):
                    pass


def roll_one(block: Block, minimum: int) -> LoopOp | None:
    """Roll the repetition of the block that saves the most ops; None when there is none."""
    labels = Labels()
    satellites = _satellites(block)
    core = [op for op in block.ops if op not in satellites]
    stage = stages(block, labels)
    for run in find_runs([labels.of(op) for op in core], minimum):
        costs = cut_costs(core, run, stage)
        enough = [o for o in range(run.period) if run.trips(o) >= max(minimum, run.trips() - 1)]
        for cost in sorted({costs[o] for o in enough}):
            equal = [o for o in enough if costs[o] == cost][:OFFSETS]
            wired = [_wired(core, run, offset, labels, satellites) for offset in equal]
            bodies = [_extended(b, labels, satellites, block) for b in wired if b is not None and _is_worth(b, labels)]
            bodies = [body for body in bodies if is_convex(body.members(), list(block.ops))]
            if bodies:
                return _build(max(bodies, key=lambda body: body.trips), block)
    return None


def _satellites(block: Block) -> set[Operation]:
    """Ops without rows to reduce or anchors above them: views, creations and elementwise ops of arguments and of each
    other."""
    found: set[Operation] = set()
    for op in block.ops:
        cheap = isinstance(op, Elementwise) or (isinstance(op, TensorOp) and op.KIND in (Kind.VIEW, Kind.CREATION))
        if cheap and all(owner is None or owner in found for owner, _ in map(owner_of, op.operands)):
            found.add(op)
    return found


def _wired(core: Sequence[Operation], run: Run, offset: int, labels: Labels, satellites: set[Operation]) -> Body | None:
    first, period = run.start + offset, run.period
    iterations = [core[first + i * period : first + (i + 1) * period] for i in range(run.trips(offset))]
    return Matcher(iterations, labels, satellites).match()


def _is_worth(body: Body, labels: Labels) -> bool:
    return body.is_recurrent() and any(labels.is_anchor(op) for op in body.iterations[0][: body.core])


def _extended(body: Body, labels: Labels, satellites: set[Operation], block: Block) -> Body:
    """The body with more iterations in front as long as they match."""
    while (before := iteration_before(body, labels)) is not None:
        iterations = [before, *(ops[: body.core] for ops in body.iterations)]
        longer = Matcher(iterations, labels, satellites).match()
        if longer is None or len(longer.sources) != len(body.sources):
            break
        if not is_convex(longer.members(), list(block.ops)):
            break
        body = longer
    return body


def _build(body: Body, block: Block) -> LoopOp:
    """Replace the members by a loop."""
    members = body.members()
    carried = body.carried()
    streams = list(dict.fromkeys(s for row in body.sources for s in row if isinstance(s, Stream)))
    invariants = list(dict.fromkeys(s for row in body.sources for s in row if isinstance(s, Invariant)))
    collected = _collected(body, carried, members)
    inner = _body_block(body, carried, streams, invariants, collected)
    loop = LoopOp.build_loop(
        body.trips,
        [c.initial for c in carried],
        [s.values for s in streams],
        [s.value for s in invariants],
        inner,
    )
    loop.location = body.iterations[0][0].location
    _insert(loop, members, block)
    finals = {(c.op, c.index): result for c, result in zip(carried, loop.outs, strict=False)}
    for (number, index), result in finals.items():
        _replace_outside(body.iterations[-1][number].results[index], result, members)
    for position, (number, index) in enumerate(collected):
        for trip, ops in enumerate(body.iterations):
            result = loop.outs[len(carried) + position * body.trips + trip]
            _replace_outside(ops[number].results[index], result, members)
    for op in [op for op in reversed(list(block.ops)) if op in members]:
        block.erase_op(op)
    for op in reversed(list(block.ops)):
        if is_dead(op):
            block.erase_op(op)
    return loop


def _collected(body: Body, carried: Sequence[Carried], members: set[Operation]) -> list[tuple[int, int]]:
    """(op, result) of the values that something outside reads other than as a last carried value."""
    final = {(c.op, c.index) for c in carried}
    found: list[tuple[int, int]] = []
    for number in range(body.core):
        for index in range(len(body.iterations[0][number].results)):
            for trip, ops in enumerate(body.iterations):
                is_final = trip == body.trips - 1 and (number, index) in final
                outside = any(use.operation not in members for use in ops[number].results[index].uses)
                if outside and not is_final and (number, index) not in found:
                    found.append((number, index))
    return found


def _body_block(
    body: Body,
    carried: Sequence[Carried],
    streams: Sequence[Stream],
    invariants: Sequence[Invariant],
    collected: Sequence[tuple[int, int]],
) -> Block:
    sources: list[Source] = [*carried, *streams, *invariants]
    outer = [*(c.initial for c in carried), *(s.values[0] for s in streams), *(s.value for s in invariants)]
    block = Block(arg_types=[v.type for v in outer])
    known: dict[Source, SSAValue] = dict(zip(sources, block.args, strict=True))
    for argument, value in zip(block.args, outer, strict=True):
        argument.name_hint = value.name_hint
    copies: dict[int, Operation] = {}

    def emit(number: int) -> Operation:
        if number not in copies:
            operands: list[SSAValue] = []
            for source in body.sources[number]:
                operands.append(emit(source.op).results[source.index] if isinstance(source, Local) else known[source])
            template = body.iterations[0][number]
            copies[number] = template.clone()
            copies[number].operands = operands
            block.add_op(copies[number])
        return copies[number]

    for number in range(body.core):
        emit(number)
    values = [copies[c.op].results[c.index] for c in carried]
    values += [copies[number].results[index] for number, index in collected]
    block.add_op(YieldOp(values))
    return block


def _insert(loop: LoopOp, members: set[Operation], block: Block) -> None:
    """Place the loop where its last member stands, and the ops before that point that need its results behind it."""
    ops = list(block.ops)
    last = max(i for i, op in enumerate(ops) if op in members)
    block.insert_op_after(loop, ops[last])
    behind: Operation = loop
    moved: set[Operation] = set()
    for op in ops[:last]:
        owners = [owner_of(operand)[0] for operand in op.operands]
        if op not in members and any(owner in members or owner in moved for owner in owners):
            block.detach_op(op)
            block.insert_op_after(op, behind)
            moved.add(op)
            behind = op


def _replace_outside(old: SSAValue, new: SSAValue, members: set[Operation]) -> None:
    old.replace_uses_with_if(new, lambda use: use.operation not in members)
