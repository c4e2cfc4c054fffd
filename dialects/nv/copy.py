"""Asynchronous copies from global to shared memory."""

from __future__ import annotations

from xdsl.dialects.builtin import I64, IntegerAttr, i1, i64
from xdsl.ir import SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    prop_def,
    traits_def,
)
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect
from xdsl.utils.exceptions import VerifyException

from ..simt import PtrType
from ..simt.memory import INDEX


@irdl_op_definition
class CpAsyncOp(IRDLOperation):
    """`nv.cp_async
    %src[%i] to %dst[%j] bytes 16 if %c : !simt.ptr<bf16, global, align 16>, i32, !simt.ptr<bf16, shared, align 16>,
    i32`.

    Starts copying 4, 8 or 16 bytes; they are there for the own thread after a `cp_async_wait` that covers their group,
    for other threads after a barrier behind it. Where the predicate is false the destination is filled with zeros and
    nothing is read. Both addresses are multiples of the size.
    """

    name = "nv.cp_async"
    source = operand_def(PtrType)
    source_offset = operand_def(INDEX)
    target = operand_def(PtrType)
    target_offset = operand_def(INDEX)
    predicate = opt_operand_def(i1)
    bytes = prop_def(IntegerAttr[I64])
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())
    assembly_format = (
        "$source `[` $source_offset `]` `to` $target `[` $target_offset `]` `bytes` $bytes (`if` $predicate^)? "
        "attr-dict `:` type($source) `,` type($source_offset) `,` type($target) `,` type($target_offset)"
    )

    def __init__(
        self,
        source: SSAValue,
        source_offset: SSAValue,
        target: SSAValue,
        target_offset: SSAValue,
        size: int,
        predicate: SSAValue | None = None,
    ):
        super().__init__(
            operands=[source, source_offset, target, target_offset, predicate],
            properties={"bytes": IntegerAttr(size, i64)},
        )

    def verify_(self) -> None:
        source, target, size = self.source.type, self.target.type, self.bytes.value.data
        assert isinstance(source, PtrType) and isinstance(target, PtrType)
        if source.is_shared or not target.is_shared:
            raise VerifyException(f"copies from global to shared memory, found {source} to {target}")
        if source.element != target.element:
            raise VerifyException(f"copies elements of one type, found {source.element} and {target.element}")
        if size not in (4, 8, 16):
            raise VerifyException(f"copies 4, 8 or 16 bytes, found {size}")
        if min(source.align.data, target.align.data) < size:
            raise VerifyException(f"a {size}-byte copy needs both pointers aligned to {size} bytes")


@irdl_op_definition
class CpAsyncCommitOp(IRDLOperation):
    """`nv.cp_async_commit`: closes the group of the copies that this thread started since the last commit (maybe
    none)."""

    name = "nv.cp_async_commit"
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())
    assembly_format = "attr-dict"

    def __init__(self) -> None:
        super().__init__()


@irdl_op_definition
class CpAsyncWaitOp(IRDLOperation):
    """`nv.cp_async_wait 1`: waits until at most this many of the thread's newest groups are still under way."""

    name = "nv.cp_async_wait"
    pending = prop_def(IntegerAttr[I64])
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())
    assembly_format = "$pending attr-dict"

    def __init__(self, pending: int):
        super().__init__(properties={"pending": IntegerAttr(pending, i64)})

    def verify_(self) -> None:
        if not 0 <= self.pending.value.data <= 7:
            raise VerifyException(f"waits for 0 to 7 pending groups, found {self.pending.value.data}")
