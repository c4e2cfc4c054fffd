"""What a cover repeats in every kernel that reads it instead of storing it: views, creation, widening casts, and the
like."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import Block, Operation, SSAValue

from ...dialects.hlir.arranging import ConcatOp, PadOp
from ...dialects.hlir.conversion import CastOp
from ...dialects.hlir.creation import LiteralOp
from ...dialects.hlir.elementwise import Elementwise
from ...dialects.hlir.indexing import GatherOp
from ...dialects.op import Kind, TensorOp

LONGEST_CONSTANT = 8
"""Up to how many elementwise ops an expression of indices and constants may have and still be repeated."""


class Freedom:
    """The free ops of one block, and the free values that some op needs in memory all the same."""

    def __init__(self, block: Block):
        self.block = block
        self.free: dict[Operation, None] = {}
        self.sizes: dict[SSAValue, int] = {}
        for op in block.ops:
            if isinstance(op, TensorOp) and self._is_free(op):
                self.free[op] = None
        self.required = dict.fromkeys(self._required())

    def is_free(self, op: object) -> bool:
        return isinstance(op, Operation) and op in self.free

    def _is_free(self, op: TensorOp) -> bool:
        if op.KIND is Kind.CREATION:
            if isinstance(op, LiteralOp) and not is_splat(op):
                return False
            self.sizes[op.results[0]] = 0
            return True
        if op.KIND is Kind.VIEW:
            if op.operands[0] in self.sizes:
                self.sizes[op.results[0]] = self.sizes[op.operands[0]]
            return True
        if isinstance(op, Elementwise) and all(o in self.sizes for o in op.operands):
            size = 1 + sum(self.sizes[o] for o in op.operands)
            if size <= LONGEST_CONSTANT:
                self.sizes[op.results[0]] = size
                return True
        # A widening cast is read through: the narrow value is what memory should hold.
        return isinstance(op, CastOp) and op.operand_types[0].dtype.bytes <= op.result_type.dtype.bytes

    def _required(self) -> Iterator[SSAValue]:
        """Free values, views apart, that are read at a computed place or by an op that only reads memory."""
        for op in self.block.ops:
            for operand in memory_operands(op):
                base = base_of(operand) if isinstance(op, TensorOp) and op.KIND is Kind.IRREGULAR else operand
                plain = isinstance(op, TensorOp) and is_core(op) and _is_creation(base)
                if self.is_free(base.owner) and not plain:
                    yield base


def _is_creation(value: SSAValue) -> bool:
    return isinstance(value.owner, TensorOp) and value.owner.KIND is Kind.CREATION


def is_splat(op: LiteralOp) -> bool:
    """Whether every element of a literal is the same, so that it is a constant."""
    step = 2 * op.result_type.dtype.bytes
    data = op.data.data
    return bool(data) and data == data[:step] * (len(data) // step)


def is_core(op: Operation) -> bool:
    """Whether the op is an irregular one that is a kernel of its own."""
    return isinstance(op, TensorOp) and op.KIND is Kind.IRREGULAR and not isinstance(op, GatherOp | PadOp | ConcatOp)


def memory_operands(op: Operation) -> list[SSAValue]:
    """The operands that an op reads from memory only, through views where it is an irregular op."""
    if isinstance(op, GatherOp):
        return [op.source]
    if not isinstance(op, TensorOp) or op.KIND in (Kind.IRREGULAR, Kind.LIBRARY):
        return list(op.operands)
    return []


def base_of(value: SSAValue) -> SSAValue:
    """The value that a chain of views reads."""
    while isinstance(value.owner, TensorOp) and value.owner.KIND is Kind.VIEW:
        value = value.owner.operands[0]
    return value
