"""The body of a kernel from the graph: which ops it repeats, what it reads from memory, and one order for equal
bodies."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.ir import Block, Operation, SSAValue

from ...dialects.hlir.creation import ConstantOp, LiteralOp
from ...dialects.hlir.elementwise import Elementwise
from ...dialects.hlir.types import ScalarAttr
from ...dialects.kernel import YieldOp
from .free import is_splat


class Body:
    """What computes the stored values: `ops` in order, and `reads`, the values that it takes from memory, in order of
    use.

    Operands of a commutative op are taken deepest first, so that a + b and b + a make one kernel.
    """

    def __init__(self, stored: Sequence[SSAValue], in_memory: Callable[[SSAValue], bool]):
        self.stored = tuple(stored)
        self.in_memory = in_memory
        self.depths: dict[SSAValue, int] = {}
        self.ops: dict[Operation, tuple[SSAValue, ...]] = {}
        self.reads: dict[SSAValue, None] = {}
        for value in self.stored:
            self._visit(value)

    def _visit(self, value: SSAValue) -> None:
        owner = value.owner
        if not isinstance(owner, Operation) or self.in_memory(value):
            self.reads[value] = None
        elif owner not in self.ops:
            operands = self._ordered(owner)
            for operand in operands:
                self._visit(operand)
            self.ops[owner] = operands

    def _ordered(self, op: Operation) -> tuple[SSAValue, ...]:
        operands = tuple(op.operands)
        if isinstance(op, Elementwise) and op.COMMUTATIVE:
            return tuple(sorted(operands, key=lambda o: (-self._depth(o), self._name(o))))
        return operands

    def _name(self, value: SSAValue) -> str:
        owner = value.owner
        return owner.name if isinstance(owner, Operation) and not self.in_memory(value) else ""

    def _depth(self, value: SSAValue) -> int:
        """How many ops of the body stand one behind another up to the value."""
        if value not in self.depths:
            owner = value.owner
            self.depths[value] = 0
            if isinstance(owner, Operation) and not self.in_memory(value):
                self.depths[value] = 1 + max((self._depth(o) for o in owner.operands), default=0)
        return self.depths[value]

    def block(self) -> Block:
        """Copies of the ops on arguments that stand for what is read, and the kernel's yield."""
        block = Block(arg_types=[v.type for v in self.reads])
        values: dict[SSAValue, SSAValue] = dict(zip(self.reads, block.args, strict=True))
        for value, argument in zip(self.reads, block.args, strict=True):
            argument.name_hint = value.name_hint
        for op, operands in self.ops.items():
            if isinstance(op, LiteralOp) and is_splat(op):
                constant = _as_constant(op)
                block.add_op(constant)
                values[op.result] = constant.result
            else:
                copy = op.clone(values)
                copy.operands = [values[o] for o in operands]
                block.add_op(copy)
        block.add_op(YieldOp([values[v] for v in self.stored]))
        return block


def _as_constant(op: LiteralOp) -> ConstantOp:
    dtype = op.result_type.dtype
    first = bytes.fromhex(op.data.data[: 2 * dtype.bytes])
    value = ScalarAttr.get(dtype.decode(int.from_bytes(first, "little")), dtype)
    return ConstantOp.make([], {"value": value, "shape": op.shape}, location=op.location)
