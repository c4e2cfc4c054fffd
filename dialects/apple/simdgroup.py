"""Simdgroup matrices: 8x8 fill, load, store and multiply-accumulate by the 32 threads of a simdgroup."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import UnitAttr, i32
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    AnyAttr,
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect
from xdsl.utils.exceptions import VerifyException

from ..simt import PtrType, RegType, part_extent
from ..simt.memory import INDEX
from .types import MatrixType


def _matrix(name: str, registers: Attribute, indices: int) -> MatrixType:
    """The type of the one matrix that the indices select."""
    assert isinstance(registers, RegType)
    if not isinstance(registers.element, MatrixType) or part_extent(registers, indices) != 1:
        raise VerifyException(f"{name} must select one !apple.matrix, found {indices} indices of {registers}")
    return registers.element


def _verify_memory(matrix: MatrixType, pointer: Attribute) -> None:
    assert isinstance(pointer, PtrType)
    if pointer.element != matrix.element:
        raise VerifyException(f"a matrix of {matrix.element} is loaded and stored as such, found {pointer}")


@irdl_op_definition
class SimdgroupFillOp(IRDLOperation):
    """`apple.simdgroup_fill %v, %m[%i] : f32, !simt.reg<4x!apple.matrix<f32>>`: every element of the matrix becomes
    %v."""

    name = "apple.simdgroup_fill"
    value = operand_def(AnyAttr())
    matrix = operand_def(RegType)
    indices = var_operand_def(i32)
    traits = traits_def(MemoryWriteEffect())
    assembly_format = "$value `,` $matrix `[` $indices `]` attr-dict `:` type($value) `,` type($matrix)"

    def __init__(self, value: SSAValue, matrix: SSAValue, indices: Sequence[SSAValue]):
        super().__init__(operands=[value, matrix, indices])

    def verify_(self) -> None:
        matrix = _matrix("matrix", self.matrix.type, len(self.indices))
        if self.value.type != matrix.element:
            raise VerifyException(f"fills a matrix of {matrix.element} with {self.value.type}")


@irdl_op_definition
class SimdgroupLoadOp(IRDLOperation):
    """`apple.simdgroup_load
    %p[%o] stride %ld to %m[%i] trans : !simt.ptr<f32, shared>, i32, !simt.reg<4x!apple.matrix<f32>>`.

    m[r][c] = p[o + r * ld + c], or p[o + c * ld + r] with `trans`, for 8 rows and columns.
    """

    name = "apple.simdgroup_load"
    pointer = operand_def(PtrType)
    offset = operand_def(INDEX)
    stride = operand_def(i32)
    matrix = operand_def(RegType)
    indices = var_operand_def(i32)
    trans = opt_prop_def(UnitAttr)
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())
    assembly_format = (
        "$pointer `[` $offset `]` `stride` $stride `to` $matrix `[` $indices `]` (`trans` $trans^)? attr-dict "
        "`:` type($pointer) `,` type($offset) `,` type($matrix)"
    )

    def __init__(
        self,
        pointer: SSAValue,
        offset: SSAValue,
        stride: SSAValue,
        matrix: SSAValue,
        indices: Sequence[SSAValue],
        trans: bool = False,
    ):
        super().__init__(
            operands=[pointer, offset, stride, matrix, indices],
            properties={"trans": UnitAttr() if trans else None},
        )

    def verify_(self) -> None:
        _verify_memory(_matrix("matrix", self.matrix.type, len(self.indices)), self.pointer.type)


@irdl_op_definition
class SimdgroupStoreOp(IRDLOperation):
    """`apple.simdgroup_store
    %m[%i] to %p[%o] stride %ld : !simt.reg<4x!apple.matrix<f32>>, !simt.ptr<f32, shared>, i32`."""

    name = "apple.simdgroup_store"
    matrix = operand_def(RegType)
    indices = var_operand_def(i32)
    pointer = operand_def(PtrType)
    offset = operand_def(INDEX)
    stride = operand_def(i32)
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())
    assembly_format = (
        "$matrix `[` $indices `]` `to` $pointer `[` $offset `]` `stride` $stride attr-dict "
        "`:` type($matrix) `,` type($pointer) `,` type($offset)"
    )

    def __init__(
        self, matrix: SSAValue, indices: Sequence[SSAValue], pointer: SSAValue, offset: SSAValue, stride: SSAValue
    ):
        super().__init__(operands=[matrix, indices, pointer, offset, stride])

    def verify_(self) -> None:
        _verify_memory(_matrix("matrix", self.matrix.type, len(self.indices)), self.pointer.type)


@irdl_op_definition
class SimdgroupMmaOp(IRDLOperation):
    """`apple.simdgroup_mma %d[%i, %j], %a[%i], %b[%j] : ...`: d += a * b for 8x8 matrices; a and b of one element
    type."""

    name = "apple.simdgroup_mma"
    acc = operand_def(RegType)
    acc_indices = var_operand_def(i32)
    lhs = operand_def(RegType)
    lhs_indices = var_operand_def(i32)
    rhs = operand_def(RegType)
    rhs_indices = var_operand_def(i32)
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())
    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    assembly_format = (
        "$acc `[` $acc_indices `]` `,` $lhs `[` $lhs_indices `]` `,` $rhs `[` $rhs_indices `]` attr-dict "
        "`:` type($acc) `,` type($lhs) `,` type($rhs)"
    )

    def __init__(
        self,
        acc: tuple[SSAValue, Sequence[SSAValue]],
        lhs: tuple[SSAValue, Sequence[SSAValue]],
        rhs: tuple[SSAValue, Sequence[SSAValue]],
    ):
        super().__init__(operands=[*acc, *lhs, *rhs])

    def verify_(self) -> None:
        _matrix("acc", self.acc.type, len(self.acc_indices))
        lhs = _matrix("lhs", self.lhs.type, len(self.lhs_indices))
        rhs = _matrix("rhs", self.rhs.type, len(self.rhs_indices))
        if lhs != rhs:
            raise VerifyException(f"lhs and rhs must have one type, found {lhs} and {rhs}")
