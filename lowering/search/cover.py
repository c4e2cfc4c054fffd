"""cover: the ops of a graph become kernels, each one launch or one library call; every other value is stored by one of
them."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass

from ...dialects.errors import LoweringError
from ...dialects.hlir.creation import LiteralOp
from ...dialects.kernel import FusedOp, IrregularOp, KernelOp, MatmulOp
from ...dialects.kernel import LiteralOp as StoredLiteralOp
from ...dialects.op import Kind, TensorOp
from ...dialects.sym.dialect import declared_bounds
from .bodies import Body
from .cost import CostModel, machine_of, representative
from .grouping import Grouping
from .memory import Memory
from .sink import sink_into_loops
from .sorts import split_sorts

COMBINERS = (Kind.CONTRACTION, Kind.REDUCTION)
KERNELS: dict[str, type[KernelOp]] = {"fused": FusedOp, "matmul": MatmulOp, "irregular": IrregularOp}


@dataclass(frozen=True)
class CoverPass(ModulePass):
    """Groups the ops of each function, and of each loop inside, into kernels by kind and placement; never by name.

    Needs a graph in which every composite is spelled by kernels (extract). Views are read through or stored in place of
    their source; what can be neither is copied by a kernel.
    """

    name: ClassVar[str] = "cover"
    target: str = "c"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        model = CostModel(machine_of(self.target), representative(op))
        for function in op.ops:
            if isinstance(function, FuncOp) and not function.is_declaration:
                sink_into_loops(function.body.block)
                split_sorts(function.body.block, self.target, declared_bounds(op))
                cover_block(function.body.block, model)


def cover_block(block: Block, model: CostModel) -> None:
    """Replaces the ops of a block by kernels."""
    for op in list(block.ops):
        for region in op.regions:
            for inner in region.blocks:
                cover_block(inner, model)
    _Cover(block, model).replace()


@dataclass(frozen=True)
class _Unit:
    """What is made in one piece: the values it puts in memory, the values it reads there, and how it is made."""

    position: int
    stored: tuple[SSAValue, ...]
    reads: tuple[SSAValue, ...]
    build: Callable[[], Operation]


class _Cover:
    def __init__(self, block: Block, model: CostModel):
        self.block = block
        self.grouping = Grouping(block, model)
        self.memory = Memory(self.grouping)
        self.values: dict[SSAValue, SSAValue] = {argument: argument for argument in block.args}

    def replace(self) -> None:
        """Builds all units in an order in which each reads only what is stored, and drops the graph."""
        last = self.block.last_op
        assert last is not None
        old = [op for op in self.block.ops if op is not last]
        for unit in _in_order(self._units()):
            made = unit.build()
            if made.parent is not None:
                made.detach()
            self.block.insert_op_before(made, last)
            for value, result in zip(unit.stored, made.results, strict=True):
                result.name_hint = result.name_hint or value.name_hint
                self.values[value] = result
        last.operands = [self.values[o] for o in last.operands]
        kept = set(self.values.values())
        for op in reversed(old):
            if not any(result in kept for result in op.results) and op.parent is self.block:
                self.block.erase_op(op)

    def _units(self) -> list[_Unit]:
        units = [self._group_unit(number) for number in self.grouping.groups]
        units += [self._copy_unit(value) for value in self.memory.copies]
        for op, position in self.grouping.positions.items():
            alone = op not in self.grouping.group_of and not self.grouping.freedom.is_free(op)
            if alone and op is not self.block.last_op:
                units.append(self._single_unit(op, position))
        return units

    @cached_property
    def in_memory(self) -> set[SSAValue]:
        """Every value that some unit stores."""
        values = [v for stored in self.memory.stored.values() for v in stored]
        return {*values, *self.memory.copies}

    def _group_unit(self, number: int) -> _Unit:
        group = self.grouping.groups[number]
        stored = tuple(self.memory.stored[number])
        combiners = (op for op in group.ops if isinstance(op, TensorOp) and op.KIND in COMBINERS)
        main = next(combiners, next(reversed(group.ops)))
        position = max(self.grouping.positions[op] for op in group.ops)
        return self._kernel_unit(stored, KERNELS[group.kind], position, main, group.ops)

    def _copy_unit(self, value: SSAValue) -> _Unit:
        owner = value.owner
        assert isinstance(owner, Operation)
        return self._kernel_unit((value,), FusedOp, self.grouping.positions[owner], owner, {})

    def _kernel_unit(
        self,
        stored: tuple[SSAValue, ...],
        kernel: type[KernelOp],
        position: int,
        main: Operation,
        ops: dict[Operation, None],
    ) -> _Unit:
        own = set(stored)
        body = Body(stored, lambda value: self._is_in_memory(value, own, ops))
        reads = tuple(body.reads)

        def build() -> Operation:
            made = kernel([self.values[v] for v in reads], body.block())
            made.location = main.location
            return made

        return _Unit(position, stored, reads, build)

    def _is_in_memory(self, value: SSAValue, own: set[SSAValue], ops: dict[Operation, None]) -> bool:
        """Whether a kernel of the ops that stores `own` reads the value from memory."""
        owner = value.owner
        if not isinstance(owner, Operation) or self._is_alone(owner):
            return True
        return value in self.in_memory and value not in own and not self.grouping.inside(ops, owner)

    def _is_alone(self, op: Operation) -> bool:
        return op not in self.grouping.group_of and not self.grouping.freedom.is_free(op)

    def _single_unit(self, op: Operation, position: int) -> _Unit:
        """A loop, a library call or a literal."""

        def build() -> Operation:
            if isinstance(op, LiteralOp):
                made = StoredLiteralOp.create(result_types=[op.result_type], properties=dict(op.properties))
                made.location = op.location
                return made
            op.operands = [self.values[o] for o in op.operands]
            return op

        return _Unit(position, tuple(op.results), tuple(op.operands), build)


def _in_order(units: list[_Unit]) -> list[_Unit]:
    """The units so that each comes after those that store what it reads; else in the order of the graph."""
    maker = {value: number for number, unit in enumerate(units) for value in unit.stored}
    waiting = {n: len({maker[v] for v in unit.reads if v in maker}) for n, unit in enumerate(units)}
    readers: dict[int, list[int]] = {n: [] for n in range(len(units))}
    for n, unit in enumerate(units):
        for m in dict.fromkeys(maker[v] for v in unit.reads if v in maker):
            readers[m].append(n)
    ready = [(units[n].position, n) for n, count in waiting.items() if count == 0]
    heapq.heapify(ready)
    order: list[_Unit] = []
    while ready:
        _, n = heapq.heappop(ready)
        order.append(units[n])
        for reader in readers[n]:
            waiting[reader] -= 1
            if waiting[reader] == 0:
                heapq.heappush(ready, (units[reader].position, reader))
    if len(order) < len(units):
        raise LoweringError("kernels read one another in a cycle", stage="cover")
    return order
