"""What memory ops of the loop dialect print in C."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerAttr, i1
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue

from ...dialects.loop import AllocOp, CheckIndexOp, KernelOp, LoadOp, OffsetOp, PtrType, StoreOp
from .printer import TextPrinter, bare, byte_width
from .target import lanes

STACK_BYTES = 16384
"""A scratch array up to this size lies on the stack."""


def element_of(pointer: SSAValue) -> Attribute:
    assert isinstance(pointer.type, PtrType)
    return pointer.type.element


def storage_type(printer: TextPrinter, pointer: SSAValue) -> str:
    """What the memory behind a pointer holds. Booleans are bytes: GCC vectorises loads of `bool` badly."""
    element = element_of(pointer)
    return "uint8_t" if element == i1 else printer.target.scalar_type(element)


def stack_count(op: AllocOp) -> int | None:
    """The number of elements of a scratch array that lies on the stack, else None."""
    owner = op.count.owner
    if not isinstance(owner, arith.ConstantOp) or not isinstance(owner.value, IntegerAttr):
        return None
    count = int(owner.value.value.data)
    return count if count * byte_width(element_of(op.result)) <= STACK_BYTES else None


@runtime_checkable
class ScratchPrinter(Protocol):
    """What `alloc` needs of the printer of a whole kernel."""

    scratch: set[SSAValue]

    def take_kernel_scratch(self) -> None: ...


def alloc(printer: TextPrinter, op: Operation) -> None:
    """A local array. Large scratch of a body function stands at its head, that of the kernel at its first alloc."""
    assert isinstance(op, AllocOp) and isinstance(printer, ScratchPrinter)
    count = stack_count(op)
    if count is None:
        if op.result not in printer.scratch:
            printer.take_kernel_scratch()
    else:
        name = printer.name(op.result)
        element = storage_type(printer, op.result)
        printer.line(f"{element} {name}[{max(count, 1)}] __attribute__((aligned(64)));")


def load(printer: TextPrinter, op: Operation) -> None:
    assert isinstance(op, LoadOp)
    pointer, offset = printer.use(op.pointer), printer.use(op.offset)
    if lanes(op.result.type) is None:
        test = " != 0" if op.result.type == i1 else ""
        printer.define(op.result, f"{pointer}[{bare(offset)}]{test}")
    else:
        printer.define(op.result, f"*(const {printer.type(op.result.type)} *)({pointer} + {offset})")


def store(printer: TextPrinter, op: Operation) -> None:
    assert isinstance(op, StoreOp)
    pointer, offset, value = (printer.use(operand) for operand in (op.pointer, op.offset, op.value))
    if lanes(op.value.type) is None:
        printer.line(f"{pointer}[{bare(offset)}] = {bare(value)};")
    else:
        printer.line(f"*({printer.type(op.value.type)} *)({pointer} + {offset}) = {bare(value)};")


def pointer_type(printer: TextPrinter, value: SSAValue) -> str:
    """`const T *` for memory that the kernel only reads, else `T *`."""
    element = storage_type(printer, value)
    return f"const {element} *" if is_read_only(value) else f"{element} *"


def is_read_only(pointer: SSAValue) -> bool:
    """Whether a pointer may come from a kernel argument of mode "read"."""
    owner = pointer.owner
    if isinstance(owner, OffsetOp):
        return is_read_only(owner.pointer)
    if isinstance(owner, arith.SelectOp):
        return is_read_only(owner.lhs) or is_read_only(owner.rhs)
    if isinstance(pointer, BlockArgument):
        kernel = pointer.block.parent_op()
        return isinstance(kernel, KernelOp) and kernel.mode_of(pointer) == "read"
    return False


def offset(printer: TextPrinter, op: Operation) -> None:
    assert isinstance(op, OffsetOp)
    text = f"{printer.use(op.pointer)} + {bare(printer.use(op.offset))}"
    printer.line(f"{pointer_type(printer, op.result)}const {printer.name(op.result)} = {text};")


def check_index(printer: TextPrinter, op: Operation) -> None:
    assert isinstance(op, CheckIndexOp)
    index = bare(printer.use(op.index))
    if is_truth(op.index):
        index = f"alb_opaque({index})"
    operands = f"{index}, {bare(printer.use(op.extent))}"
    printer.define(op.result, f"alb_check_index({operands}, ALBUMEN_{op.kind.upper()}, failed)")


def is_truth(index: SSAValue) -> bool:
    """Whether arithmetic makes an index of a truth value.

    GCC 12 sees through it when it looks for gathers, and takes the vector of truth values for offsets: true is -1.
    """
    pending, seen = [index], {index}
    while pending:
        value = pending.pop()
        if value.type == i1:
            return True
        owner = value.owner
        if isinstance(owner, arith.SelectOp) and not all(_is_constant(branch) for branch in (owner.lhs, owner.rhs)):
            operands: Sequence[SSAValue] = (owner.lhs, owner.rhs)
        elif isinstance(owner, Operation) and (isinstance(owner, CheckIndexOp) or owner.name.startswith("arith.")):
            operands = owner.operands
        else:
            operands = ()
        pending += [operand for operand in operands if operand not in seen]
        seen.update(operands)
    return False


def _is_constant(value: SSAValue) -> bool:
    return isinstance(value.owner, arith.ConstantOp)


def select(printer: TextPrinter, op: Operation) -> None:
    """A choice of pointers is a variable; a choice of values is an expression as everywhere."""
    assert isinstance(op, arith.SelectOp)
    if not isinstance(op.result.type, PtrType):
        printer.expression(op)
        return
    text = f"{printer.use(op.cond)} ? {printer.use(op.lhs)} : {printer.use(op.rhs)}"
    printer.line(f"{pointer_type(printer, op.result)}const {printer.name(op.result)} = {text};")
