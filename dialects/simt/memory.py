"""Memory of thread-level code: shared memory, pointer arithmetic, loads, stores and atomic addition."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import I64, AnyFloatConstr, IntegerAttr, IntegerType, i1, i32, i64
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Attribute, SpacedOpaqueSyntaxAttribute, SSAValue
from xdsl.irdl import (
    AttrSetConstraint,
    IRDLOperation,
    VarConstraint,
    base,
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect, Pure
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.str_enum import StrEnum

from .types import PtrType, element_bytes, vector_lanes

INDEX = AttrSetConstraint.get(i32, i64)
"""Offsets are i32, or i64 in kernels whose buffers can exceed 2^31 elements."""

MAX_ACCESS_BYTES = 16


class Hint(StrEnum):
    """How an access treats caches: `stream` data is used once, `cached` data is read-only for the kernel and used
    again."""

    Stream = "stream"
    Cached = "cached"


@irdl_attr_definition
class HintAttr(EnumAttribute[Hint], SpacedOpaqueSyntaxAttribute):
    """`#simt<hint stream>`."""

    name = "simt.hint"


def verify_access(pointer: Attribute, value: Attribute) -> None:
    """A scalar of the pointer's element, or a vector of such that one instruction moves: 2, 4, 8 or 16 aligned
    bytes."""
    assert isinstance(pointer, PtrType)
    lanes, element = vector_lanes(value)
    if element != pointer.element:
        raise VerifyException(f"accesses {value} through a pointer to {pointer.element}")
    size = lanes * element_bytes(element)
    if lanes > 1 and (size > MAX_ACCESS_BYTES or size & (size - 1)):
        raise VerifyException(f"a vector access moves a power of two of at most {MAX_ACCESS_BYTES} bytes, found {size}")
    if pointer.align.data < size:
        found = pointer.align.data
        raise VerifyException(f"a {size}-byte access needs a pointer aligned to {size} bytes, found align {found}")


@irdl_op_definition
class SharedOp(IRDLOperation):
    """`%p = simt.shared 128 : !simt.ptr<f32, shared>`: address at a byte offset in the block's shared memory.

    The offset is a multiple of the pointer's alignment; two ops may name overlapping bytes whose uses are apart in
    time.
    """

    name = "simt.shared"
    offset = prop_def(IntegerAttr[I64])
    result = result_def(PtrType)
    traits = traits_def(Pure())
    assembly_format = "$offset attr-dict `:` type($result)"

    def __init__(self, offset: int, result_type: PtrType):
        super().__init__(properties={"offset": IntegerAttr(offset, i64)}, result_types=[result_type])

    def verify_(self) -> None:
        pointer = self.result.type
        assert isinstance(pointer, PtrType)
        if not pointer.is_shared:
            raise VerifyException(f"result must be a shared pointer, found {pointer}")
        offset = self.offset.value.data
        if offset < 0 or offset % pointer.align.data:
            raise VerifyException(
                f"offset {offset} must be a non-negative multiple of the alignment {pointer.align.data}"
            )


@irdl_op_definition
class OffsetOp(IRDLOperation):
    """`%q = simt.offset %p[%i] : !simt.ptr<f32, global>, i32 -> !simt.ptr<f32, global>`: the address `%i` elements
    further.

    The result's alignment is what the producer knows of the sum, at most that of the operand.
    """

    name = "simt.offset"
    pointer = operand_def(PtrType)
    offset = operand_def(INDEX)
    result = result_def(PtrType)
    traits = traits_def(Pure())
    assembly_format = "$pointer `[` $offset `]` attr-dict `:` type($pointer) `,` type($offset) `->` type($result)"

    def __init__(self, pointer: SSAValue, offset: SSAValue, result_type: PtrType):
        super().__init__(operands=[pointer, offset], result_types=[result_type])

    def verify_(self) -> None:
        source, result = self.pointer.type, self.result.type
        assert isinstance(source, PtrType) and isinstance(result, PtrType)
        if source.element != result.element or source.space != result.space:
            raise VerifyException(f"an offset keeps element and space, found {source} to {result}")
        if result.align.data > source.align.data:
            raise VerifyException(
                f"an offset cannot raise the alignment from {source.align.data} to {result.align.data}"
            )


@irdl_op_definition
class LoadOp(IRDLOperation):
    """`%v = simt.load %p[%i] if %c hint stream : !simt.ptr<bf16, global, align 16>, i32 -> vector<8xbf16>`.

    Reads elements i, i + 1, ...; where the predicate is false nothing is read and the value is zero. A vector's first
    address must be a multiple of its size.
    """

    name = "simt.load"
    pointer = operand_def(PtrType)
    offset = operand_def(INDEX)
    predicate = opt_operand_def(i1)
    hint = opt_prop_def(HintAttr)
    result = result_def()
    traits = traits_def(MemoryReadEffect())
    assembly_format = (
        "$pointer `[` $offset `]` (`if` $predicate^)? (`hint` $hint^)? attr-dict `:` "
        "type($pointer) `,` type($offset) `->` type($result)"
    )

    def __init__(
        self,
        pointer: SSAValue,
        offset: SSAValue,
        result_type: Attribute,
        predicate: SSAValue | None = None,
        hint: Hint | None = None,
    ):
        super().__init__(
            operands=[pointer, offset, predicate],
            properties={"hint": None if hint is None else HintAttr(hint)},
            result_types=[result_type],
        )

    def verify_(self) -> None:
        verify_access(self.pointer.type, self.result.type)
        assert isinstance(self.pointer.type, PtrType)
        if self.hint is not None and self.pointer.type.is_shared:
            raise VerifyException("a cache hint has no meaning for shared memory")


@irdl_op_definition
class StoreOp(IRDLOperation):
    """`simt.store %v, %p[%i] if %c hint stream : vector<8xbf16>, !simt.ptr<bf16, global, align 16>, i32`.

    Writes elements i, i + 1, ...; nothing where the predicate is false.
    """

    name = "simt.store"
    value = operand_def()
    pointer = operand_def(PtrType)
    offset = operand_def(INDEX)
    predicate = opt_operand_def(i1)
    hint = opt_prop_def(HintAttr)
    traits = traits_def(MemoryWriteEffect())
    assembly_format = (
        "$value `,` $pointer `[` $offset `]` (`if` $predicate^)? (`hint` $hint^)? attr-dict `:` "
        "type($value) `,` type($pointer) `,` type($offset)"
    )

    def __init__(
        self,
        value: SSAValue,
        pointer: SSAValue,
        offset: SSAValue,
        predicate: SSAValue | None = None,
        hint: Hint | None = None,
    ):
        super().__init__(
            operands=[value, pointer, offset, predicate],
            properties={"hint": None if hint is None else HintAttr(hint)},
        )

    def verify_(self) -> None:
        verify_access(self.pointer.type, self.value.type)
        assert isinstance(self.pointer.type, PtrType)
        if self.hint is not None and (self.pointer.type.is_shared or self.hint.data == Hint.Cached):
            raise VerifyException("a store to global memory may be hinted stream only, one to shared memory not at all")


@irdl_op_definition
class AtomicAddOp(IRDLOperation):
    """`simt.atomic_add %v, %p[%i] : f32, !simt.ptr<f32, global>, i32`: adds without losing other threads' additions.

    f32 and i32 in global or shared memory; the order of float additions is not fixed.
    """

    name = "simt.atomic_add"
    T: ClassVar = VarConstraint("T", AnyFloatConstr | base(IntegerType))
    value = operand_def(T)
    pointer = operand_def(PtrType)
    offset = operand_def(INDEX)
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())
    assembly_format = (
        "$value `,` $pointer `[` $offset `]` attr-dict `:` type($value) `,` type($pointer) `,` type($offset)"
    )

    def __init__(self, value: SSAValue, pointer: SSAValue, offset: SSAValue):
        super().__init__(operands=[value, pointer, offset])

    def verify_(self) -> None:
        value = self.value.type
        assert isinstance(self.pointer.type, PtrType)
        if value != self.pointer.type.element:
            raise VerifyException(f"adds {value} through a pointer to {self.pointer.type.element}")
        if element_bytes(value) != 4:
            raise VerifyException(f"atomic addition is for f32 and i32, found {value}")
