"""Where a list of ops repeats itself, judged by op, properties and types alone, and where a repeated body is best
cut."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from xdsl.ir import Block, Operation, OpResult, SSAValue

from ..dialects.hlir.builder import GraphBuilder
from ..dialects.hlir.elementwise import Elementwise
from ..dialects.op import Kind, TensorOp

TRIED = 8
"""How many places of repetition are tried before giving up."""


@dataclass(frozen=True)
class Run:
    """labels[start : start + length] repeats itself with this period."""

    start: int
    length: int
    period: int

    def trips(self, offset: int = 0) -> int:
        """Whole periods from `start + offset` on."""
        return (self.length - offset) // self.period

    @property
    def saved(self) -> int:
        """Ops that disappear when all but one period do."""
        return self.period * (self.trips() - 1)


class Labels:
    """Numbers that are equal for ops of equal class, properties and result types."""

    def __init__(self) -> None:
        self._numbers: dict[Hashable, int] = {}
        self._anchors: dict[int, bool] = {}

    def of(self, op: Operation) -> int:
        key: Hashable = op
        if isinstance(op, TensorOp) and not op.regions:
            properties = tuple(sorted(op.properties.items(), key=lambda item: item[0]))
            key = (type(op), properties, tuple(o.type for o in op.operands), tuple(r.type for r in op.results))
        return self._numbers.setdefault(key, len(self._numbers))

    def is_anchor(self, op: Operation) -> bool:
        """Whether the op ends the kernels before it: a contraction, something irregular, or a composite of such."""
        label = self.of(op)
        if label not in self._anchors:
            self._anchors[label] = _is_anchor(op)
        return self._anchors[label]


def _is_anchor(op: Operation) -> bool:
    if not isinstance(op, TensorOp):
        return True
    if op.KIND is not Kind.COMPOSITE or isinstance(op, Elementwise):
        return op.KIND in (Kind.CONTRACTION, Kind.IRREGULAR, Kind.LIBRARY, Kind.REGION)
    block = Block(arg_types=[o.type for o in op.operands])
    scratch = type(op).make(list(block.args), op.properties)
    scratch.expand(GraphBuilder(block))
    return any(_is_anchor(inner) for inner in block.ops)


def find_runs(labels: Sequence[int], minimum: int) -> list[Run]:
    """The runs of at least `minimum` periods that save the most ops, best first; at most one for each period."""
    a = np.asarray(labels, np.int64)
    runs: list[Run] = []
    for period in range(1, len(a) // minimum + 1):
        equal = a[period:] == a[:-period]
        if np.count_nonzero(equal) < period * (minimum - 1):
            continue
        edges = np.flatnonzero(np.diff(np.concatenate(([False], equal, [False])).astype(np.int8)))
        starts, ends = edges[::2], edges[1::2]
        best = int(np.argmax(ends - starts))
        run = Run(int(starts[best]), int(ends[best] - starts[best]) + period, period)
        if run.trips() >= minimum:
            runs.append(run)
    return sorted(runs, key=lambda run: (-run.saved, run.period, run.start))[:TRIED]


def stages(block: Block, labels: Labels) -> dict[SSAValue, int]:
    """For each value the largest number of anchors on a way to it: values of one stage may share a kernel."""
    stage: dict[SSAValue, int] = dict.fromkeys(block.args, 0)
    for op in block.ops:
        level = max((stage[o] for o in op.operands), default=0) + labels.is_anchor(op)
        stage.update(dict.fromkeys(op.results, level))
    return stage


def last_fused_use(value: SSAValue, stage: dict[SSAValue, int], position: Mapping[Operation, int]) -> int:
    """The last position at which an op of the value's own stage computes with it, directly or through views; else
    -1."""
    last = -1
    for use in value.uses:
        user = use.operation
        if isinstance(user, TensorOp) and user.KIND is Kind.VIEW:
            last = max(last, last_fused_use(user.results[0], stage, position))
        elif user.results and stage[user.results[0]] == stage[value]:
            last = max(last, position.get(user, -1))
    return last


def cut_costs(ops: Sequence[Operation], run: Run, stage: dict[SSAValue, int]) -> list[tuple[int, int]]:
    """For each offset below the period: how many values a cut there carries out of a kernel, and how many it
    carries."""
    middle = run.start + (run.trips() // 2) * run.period
    position = {op: i for i, op in enumerate(ops)}
    torn, carried = [0] * run.period, [0] * run.period
    for at in range(max(0, middle - 2 * run.period), min(len(ops), middle + run.period)):
        for value in ops[at].results:
            last = max((position.get(use.operation, -1) for use in value.uses), default=-1)
            fused = last_fused_use(value, stage, position)
            for cut in range(max(at + 1, middle), min(last, middle + run.period - 1) + 1):
                torn[cut - middle] += cut <= fused
                carried[cut - middle] += 1
    return list(zip(torn, carried, strict=True))


def owner_of(value: SSAValue) -> tuple[Operation | None, int]:
    """The op that makes the value and which result it is, or (None, argument number)."""
    if isinstance(value, OpResult):
        return value.op, value.index
    return None, 0
