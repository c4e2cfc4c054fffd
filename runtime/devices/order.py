"""Which step of a program has to wait for which: decided from the modes of their arguments and where the arena's
slices lie.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from ..artifact import BufferArgument, Copy, HostProgram, Launch, Reference, Step

Range = tuple[str, int, int]
"""(space, begin, end): the arena in bytes, or a whole input or output."""

_INPUTS: Range = ("inputs", 0, 1)


@dataclass(frozen=True, slots=True)
class Edges:
    """The shape of a graph: equal ones can be repointed into each other.

    For every step its predecessors without those that follow from others, whether its one edge is programmatic, and
    whether it does nothing at these sizes.
    """

    before: tuple[tuple[int, ...], ...]
    programmatic: tuple[bool, ...]
    empty: tuple[bool, ...]


def accesses(step: Step) -> Iterator[tuple[Reference, bool]]:
    """(what a step touches, whether it writes there)."""
    if isinstance(step, Copy):
        yield step.source, False
        yield step.destination, True
        return
    for argument in step.arguments:
        if isinstance(argument, BufferArgument):
            yield argument.reference, argument.mode != "read"


class _Tracker:
    """The accesses so far that a later step may still have to wait for."""

    def __init__(self) -> None:
        self._records: dict[str, list[tuple[int, int, int, bool]]] = {}

    def predecessors(self, place: Range, writes: bool) -> list[int]:
        space, begin, end = place
        found = self._records.get(space, [])
        return [step for b, e, step, wrote in found if b < end and begin < e and (wrote or writes)]

    def record(self, place: Range, step: int, writes: bool) -> None:
        space, begin, end = place
        kept = self._records.get(space, [])
        if writes:  # whatever conflicts with a covered access conflicts with this write, which comes after it
            kept = [item for item in kept if not (begin <= item[0] and item[1] <= end)]
        self._records[space] = [*kept, (begin, end, step, writes)]


def order_steps(program: HostProgram, slices: Sequence[tuple[int, int]], empty: Sequence[bool]) -> Edges:
    """The edges for slices at these (begin, end) bytes; `empty` steps launch nothing and end no programmatic edge."""
    written = {
        reference.index
        for step in program.steps
        for reference, writes in accesses(step)
        if writes and reference.place == "input"
    }
    locate = _locator(slices, bool(written))
    tracker = _Tracker()
    ancestors: list[int] = []
    before: list[tuple[int, ...]] = []
    programmatic: list[bool] = []
    for number, step in enumerate(program.steps):
        places = [(locate(reference), writes) for reference, writes in accesses(step)]
        waits = {one for place, writes in places for one in tracker.predecessors(place, writes)}
        reached, kept = 0, list[int]()
        for earlier in sorted(waits, reverse=True):
            if not reached >> earlier & 1:
                kept.append(earlier)
                reached |= ancestors[earlier] | 1 << earlier
        ancestors.append(reached)
        before.append(tuple(reversed(kept)))
        programmatic.append(_is_programmatic(program, number, kept, empty))
        for place, writes in places:
            tracker.record(place, number, writes)
    return Edges(tuple(before), tuple(programmatic), tuple(empty))


def _locator(slices: Sequence[tuple[int, int]], inputs_written: bool) -> Callable[[Reference], Range]:
    def locate(reference: Reference) -> Range:
        if reference.place == "slice":
            begin, end = slices[reference.index]
            return ("arena", begin, max(end, begin + 1))
        if reference.place == "input" and inputs_written:
            return _INPUTS  # a caller may pass one tensor twice, or two that overlap
        return (f"{reference.place} {reference.index}", 0, 1)

    return locate


def _is_programmatic(program: HostProgram, number: int, before: Sequence[int], empty: Sequence[bool]) -> bool:
    step = program.steps[number]
    if not isinstance(step, Launch) or not step.pdl or len(before) != 1 or empty[number]:
        return False
    return isinstance(program.steps[before[0]], Launch) and not empty[before[0]]
