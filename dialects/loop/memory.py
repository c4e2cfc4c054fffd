"""Memory of the loop level: scratch, pointer arithmetic, loads, stores, and the packing copy of blocked matmuls."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import I64, IndexType, IntegerAttr, StringAttr, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import MemoryAllocEffect, MemoryReadEffect, MemoryWriteEffect, Pure
from xdsl.utils.exceptions import VerifyException

from .types import PtrType, lanes


@irdl_op_definition
class AllocOp(IRDLOperation):
    """`%t = loop.alloc %n bound 4096 : !loop.ptr<f32, align 64>`: scratch of %n elements, undefined at first.

    It belongs to the iteration of the loop it stands in. `bound` is the largest count there can be, where one is known.
    """

    name = "loop.alloc"
    count = operand_def(IndexType)
    bound = opt_prop_def(IntegerAttr[I64])
    result = result_def(PtrType)
    traits = traits_def(MemoryAllocEffect())
    assembly_format = "$count (`bound` $bound^)? attr-dict `:` type($result)"

    def __init__(self, count: SSAValue, element: Attribute, bound: int | None = None):
        super().__init__(
            operands=[count],
            properties={"bound": None if bound is None else IntegerAttr(bound, i64)},
            result_types=[PtrType.of(element, 64)],
        )

    def verify_(self) -> None:
        if self.bound is not None and self.bound.value.data < 0:
            raise VerifyException(f"bound must not be negative, found {self.bound.value.data}")


@irdl_op_definition
class OffsetOp(IRDLOperation):
    """`%q = loop.offset %p[%i] : !loop.ptr<f32> -> !loop.ptr<f32>`: the address %i elements further."""

    name = "loop.offset"
    pointer = operand_def(PtrType)
    offset = operand_def(IndexType)
    result = result_def(PtrType)
    traits = traits_def(Pure())
    assembly_format = "$pointer `[` $offset `]` attr-dict `:` type($pointer) `->` type($result)"

    def __init__(self, pointer: SSAValue, offset: SSAValue):
        assert isinstance(pointer.type, PtrType)
        super().__init__(operands=[pointer, offset], result_types=[PtrType.of(pointer.type.element)])

    def verify_(self) -> None:
        source, result = self.pointer.type, self.result.type
        assert isinstance(source, PtrType) and isinstance(result, PtrType)
        if source.element != result.element:
            raise VerifyException(f"an offset keeps the element, found {source} to {result}")


def _verify_access(pointer: Attribute, value: Attribute) -> None:
    assert isinstance(pointer, PtrType)
    _, element = lanes(value)
    if element != pointer.element:
        raise VerifyException(f"accesses {value} through a pointer to {pointer.element}")


@irdl_op_definition
class LoadOp(IRDLOperation):
    """`%v = loop.load %p[%i] : !loop.ptr<f32> -> vector<16xf32>`: elements i, i + 1, ... No alignment is assumed."""

    name = "loop.load"
    pointer = operand_def(PtrType)
    offset = operand_def(IndexType)
    result = result_def()
    traits = traits_def(MemoryReadEffect())
    assembly_format = "$pointer `[` $offset `]` attr-dict `:` type($pointer) `->` type($result)"

    def __init__(self, pointer: SSAValue, offset: SSAValue, result_type: Attribute | None = None):
        assert isinstance(pointer.type, PtrType)
        super().__init__(operands=[pointer, offset], result_types=[result_type or pointer.type.element])

    def verify_(self) -> None:
        _verify_access(self.pointer.type, self.result.type)


@irdl_op_definition
class StoreOp(IRDLOperation):
    """`loop.store %v, %p[%i] : f32, !loop.ptr<f32>`: writes elements i, i + 1, ... No alignment is assumed."""

    name = "loop.store"
    value = operand_def()
    pointer = operand_def(PtrType)
    offset = operand_def(IndexType)
    traits = traits_def(MemoryWriteEffect())
    assembly_format = "$value `,` $pointer `[` $offset `]` attr-dict `:` type($value) `,` type($pointer)"

    def __init__(self, value: SSAValue, pointer: SSAValue, offset: SSAValue):
        super().__init__(operands=[value, pointer, offset])

    def verify_(self) -> None:
        _verify_access(self.pointer.type, self.value.type)


@irdl_op_definition
class PackOp(IRDLOperation):
    """Copies a block of a strided matrix into a dense panel and fills the missing lanes with 0:

    target[k * width + i] = source[i * lane_stride + k * depth_stride] for 0 <= i < lanes, 0 for lanes <= i < width,
    for all 0 <= k < depth. A narrower float is widened to the panel's element.

    `loop.pack %p strides %ld, %c1 into %t lanes %n depth %k width 32 : !loop.ptr<f32>, !loop.ptr<f32>`
    """

    name = "loop.pack"
    source = operand_def(PtrType)
    lane_stride = operand_def(IndexType)
    depth_stride = operand_def(IndexType)
    target = operand_def(PtrType)
    lanes = operand_def(IndexType)
    depth = operand_def(IndexType)
    width = prop_def(IntegerAttr[I64])
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())
    assembly_format = (
        "$source `strides` $lane_stride `,` $depth_stride `into` $target `lanes` $lanes `depth` $depth `width` $width "
        "attr-dict `:` type($source) `,` type($target)"
    )

    def __init__(
        self,
        source: SSAValue,
        strides: Sequence[SSAValue],
        target: SSAValue,
        lanes: SSAValue,
        depth: SSAValue,
        width: int,
    ):
        super().__init__(
            operands=[source, strides[0], strides[1], target, lanes, depth],
            properties={"width": IntegerAttr(width, i64)},
        )

    def verify_(self) -> None:
        if self.width.value.data < 1:
            raise VerifyException(f"width must be positive, found {self.width.value.data}")


@irdl_op_definition
class CheckIndexOp(IRDLOperation):
    """`%j = loop.check_index %i below %n`: %i if 0 <= %i < %n; else 0, and the launch reports an index out of range, or
    a value out of range where `error "value"` follows."""

    name = "loop.check_index"
    index = operand_def(IndexType)
    extent = operand_def(IndexType)
    error = opt_prop_def(StringAttr)
    result = result_def(IndexType)
    traits = traits_def(MemoryWriteEffect())
    assembly_format = "$index `below` $extent (`error` $error^)? attr-dict"

    def __init__(self, index: SSAValue, extent: SSAValue, error: StringAttr | None = None):
        properties = {} if error is None else {"error": error}
        super().__init__(operands=[index, extent], properties=properties, result_types=[IndexType()])

    @property
    def kind(self) -> str:
        """What is out of range: "index" or "value"."""
        return "index" if self.error is None else self.error.data

    def verify_(self) -> None:
        if self.kind not in ("index", "value"):
            raise VerifyException(f"error must be index or value, found {self.kind}")
