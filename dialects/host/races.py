"""What must hold of the buffers of a program: written before read, and never two values at one place at one time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.ir import Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from ..sym.bounds import Bounds
from .buffers import ArenaOp, InputOp, OutputOp, SliceOp
from .order import Order
from .steps import STEPS, Use


@dataclass
class _Life:
    """The steps that use a buffer, by number."""

    first: int
    last: int
    written: bool = field(default=False)


def check_program(ops: Sequence[Operation], bounds: Bounds) -> None:
    """Checks the uses of all buffers, in order.

    Raises:
        VerifyException: a buffer is read before it is written, or written where it must not be, or slices overlap.
    """
    lives: dict[SSAValue, _Life] = {}
    number = 0
    for op in ops:
        if isinstance(op, STEPS):
            _check_step(op, op.uses, lives, number)
            number += 1
    for op in ops:
        if not isinstance(op, OutputOp) or op.alias is not None:
            continue
        if not lives.get(op.buffer, _Life(0, 0)).written:
            raise VerifyException(f"output {op.output_name.data!r} is never written")
    _check_slices(ops, lives, bounds)


def _check_step(op: Operation, uses: Sequence[Use], lives: dict[SSAValue, _Life], number: int) -> None:
    counts: dict[SSAValue, int] = {}
    for _, buffer in uses:
        counts[buffer] = counts.get(buffer, 0) + 1
    for mode, buffer in uses:
        _check_use(op, mode, buffer, lives)
        if mode != "read" and counts[buffer] > 1:
            raise VerifyException(f"step {number} ({op.name}) writes a buffer that it also uses otherwise")
    for mode, buffer in uses:
        life = lives.setdefault(buffer, _Life(number, number))
        life.last = number
        life.written |= mode in ("write", "update")


def _check_use(op: Operation, mode: str, buffer: SSAValue, lives: dict[SSAValue, _Life]) -> None:
    owner = buffer.owner
    what = f"%{buffer.name_hint}" if buffer.name_hint else "a buffer"
    if isinstance(owner, InputOp):
        if owner.role.data == "scalar":
            raise VerifyException(f"{op.name} uses the scalar {what} as memory")
        if mode != "read" and owner.mutated is None:
            raise VerifyException(f"{op.name} writes the input {what}, which is not mutated")
        return
    if isinstance(owner, OutputOp) and owner.alias is not None:
        raise VerifyException(f"{op.name} uses the output {what}, which is a view of an input and has no memory")
    if mode in ("read", "update") and not (buffer in lives and lives[buffer].written):
        raise VerifyException(f"{op.name} reads {what} before it is written")


def _check_slices(ops: Sequence[Operation], lives: dict[SSAValue, _Life], bounds: Bounds) -> None:
    order = Order(bounds)
    slices = [op for op in ops if isinstance(op, SliceOp) and op.buffer in lives]
    arena = next((op for op in ops if isinstance(op, ArenaOp)), None)
    for one in slices:
        if arena is None or not order.at_most(one.end, arena.size.data):
            size = "no arena" if arena is None else f"an arena of {arena.size.data} bytes"
            raise VerifyException(f"the slice at {one.offset.data} ends at {one.end}, outside {size}")
    slices.sort(key=lambda op: lives[op.buffer].first)
    alive: list[SliceOp] = []
    for one in slices:
        start = lives[one.buffer].first
        alive = [other for other in alive if lives[other.buffer].last >= start]
        for other in alive:
            if not _disjoint(one, other, order):
                where = f"the slices at {other.offset.data} and {one.offset.data}"
                raise VerifyException(f"{where} overlap while both are in use (step {start})")
        alive.append(one)


def _disjoint(a: SliceOp, b: SliceOp, order: Order) -> bool:
    return order.at_most(a.end, b.offset.data) or order.at_most(b.end, a.offset.data)
