"""Distinct kernels as symbols: equal kernels of a program share one kernel.func."""

from __future__ import annotations

from collections.abc import Hashable

from xdsl.ir import Attribute, Operation, SSAValue

from ...dialects.kernel import FuncOp, KernelOp


class Outliner:
    """Collects kernels; equal ones (body, types and schedule) get one function, named after its kind and order."""

    def __init__(self, taken: set[str]):
        self.taken = taken
        self.functions: dict[Hashable, FuncOp] = {}

    def name_of(self, kernel: KernelOp) -> str:
        """The symbol of the function that holds an equal kernel, made now if there is none."""
        key = structure(kernel)
        if key not in self.functions:
            self.functions[key] = FuncOp(self._name(kernel), kernel)
        return self.functions[key].sym_name.data

    def _name(self, kernel: KernelOp) -> str:
        kind = kernel.name.removeprefix("kernel.")
        number = len(self.functions)
        while f"{kind}_{number}" in self.taken:
            number += 1
        self.taken.add(f"{kind}_{number}")
        return f"{kind}_{number}"


def structure(kernel: KernelOp) -> Hashable:
    """What two kernels must share to be one: the ops of the body, on what, with which properties and types."""
    numbers: dict[SSAValue, int] = {}
    for argument in kernel.block.args:
        numbers[argument] = len(numbers)
    ops: list[Hashable] = []
    for op in kernel.block.ops:
        ops.append(
            (op.name, tuple(numbers[o] for o in op.operands), _properties(op), tuple(r.type for r in op.results))
        )
        for result in op.results:
            numbers[result] = len(numbers)
    return (kernel.name, kernel.schedule, tuple(a.type for a in kernel.block.args), tuple(ops))


def _properties(op: Operation) -> tuple[tuple[str, Attribute], ...]:
    return tuple(sorted(op.properties.items(), key=lambda item: item[0]))
