"""The state of an interpreter run: values in all lanes, and how many iterations of parallel loops run at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from math import prod
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects import arith, scf
from xdsl.ir import Block, Operation, SSAValue

from ..errors import EvaluationError
from .memory import AllocOp, LoadOp, PackOp
from .nest import ParallelOp, ReduceOp, YieldOp
from .scalar_values import HANDLERS, Array, constant
from .types import PtrType

LARGEST = 1 << 22
"""Most iterations that run at once."""


@dataclass(frozen=True)
class Pointer:
    """An address: a flat buffer and element offsets into it."""

    buffer: NDArray[Any]
    offset: Array


Value: TypeAlias = Array | Pointer


Control: TypeAlias = Mapping[type[Operation], Callable[["Machine", Operation], None]]


class Machine:
    """Values of one run, and the extents of the parallel loops around the current op, innermost first."""

    def __init__(self, control: Control):
        self.control = control
        self.values: dict[SSAValue, Value] = {}
        self.space: tuple[int, ...] = ()
        self._together: dict[Operation, bool] = {}

    def array(self, value: SSAValue) -> Array:
        found = self.values[value]
        assert not isinstance(found, Pointer)
        return found

    def pointer(self, value: SSAValue) -> Pointer:
        found = self.values[value]
        assert isinstance(found, Pointer)
        return found

    def number(self, value: SSAValue, op: Operation) -> int:
        """A value that is the same in all lanes."""
        found = np.unique(self.array(value))
        if found.size != 1:
            raise EvaluationError("control depends on the index of a parallel loop that runs at once", op=op)
        return int(found[0])

    def block(self, block: Block) -> list[Value]:
        """Runs the block and returns the values that its terminator passes on."""
        for op in block.ops:
            if isinstance(op, scf.YieldOp | YieldOp | scf.ConditionOp):
                return [self.values[value] for value in op.operands]
            self.op(op)
        return []

    def op(self, op: Operation) -> None:
        control = self.control.get(type(op))
        if control is not None:
            control(self, op)
        elif isinstance(op, arith.ConstantOp):
            self.values[op.result] = constant(op)
        elif isinstance(op, arith.SelectOp) and isinstance(op.result.type, PtrType):
            self.values[op.result] = self.values[op.lhs if self.number(op.cond, op) else op.rhs]
        elif type(op) in HANDLERS:
            self.values[op.results[0]] = np.asarray(HANDLERS[type(op)](op, [self.array(v) for v in op.operands]))
        else:
            raise EvaluationError("the loop level has no such op", op=op)

    def runs_at_once(self, op: ParallelOp | ReduceOp) -> bool:
        """Whether nothing inside decides control flow, loop extents or scratch sizes by the loop's own indices."""
        if op not in self._together:
            self._together[op] = not _controlled_by(op.body.block, set(op.body.block.args))
        return self._together[op]

    def iterations(self, op: ParallelOp | ReduceOp, run: Callable[[], None]) -> None:
        """Calls `run` with the indices bound: to all iterations at once where that is possible, else to each."""
        args = op.body.block.args
        extents = [max(0, self.number(extent, op)) for extent in op.extents]
        if 0 in extents:
            return
        outer = self.space
        if not self.runs_at_once(op):
            for indices in np.ndindex(*extents):
                for argument, position in zip(args, indices, strict=True):
                    self.values[argument] = np.asarray(position, np.int64)
                run()
            return
        step = max(1, LARGEST // max(1, prod(extents[1:]) * prod(outer)))
        for begin in range(0, extents[0], step):
            shape = (min(step, extents[0] - begin), *extents[1:])
            self.space = (*shape, *outer)
            for axis, argument in enumerate(args):
                dims = [shape[axis] if i == axis else 1 for i in range(len(shape))] + [1] * len(outer)
                position = np.arange(shape[axis], dtype=np.int64) + (begin if axis == 0 else 0)
                self.values[argument] = position.reshape(dims)
            run()
        self.space = outer


def _controlled_by(block: Block, tainted: set[SSAValue]) -> bool:
    for op in block.ops:
        deciding: Iterable[SSAValue] = ()
        if isinstance(op, ParallelOp | ReduceOp):
            deciding = op.extents
        elif isinstance(op, scf.ForOp):
            deciding = (op.lb, op.ub, op.step)
        elif isinstance(op, scf.IfOp):
            deciding = (op.cond,)
        elif isinstance(op, AllocOp):
            deciding = (op.count,)
        elif isinstance(op, PackOp):
            deciding = op.operands
        elif isinstance(op, arith.SelectOp):
            deciding = (op.cond,) if isinstance(op.result.type, PtrType) else ()
        if isinstance(op, scf.WhileOp) or any(value in tainted for value in deciding):
            return True
        if isinstance(op, LoadOp) or any(value in tainted for value in op.operands):
            tainted.update(op.results)
        for region in op.regions:
            for inner in region.blocks:
                if isinstance(op, scf.ForOp):
                    tainted.update(
                        arg for arg, init in zip(inner.args[1:], op.iter_args, strict=True) if init in tainted
                    )
                if _controlled_by(inner, tainted):
                    return True
                last = inner.last_op
                if last is not None and any(value in tainted for value in last.operands):
                    tainted.update(op.results)
    return False
