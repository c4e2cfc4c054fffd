"""Register arrays: per-thread arrays with in-place semantics, ordered by program order."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import i32
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import MemoryAllocEffect, MemoryReadEffect, MemoryWriteEffect
from xdsl.utils.exceptions import VerifyException

from .types import RegType, is_scalar, vector_lanes


def part_extent(registers: Attribute, indices: int) -> int:
    """Elements of the contiguous part of a register array that `indices` leading indices select."""
    assert isinstance(registers, RegType)
    shape = registers.get_shape()
    if indices > len(shape):
        raise VerifyException(f"{indices} indices for {registers}")
    extent = 1
    for size in shape[indices:]:
        extent *= size
    return extent


def _verify_part(registers: Attribute, indices: int, value: Attribute) -> None:
    assert isinstance(registers, RegType)
    extent = part_extent(registers, indices)
    lanes, scalar = vector_lanes(value)
    if scalar != registers.element or lanes != extent:
        raise VerifyException(f"{indices} indices of {registers} select {extent} x {registers.element}, found {value}")


@irdl_op_definition
class RegsOp(IRDLOperation):
    """`%r = simt.regs fill %zero : f32 -> !simt.reg<2x8xf32>` or `%r = simt.regs -> !simt.reg<2x8xf32>`: a new array.

    Without a fill value the elements are undefined.
    """

    name = "simt.regs"
    fill = opt_operand_def()
    result = result_def(RegType)
    traits = traits_def(MemoryAllocEffect())
    assembly_format = "(`fill` $fill^ `:` type($fill))? attr-dict `->` type($result)"

    def __init__(self, result_type: RegType, fill: SSAValue | None = None):
        super().__init__(operands=[fill], result_types=[result_type])

    def verify_(self) -> None:
        assert isinstance(self.result.type, RegType)
        if self.fill is not None and self.fill.type != self.result.type.element:
            raise VerifyException(f"fills {self.result.type} with {self.fill.type}")


@irdl_op_definition
class RegLoadOp(IRDLOperation):
    """`%v = simt.reg_load %r[%i, %j] : !simt.reg<2x8xf32> -> f32`; fewer indices select a part, read as a vector."""

    name = "simt.reg_load"
    registers = operand_def(RegType)
    indices = var_operand_def(i32)
    result = result_def()
    traits = traits_def(MemoryReadEffect())
    assembly_format = "$registers `[` $indices `]` attr-dict `:` type($registers) `->` type($result)"

    def __init__(self, registers: SSAValue, indices: Sequence[SSAValue], result_type: Attribute | None = None):
        if result_type is None:
            assert isinstance(registers.type, RegType)
            result_type = registers.type.element
        super().__init__(operands=[registers, indices], result_types=[result_type])

    def verify_(self) -> None:
        _verify_part(self.registers.type, len(self.indices), self.result.type)


@irdl_op_definition
class RegStoreOp(IRDLOperation):
    """`simt.reg_store %v, %r[%i, %j] : f32, !simt.reg<2x8xf32>`; fewer indices select a part, written from a vector."""

    name = "simt.reg_store"
    value = operand_def()
    registers = operand_def(RegType)
    indices = var_operand_def(i32)
    traits = traits_def(MemoryWriteEffect())
    assembly_format = "$value `,` $registers `[` $indices `]` attr-dict `:` type($value) `,` type($registers)"

    def __init__(self, value: SSAValue, registers: SSAValue, indices: Sequence[SSAValue]):
        super().__init__(operands=[value, registers, indices])

    def verify_(self) -> None:
        _verify_part(self.registers.type, len(self.indices), self.value.type)
        assert isinstance(self.registers.type, RegType)
        if not is_scalar(self.registers.type.element):
            raise VerifyException(f"only arrays of scalars are stored to, found {self.registers.type}")
