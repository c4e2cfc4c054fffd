"""What a loop kernel means, on numpy.

A parallel loop runs all its iterations at once: inside it every value is an array with one leading axis per enclosing
parallel loop, innermost first, so numpy's broadcasting lines values of different depth up. A loop whose index decides
control flow runs one iteration after another instead.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects import scf
from xdsl.ir import Operation

from ..errors import EvaluationError
from .kernel import KernelOp
from .machine import Machine, Pointer
from .memory_values import MEMORY
from .nest import Combine, ParallelOp, ReduceOp
from .scalar_values import numpy_type
from .types import PtrType


def run_kernel(kernel: KernelOp, buffers: Sequence[NDArray[Any]], symbols: Mapping[str, int] | None = None) -> None:
    """Runs the kernel on flat buffers of its pointers' elements, in place.

    Raises:
        EvaluationError: the buffers or symbols do not fit, or an access is out of bounds.
    """
    pointers = kernel.pointers
    if len(buffers) != len(pointers):
        raise EvaluationError(f"{len(buffers)} buffers for {len(pointers)} pointers", op=kernel)
    machine = Machine(CONTROL)
    for argument, buffer in zip(pointers, buffers, strict=True):
        assert isinstance(argument.type, PtrType)
        if buffer.ndim != 1 or buffer.dtype != numpy_type(argument.type.element):
            found = f"{buffer.ndim}-d {buffer.dtype}"
            raise EvaluationError(f"argument {argument.index} is {argument.type}, given {found}", op=kernel)
        machine.values[argument] = Pointer(buffer, np.zeros((), np.int64))
    for name, argument in kernel.symbol_arguments.items():
        if name not in (symbols or {}):
            raise EvaluationError(f"the symbol {name!r} has no value", op=kernel)
        machine.values[argument] = np.asarray((symbols or {})[name], np.int64)
    with np.errstate(all="ignore"):
        machine.block(kernel.body.block)


def _parallel(machine: Machine, op: Operation) -> None:
    assert isinstance(op, ParallelOp)

    def run() -> None:
        machine.block(op.body.block)

    machine.iterations(op, run)


REDUCERS: Mapping[Combine, Any] = MappingProxyType(
    {
        Combine.Add: np.add,
        Combine.Mul: np.multiply,
        Combine.Max: np.maximum,
        Combine.Min: np.minimum,
        Combine.And: np.bitwise_and,
        Combine.Or: np.bitwise_or,
    }
)


def _reduce(machine: Machine, op: Operation) -> None:
    assert isinstance(op, ReduceOp)
    combine = REDUCERS[op.combine.data]
    depth = len(op.extents)
    total = machine.array(op.init)

    def contribute() -> None:
        nonlocal total
        (value,) = machine.block(op.body.block)
        assert not isinstance(value, Pointer)
        if machine.runs_at_once(op):
            value = np.broadcast_to(value, machine.space)
            # Order has no meaning: double precision stands for the best of them.
            kind = np.dtype(np.float64) if value.dtype.kind == "f" and combine is np.add else value.dtype
            value = combine.reduce(value, axis=tuple(range(depth)), dtype=kind).astype(value.dtype)
        total = combine(total, value)

    machine.iterations(op, contribute)
    machine.values[op.result] = np.asarray(total)


def _for(machine: Machine, op: Operation) -> None:
    assert isinstance(op, scf.ForOp)
    index, *carried = op.body.block.args
    values = [machine.values[value] for value in op.iter_args]
    kind = numpy_type(index.type)
    for position in range(*(machine.number(value, op) for value in (op.lb, op.ub, op.step))):
        machine.values[index] = np.asarray(position, kind)
        machine.values.update(zip(carried, values, strict=True))
        values = machine.block(op.body.block)
    machine.values.update(zip(op.res, values, strict=True))


def _if(machine: Machine, op: Operation) -> None:
    assert isinstance(op, scf.IfOp)
    region = op.true_region if machine.number(op.cond, op) else op.false_region
    values = machine.block(region.blocks[0]) if region.blocks else []
    machine.values.update(zip(op.output, values, strict=True))


def _while(machine: Machine, op: Operation) -> None:
    assert isinstance(op, scf.WhileOp)
    values = [machine.values[value] for value in op.arguments]
    before, after = op.before_region.block, op.after_region.block
    while True:
        machine.values.update(zip(before.args, values, strict=True))
        condition, *values = machine.block(before)
        assert not isinstance(condition, Pointer)
        if not bool(np.all(condition)):
            break
        machine.values.update(zip(after.args, values, strict=True))
        values = machine.block(after)
    machine.values.update(zip(op.res, values, strict=True))


CONTROL: Mapping[type[Operation], Callable[[Machine, Operation], None]] = MappingProxyType(
    {ParallelOp: _parallel, ReduceOp: _reduce, scf.ForOp: _for, scf.IfOp: _if, scf.WhileOp: _while, **MEMORY}
)
