"""What simt ops print, shared by CUDA and Metal; the two differ in one record of spellings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import VectorType
from xdsl.ir import Attribute, Operation, SSAValue

from ...dialects.errors import LoweringError
from ...dialects.loop import ApplyOp
from ...dialects.simt import (
    AssertOp,
    AtomicAddOp,
    BarrierOp,
    GridReleaseOp,
    GridWaitOp,
    Hint,
    IdOp,
    KernelOp,
    LoadOp,
    OffsetOp,
    PtrType,
    ReduceBlockOp,
    ReduceWarpOp,
    RegLoadOp,
    RegsOp,
    RegStoreOp,
    RegType,
    SharedOp,
    ShuffleOp,
    StoreOp,
    part_extent,
    vector_lanes,
)
from .printer import TextPrinter
from .simt_target import SMEM, simt_target
from .target import ExpressionHandler, StatementHandler


def is_vector(kind: Attribute) -> bool:
    return isinstance(kind, VectorType)


def address(printer: TextPrinter, base: SSAValue, offset: SSAValue) -> str:
    """The text of `base + offset`."""
    text = printer.use(offset)
    return f"({printer.use(base)} + {text})" if text != "0" else printer.use(base)


def typed_address(printer: TextPrinter, base: SSAValue, offset: SSAValue, value: Attribute, *, const: bool) -> str:
    """The address as a pointer to what is accessed: the element, or a vector of it."""
    plain = address(printer, base, offset)
    if not is_vector(value):
        return plain
    assert isinstance(base.type, PtrType)
    space = simt_target(printer).spaces[base.type.space.data]
    return f"({space}{'const ' if const else ''}{printer.type(value)} *){plain}"


def element(printer: TextPrinter, base: SSAValue, offset: SSAValue, value: Attribute, place: str) -> str:
    """What stands at an address, as an lvalue."""
    return f"*{place}" if is_vector(value) else f"{printer.use(base)}[{printer.use(offset)}]"


def identifier(printer: TextPrinter, op: Operation, texts: Sequence[str]) -> str:
    assert isinstance(op, IdOp)
    return simt_target(printer).ids[op.kind.data]


def shared(printer: TextPrinter, op: Operation) -> None:
    assert isinstance(op, SharedOp) and isinstance(op.result.type, PtrType)
    offset = op.offset.value.data
    declare_pointer(printer, op.result, f"{SMEM} + {offset}" if offset else SMEM)


def offset(printer: TextPrinter, op: Operation) -> None:
    assert isinstance(op, OffsetOp)
    declare_pointer(printer, op.result, address(printer, op.pointer, op.offset))


def declare_pointer(printer: TextPrinter, value: SSAValue, place: str) -> None:
    kind = printer.type(value.type)
    name = printer.name(value)
    printer.line(f"{kind}{name} = ({kind})({place});")


def load(printer: TextPrinter, op: Operation) -> None:
    """A load is a statement: it must not move past a store or a barrier to its use."""
    assert isinstance(op, LoadOp)
    place = typed_address(printer, op.pointer, op.offset, op.result.type, const=True)
    target = simt_target(printer)
    if op.hint is not None and op.hint.data == Hint.Stream:
        text = target.load_stream.format(place)
    else:
        text = element(printer, op.pointer, op.offset, op.result.type, place)
    if op.predicate is None:
        printer.define(op.result, text)
        return
    condition = printer.use(op.predicate)
    name = printer.name(op.result)
    kind = printer.type(op.result.type)
    if is_vector(op.result.type):
        printer.line(f"{kind} {name} = {{}};")
    else:
        printer.line(f"{kind} {name} = {printer.literal(0, op.result.type)};")
    printer.line(f"if ({condition}) {name} = {text};")


def store(printer: TextPrinter, op: Operation) -> None:
    assert isinstance(op, StoreOp)
    place = typed_address(printer, op.pointer, op.offset, op.value.type, const=False)
    if op.hint is not None and op.hint.data == Hint.Stream:
        text = simt_target(printer).store_stream.format(place, printer.use(op.value))
    else:
        text = f"{element(printer, op.pointer, op.offset, op.value.type, place)} = {printer.use(op.value)};"
    printer.line(text if op.predicate is None else f"if ({printer.use(op.predicate)}) {text}")


def atomic_add(printer: TextPrinter, op: Operation) -> None:
    assert isinstance(op, AtomicAddOp)
    place = address(printer, op.pointer, op.offset)
    assert isinstance(op.pointer.type, PtrType)
    space = simt_target(printer).spaces[op.pointer.type.space.data]
    element = printer.type(op.value.type)
    printer.line(simt_target(printer).atomic_add.format(place, printer.use(op.value), space=space, element=element))


def registers(printer: TextPrinter, op: Operation) -> None:
    """A register array prints flat; indices are linearised in row-major order."""
    assert isinstance(op, RegsOp) and isinstance(op.result.type, RegType)
    extent = part_extent(op.result.type, 0)
    fill = None if op.fill is None else printer.use(op.fill)
    name = printer.name(op.result)
    printer.line(f"{printer.target.scalar_type(op.result.type.element)} {name}[{extent}];")
    if fill is not None:
        lane = printer.fresh("l")
        printer.line(printer.target.unroll.format(n=extent))
        printer.line(f"for (int {lane} = 0; {lane} < {extent}; ++{lane}) {name}[{lane}] = {fill};")


def part(printer: TextPrinter, array: SSAValue, indices: Sequence[SSAValue]) -> str:
    """The flat index of the first element of the part that the indices select."""
    assert isinstance(array.type, RegType)
    terms: list[str] = []
    constant = 0
    for position, index in enumerate(indices):
        extent = part_extent(array.type, position + 1)
        text = printer.use(index)
        if text.isdigit():
            constant += int(text) * extent
        else:
            terms.append(text if extent == 1 else f"{text} * {extent}")
    if constant or not terms:
        terms.append(str(constant))
    return " + ".join(terms)


def part_address(printer: TextPrinter, array: SSAValue, indices: Sequence[SSAValue]) -> str:
    """The text of a pointer to the part that the indices select."""
    first = part(printer, array, indices)
    return printer.use(array) if first == "0" else f"{printer.use(array)} + {first}"


def register_load(printer: TextPrinter, op: Operation) -> None:
    assert isinstance(op, RegLoadOp)
    first = part(printer, op.registers, op.indices)
    array = printer.use(op.registers)
    if not is_vector(op.result.type):
        printer.define(op.result, f"{array}[{first}]")
        return
    kind = printer.type(op.result.type)
    name, lane = printer.name(op.result), printer.fresh("l")
    count, _ = vector_lanes(op.result.type)
    printer.line(f"{kind} {name};")
    printer.line(printer.target.unroll.format(n=count))
    source = f"{array}[{first} + {lane}]" if first != "0" else f"{array}[{lane}]"
    printer.line(
        f"for (int {lane} = 0; {lane} < {count}; ++{lane}) {printer.target.lane.format(name, lane)} = {source};"
    )


def register_store(printer: TextPrinter, op: Operation) -> None:
    assert isinstance(op, RegStoreOp)
    first = part(printer, op.registers, op.indices)
    array = printer.use(op.registers)
    if not is_vector(op.value.type):
        printer.line(f"{array}[{first}] = {printer.use(op.value)};")
        return
    value, lane = printer.variable(op.value), printer.fresh("l")
    count, _ = vector_lanes(op.value.type)
    printer.line(printer.target.unroll.format(n=count))
    result = f"{array}[{first} + {lane}]" if first != "0" else f"{array}[{lane}]"
    printer.line(
        f"for (int {lane} = 0; {lane} < {count}; ++{lane}) {result} = {printer.target.lane.format(value, lane)};"
    )


def barrier(printer: TextPrinter, op: Operation) -> None:
    assert isinstance(op, BarrierOp)
    printer.line(simt_target(printer).barriers[op.scope.data])


def shuffle(printer: TextPrinter, op: Operation) -> None:
    """A statement: all lanes must take part at the same place of the program."""
    assert isinstance(op, ShuffleOp)
    form = simt_target(printer).shuffles[op.mode.data]
    printer.define(op.result, form.format(printer.use(op.value), printer.use(op.lane), op.width.value.data))


COMBINERS = {"add": "AlbAdd", "mul": "AlbMul", "max": "AlbMax", "min": "AlbMin", "and": "AlbAnd", "or": "AlbOr"}


def _argument(printer: TextPrinter, value: SSAValue) -> str:
    """The value where a template takes its type from it, which that of a number or a choice of numbers may not be."""
    text = printer.use(value)
    return text if text.isidentifier() else f"({printer.type(value.type)})({text})"


def reduce_warp(printer: TextPrinter, op: Operation) -> None:
    assert isinstance(op, ReduceWarpOp)
    combiner = COMBINERS[op.combiner.data]
    form = simt_target(printer).reduce_warp
    text = form.format(_argument(printer, op.value), combiner=combiner, width=op.width.value.data)
    printer.define(op.result, text)


def reduce_block(printer: TextPrinter, op: Operation) -> None:
    assert isinstance(op, ReduceBlockOp)
    kernel = op.parent_op()
    while kernel is not None and not isinstance(kernel, KernelOp):
        kernel = kernel.parent_op()
    if kernel is None:
        raise LoweringError("a block reduction outside a simt.kernel has no block", op=op, stage="emit")
    text = simt_target(printer).reduce_block.format(
        _argument(printer, op.value),
        printer.use(op.scratch),
        combiner=COMBINERS[op.combiner.data],
        threads=kernel.threads,
        fresh="true" if op.fresh is not None else "false",
    )
    printer.define(op.result, text)


def assertion(printer: TextPrinter, op: Operation) -> None:
    assert isinstance(op, AssertOp)
    if trap := simt_target(printer).trap:
        printer.line(f"if (!{printer.use(op.condition)}) {trap}")


def grid_wait(printer: TextPrinter, op: Operation) -> None:
    if text := simt_target(printer).grid_wait:
        printer.line(text)


def grid_release(printer: TextPrinter, op: Operation) -> None:
    if text := simt_target(printer).grid_release:
        printer.line(text)


def apply(printer: TextPrinter, op: Operation, texts: Sequence[str]) -> str:
    """The scalar function of a loop.apply, which stays as it is in thread-level code."""
    assert isinstance(op, ApplyOp)
    return printer.call(op.function.data, printer.target.type_name(op.result.type), texts)


EXPRESSIONS: Mapping[type[Operation], ExpressionHandler] = {IdOp: identifier, ApplyOp: apply}
STATEMENTS: Mapping[type[Operation], StatementHandler] = {
    SharedOp: shared,
    OffsetOp: offset,
    LoadOp: load,
    StoreOp: store,
    AtomicAddOp: atomic_add,
    RegsOp: registers,
    RegLoadOp: register_load,
    RegStoreOp: register_store,
    AssertOp: assertion,
    BarrierOp: barrier,
    ShuffleOp: shuffle,
    ReduceWarpOp: reduce_warp,
    ReduceBlockOp: reduce_block,
    GridWaitOp: grid_wait,
    GridReleaseOp: grid_release,
}
