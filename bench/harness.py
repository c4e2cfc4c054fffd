"""Times candidates side by side in one process: values checked first, then rounds in which every candidate has its
turn."""

# torch's own types are partly unknown.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.utils import _pytree as pytree

Call = Callable[[], Any]

NOISY = 0.03
"""A spread of the rounds above this share of the median is marked in the table."""


@dataclass(frozen=True)
class Case:
    """One thing to measure: candidates by name, all computing the same.

    `reference` is the candidate whose values are right; `tolerance` bounds the largest absolute difference to it.
    Where the dtype is too coarse for that, `exact` computes the same in a wider one, and a candidate may be at most
    twice
    as far from it as the reference is. `compile_seconds` are what making each candidate took.
    `replaying` names the candidates that replay CUDA graphs of their own, which no other graph can hold.
    """

    name: str
    candidates: Mapping[str, Call]
    reference: str = "eager"
    tolerance: float = 1e-4
    replaying: frozenset[str] = frozenset()
    exact: Call | None = None
    compile_seconds: Mapping[str, float] = field(default_factory=dict[str, float])
    facts: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True)
class Timing:
    """Seconds of one call: the median of the rounds and their spread as a share of it."""

    median: float
    spread: float

    @classmethod
    def of(cls, rounds: list[float]) -> Timing:
        """The summary of some rounds."""
        median = statistics.median(rounds)
        return cls(median, (max(rounds) - min(rounds)) / median if median else 0.0)


@dataclass(frozen=True)
class Result:
    """What one candidate of a case did. `gpu` is the device's time of a call, without the gaps that the host makes."""

    case: str
    candidate: str
    wall: Timing
    gpu: Timing | None
    difference: float
    compile_seconds: float | None


def measure(case: Case, device: torch.device, rounds: int, calls: int) -> list[Result]:
    """Check and time every candidate of a case.

    Raises:
        ValueError: a candidate's values are not the reference's.
    """
    differences = _differences(case)
    wall = _interleaved({name: _wall_timer(call, device, calls) for name, call in case.candidates.items()}, rounds)
    gpu: dict[str, Timing] = {}
    if device.type == "cuda":
        timers = {
            name: (_event_timer if name in case.replaying else _graph_timer)(call, calls)
            for name, call in case.candidates.items()
        }
        gpu = _interleaved(timers, rounds)
    return [
        Result(case.name, name, wall[name], gpu.get(name), differences[name], case.compile_seconds.get(name))
        for name in case.candidates
    ]


def _differences(case: Case) -> dict[str, float]:
    """The largest absolute difference of each candidate to the reference, or to the exact values."""
    if len(case.candidates) == 1:
        return dict.fromkeys(case.candidates, 0.0)
    results = {name: _flat(call()) for name, call in case.candidates.items()}
    expected = _flat(case.exact()) if case.exact is not None else results[case.reference]
    found = {name: _distance(values, expected) for name, values in results.items()}
    limit = case.tolerance if case.exact is None else 2 * found[case.reference]
    for name, difference in found.items():
        if not difference <= limit:
            what = case.reference if case.exact is None else "the exact values"
            raise ValueError(f"{case.name}: {name} differs from {what} by {difference:.2e}, more than {limit:.2e}")
    return found


def _distance(values: list[torch.Tensor], expected: list[torch.Tensor]) -> float:
    pairs = zip(values, expected, strict=True)
    return max((float((a.double() - b.double()).abs().max()) for a, b in pairs if b.numel()), default=0.0)


def _flat(value: Any) -> list[torch.Tensor]:
    leaves: list[Any] = pytree.tree_leaves(value)
    return [leaf.detach() for leaf in leaves if isinstance(leaf, torch.Tensor)]


def _interleaved(timers: Mapping[str, Callable[[], float]], rounds: int) -> dict[str, Timing]:
    samples: dict[str, list[float]] = {name: [] for name in timers}
    for timer in timers.values():
        timer()
    for _ in range(rounds):
        for name, timer in timers.items():
            samples[name].append(timer())
    return {name: Timing.of(times) for name, times in samples.items()}


def _wall_timer(call: Call, device: torch.device, calls: int) -> Callable[[], float]:
    """Seconds of a call as the host sees it, over `calls` calls in a row."""

    def timer() -> float:
        if device.type == "cuda":
            torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(calls):
            call()
        if device.type == "cuda":
            torch.cuda.synchronize()
        return (time.perf_counter() - start) / calls

    return timer


def _graph_timer(call: Call, calls: int) -> Callable[[], float]:
    """Seconds of a call on the device: `calls` calls captured into one CUDA graph, replayed between two events."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            call()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(calls):
            call()
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)

    def timer() -> float:
        begin.record()
        graph.replay()
        end.record()
        torch.cuda.synchronize()
        return begin.elapsed_time(end) / 1e3 / calls

    return timer


def _event_timer(call: Call, calls: int) -> Callable[[], float]:
    """Seconds of a call on the device between two events around `calls` calls in a row, gaps between them included."""
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)

    def timer() -> float:
        begin.record()
        for _ in range(calls):
            call()
        end.record()
        torch.cuda.synchronize()
        return begin.elapsed_time(end) / 1e3 / calls

    return timer
