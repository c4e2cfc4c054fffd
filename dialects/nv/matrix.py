"""Warp matrix instructions: fragment loads from shared memory and multiply-accumulate."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import (
    I64,
    BFloat16Type,
    Float16Type,
    Float32Type,
    IntegerAttr,
    UnitAttr,
    i32,
    i64,
)
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect
from xdsl.utils.exceptions import VerifyException

from ..simt import PtrType, RegType, part_extent
from ..simt.memory import INDEX
from .types import MMA_WORDS, MmaKind, MmaKindAttr


def _verify_fragment(name: str, registers: Attribute, indices: int, element: Attribute, words: int) -> None:
    assert isinstance(registers, RegType)
    found = part_extent(registers, indices)
    if registers.element != element or found != words:
        raise VerifyException(f"{name} must be {words} x {element}, found {found} x {registers.element}")


@irdl_op_definition
class LdmatrixOp(IRDLOperation):
    """`nv.ldmatrix %p[%i] to %frag[%k] x4 trans : !simt.ptr<bf16, shared, align 16>, i32, !simt.reg<4x4xi32>`.

    Loads one, two or four 8x8 matrices of 16-bit elements into one 32-bit register each. Lane l gives the address of
    row l % 8 of matrix l / 8 (16 bytes, aligned); it receives row l / 4, columns 2 * (l % 4) and + 1 of each matrix,
    or of its transpose.
    """

    name = "nv.ldmatrix"
    pointer = operand_def(PtrType)
    offset = operand_def(INDEX)
    fragment = operand_def(RegType)
    indices = var_operand_def(i32)
    count = prop_def(IntegerAttr[I64])
    trans = opt_prop_def(UnitAttr)
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())
    assembly_format = (
        "$pointer `[` $offset `]` `to` $fragment `[` $indices `]` `count` $count (`trans` $trans^)? attr-dict "
        "`:` type($pointer) `,` type($offset) `,` type($fragment)"
    )

    def __init__(
        self,
        pointer: SSAValue,
        offset: SSAValue,
        fragment: SSAValue,
        indices: Sequence[SSAValue],
        count: int,
        trans: bool = False,
    ):
        super().__init__(
            operands=[pointer, offset, fragment, indices],
            properties={"count": IntegerAttr(count, i64), "trans": UnitAttr() if trans else None},
        )

    def verify_(self) -> None:
        pointer, count = self.pointer.type, self.count.value.data
        assert isinstance(pointer, PtrType)
        if count not in (1, 2, 4):
            raise VerifyException(f"loads 1, 2 or 4 matrices, found {count}")
        if not pointer.is_shared or pointer.align.data < 16:
            raise VerifyException(f"loads from shared memory aligned to 16 bytes, found {pointer}")
        if not isinstance(pointer.element, BFloat16Type | Float16Type):
            raise VerifyException(f"loads 16-bit elements, found {pointer.element}")
        _verify_fragment("fragment", self.fragment.type, len(self.indices), i32, count)


@irdl_op_definition
class MmaOp(IRDLOperation):
    """`nv.mma
    m16n8k16_bf16 %acc[%i, %j], %a[%i], %b[%j] : !simt.reg<4x8x4xf32>, !simt.reg<4x4xi32>, !simt.reg<8x2xi32>`.

    acc[16x8] += a[16xK] * b[Kx8] by the 32 lanes of a warp, f32 accumulation. acc: 4 x f32, at rows l / 4 and + 8 of
    columns 2 * (l % 4) and + 1; a: 4, b: 2 registers of packed 16-bit pairs (K = 16) or of tf32 bits (K = 8).
    """

    name = "nv.mma"
    kind = prop_def(MmaKindAttr)
    acc = operand_def(RegType)
    acc_indices = var_operand_def(i32)
    lhs = operand_def(RegType)
    lhs_indices = var_operand_def(i32)
    rhs = operand_def(RegType)
    rhs_indices = var_operand_def(i32)
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())
    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    assembly_format = (
        "$kind $acc `[` $acc_indices `]` `,` $lhs `[` $lhs_indices `]` `,` $rhs `[` $rhs_indices `]` attr-dict "
        "`:` type($acc) `,` type($lhs) `,` type($rhs)"
    )

    def __init__(
        self,
        kind: MmaKind,
        acc: tuple[SSAValue, Sequence[SSAValue]],
        lhs: tuple[SSAValue, Sequence[SSAValue]],
        rhs: tuple[SSAValue, Sequence[SSAValue]],
    ):
        super().__init__(operands=[*acc, *lhs, *rhs], properties={"kind": MmaKindAttr(kind)})

    def verify_(self) -> None:
        _verify_fragment("acc", self.acc.type, len(self.acc_indices), Float32Type(), MMA_WORDS["acc"])
        _verify_fragment("lhs", self.lhs.type, len(self.lhs_indices), i32, MMA_WORDS["lhs"])
        _verify_fragment("rhs", self.rhs.type, len(self.rhs_indices), i32, MMA_WORDS["rhs"])
