"""Which steps wait for which: parallel branches, reuse of arena space, written inputs, against all pairs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from albumen.runtime.artifact import Launch, Mode, Slice
from albumen.runtime.devices.order import order_steps


def test_independent_steps_are_parallel_branches(kit: Any) -> None:
    steps = [
        kit.launch("a", kit.buffer("input", 0, "read"), kit.buffer("slice", 0, "write")),
        kit.launch("b", kit.buffer("input", 0, "read"), kit.buffer("slice", 1, "write")),
        kit.launch(
            "c", kit.buffer("slice", 0, "read"), kit.buffer("slice", 1, "read"), kit.buffer("output", 0, "write")
        ),
    ]
    assert kit.order(kit.chain(steps)) == ((), (), (0, 1))


def test_reuse_of_arena_space_orders_steps(kit: Any) -> None:
    slices = [Slice("0", "s*16"), Slice("s*16", "s*16"), Slice("s*8", "s*16")]
    steps = [
        kit.launch("a", kit.buffer("input", 0, "read"), kit.buffer("slice", 0, "write")),
        kit.launch("b", kit.buffer("slice", 0, "read"), kit.buffer("slice", 1, "write")),
        kit.launch("c", kit.buffer("input", 0, "read"), kit.buffer("slice", 2, "write")),  # overlaps both
        kit.launch("d", kit.buffer("slice", 2, "read"), kit.buffer("output", 0, "write")),
    ]
    assert kit.order(kit.chain(steps, slices)) == ((), (0,), (1,), (2,))


def test_writing_an_input_orders_all_uses_of_inputs(kit: Any) -> None:
    steps = [
        kit.launch("a", kit.buffer("input", 0, "read"), kit.buffer("slice", 0, "write")),
        kit.launch("b", kit.buffer("input", 1, "read"), kit.buffer("slice", 1, "write")),
        kit.launch("c", kit.buffer("slice", 0, "read"), kit.buffer("input", 0, "write")),
    ]
    assert kit.order(kit.chain(steps)) == ((), (), (0, 1))


def test_order_against_all_pairs(kit: Any, rng: np.random.Generator) -> None:
    """Reachability equals that of the graph with an edge for every conflicting pair."""
    modes: tuple[Mode, ...] = ("read", "write", "update", "scratch")
    for _ in range(60):
        count = int(rng.integers(2, 12))
        spans = [(int(begin), int(begin + rng.integers(1, 40))) for begin in rng.integers(0, 100, 6)]
        steps: list[Launch] = []
        for number in range(count):
            uses = [kit.buffer("slice", int(rng.integers(0, 6)), modes[int(rng.integers(0, 4))]) for _ in range(2)]
            steps.append(kit.launch(f"k{number}", *uses))
        program = kit.chain(steps, [Slice(str(begin), str(end - begin)) for begin, end in spans])
        edges = order_steps(program, spans, [False] * count)
        assert reach(edges.before) == reach(conflicts(steps, spans))


def reach(before: Sequence[Sequence[int]]) -> list[set[int]]:
    reached: list[set[int]] = []
    for earlier in before:
        reached.append(set(earlier).union(*(reached[one] for one in earlier)))
    return reached


def conflicts(steps: Sequence[Launch], spans: Sequence[tuple[int, int]]) -> list[list[int]]:
    def clash(a: Any, b: Any) -> bool:
        (begin, end), (start, stop) = (spans[int(one.reference.index)] for one in (a, b))
        return begin < stop and start < end and not (a.mode == b.mode == "read")

    def depends(late: int, early: int) -> bool:
        return any(clash(a, b) for a in steps[late].arguments for b in steps[early].arguments)

    return [[early for early in range(late) if depends(late, early)] for late in range(len(steps))]
