"""What the ops of the loop dialect print in C: loops, reductions, memory."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from xdsl.dialects import arith, scf
from xdsl.ir import Operation

from ...dialects.loop import (
    AllocOp,
    CheckIndexOp,
    Combine,
    LoadOp,
    OffsetOp,
    PackOp,
    ParallelOp,
    ReduceOp,
    StoreOp,
    YieldOp,
)
from ...dialects.loop import Mapping as LoopMapping
from .c_kernel import CPrinter
from .c_memory import alloc, check_index, element_of, load, offset, select, store
from .control import unroll_pragma
from .printer import TextPrinter
from .target import StatementHandler

MOST_BRANCHES = 16
"""A loop with more conditions is no SIMD loop: compilers take minutes to make masks of hundreds of branches."""


def is_simd(op: ParallelOp | ReduceOp) -> bool:
    """Whether the innermost loop asks the compiler for vectors."""
    branches = sum(isinstance(inner, scf.IfOp) for inner in op.body.walk())
    return op.mapping.data is LoopMapping.Vector and branches <= MOST_BRANCHES


def open_loops(printer: TextPrinter, op: ParallelOp | ReduceOp, clauses: str = "") -> int:
    """Prints the heads of the loops over the space and returns how many; the innermost of a vector loop is SIMD."""
    args, extents = op.body.block.args, [printer.use(extent) for extent in op.extents]
    for position, (argument, extent) in enumerate(zip(args, extents, strict=True)):
        name = printer.name(argument)
        if position == len(args) - 1:
            if is_simd(op):
                printer.line(f"#pragma omp simd{clauses}")
            else:
                unroll_pragma(printer, op, None)
        printer.open(f"for (int64_t {name} = 0; {name} < {extent}; ++{name})")
    return len(args)


def parallel(printer: TextPrinter, op: Operation) -> None:
    assert isinstance(op, ParallelOp) and isinstance(printer, CPrinter)
    if op.mapping.data is LoopMapping.Grid and printer.may_outline:
        printer.outline(op)
        return
    depth = open_loops(printer, op)
    printer.block(op.body.block)
    for _ in range(depth):
        printer.close()


SYMBOLS: Mapping[Combine, str] = MappingProxyType(
    {Combine.Add: "+", Combine.Mul: "*", Combine.And: "&", Combine.Or: "|"}
)


SUM_BLOCK = 2048
"""Terms that are added up before they join a long sum of floats, which keeps its rounding error small."""


def reduce(printer: TextPrinter, op: Operation) -> None:
    """A scalar that the loops update. SIMD loops combine lanes by OpenMP's clause; for the maximum and minimum of
    floats its comparison loses NaN, so a flag keeps it."""
    assert isinstance(op, ReduceOp) and isinstance(printer, CPrinter)
    init = printer.use(op.init)
    total = printer.name(op.result)
    kind = printer.target.type_name(op.result.type)
    printer.line(f"{printer.type(op.result.type)} {total} = {init};")
    combine, vector = op.combine.data, op.mapping.data is LoopMapping.Vector
    if combine is Combine.Add and vector and kind.startswith("f") and _is_long(printer, op):
        _long_sum(printer, op, total)
        return
    extremum = combine in (Combine.Max, Combine.Min)
    flag = printer.fresh(f"{total}_nan") if extremum and vector and kind.startswith("f") else ""
    if flag:
        printer.flags[total] = flag
        printer.line(f"int {flag} = {total} != {total};")
    clauses = f" reduction({combine.value if extremum else SYMBOLS[combine]}:{total})"
    depth = open_loops(printer, op, clauses + (f" reduction(|:{flag})" if flag else ""))
    printer.region(op.body.block, [total])
    for _ in range(depth):
        printer.close()
    if flag:
        printer.line(f"if ({flag}) {total} = {printer.target.literals.get(f'nan.{kind}', 'NAN')};")


def _is_long(printer: TextPrinter, op: ReduceOp) -> bool:
    """Whether a sum over one index may have more terms than a block."""
    if len(op.extents) != 1:
        return False
    text = printer.use(op.extents[0])
    return not text.isdigit() or int(text) > SUM_BLOCK


def _long_sum(printer: TextPrinter, op: ReduceOp, total: str) -> None:
    """Blocks of terms are summed by SIMD lanes, their sums one after another."""
    extent = printer.variable(op.extents[0]) if not printer.use(op.extents[0]).isdigit() else printer.use(op.extents[0])
    begin, end, part = printer.fresh("begin"), printer.fresh("end"), printer.fresh("part")
    with printer.braces(f"for (int64_t {begin} = 0; {begin} < {extent}; {begin} += {SUM_BLOCK})"):
        printer.line(f"const int64_t {end} = {extent} - {begin} < {SUM_BLOCK} ? {extent} : {begin} + {SUM_BLOCK};")
        printer.line(f"{printer.type(op.result.type)} {part} = 0;")
        if is_simd(op):
            printer.line(f"#pragma omp simd reduction(+:{part})")
        name = printer.name(op.body.block.args[0])
        with printer.braces(f"for (int64_t {name} = {begin}; {name} < {end}; ++{name})"):
            printer.region(op.body.block, [part])
        printer.line(f"{total} = {total} + {part};")


def reduce_yield(printer: TextPrinter, op: Operation) -> None:
    """Combines the yielded value into the reduction's variable."""
    reduction = op.parent_op()
    assert isinstance(reduction, ReduceOp) and isinstance(op, YieldOp) and isinstance(printer, CPrinter)
    (total,) = printer.targets
    kind = printer.target.type_name(op.value.type)
    combine = reduction.combine.data
    if combine in SYMBOLS:
        printer.line(f"{total} = {total} {SYMBOLS[combine]} {printer.use(op.value)};")
        return
    value = printer.variable(op.value)
    symbol = ">" if combine is Combine.Max else "<"
    if not kind.startswith("f"):
        printer.line(f"{total} = {value} {symbol} {total} ? {value} : {total};")
    elif reduction.mapping.data is LoopMapping.Vector:
        printer.line(f"{total} = {value} {symbol} {total} ? {value} : {total};")
        printer.line(f"{printer.flags[total]} |= {value} != {value};")
    else:
        function = "maximum" if combine is Combine.Max else "minimum"
        printer.line(f"{total} = {printer.call(function, kind, [total, value])};")


def pack(printer: TextPrinter, op: Operation) -> None:
    """A call of the packing function of this element pair and width, which the printer writes once."""
    assert isinstance(op, PackOp) and isinstance(printer, CPrinter)
    source, target = (printer.target.type_name(element_of(pointer)) for pointer in (op.source, op.target))
    function = printer.packer(source, target, op.width.value.data)
    operands = (op.source, op.lane_stride, op.depth_stride, op.target, op.lanes, op.depth)
    printer.line(f"{function}({', '.join(printer.use(value) for value in operands)});")


STATEMENTS: Mapping[type[Operation], StatementHandler] = MappingProxyType(
    {
        ParallelOp: parallel,
        ReduceOp: reduce,
        YieldOp: reduce_yield,
        AllocOp: alloc,
        OffsetOp: offset,
        LoadOp: load,
        StoreOp: store,
        PackOp: pack,
        CheckIndexOp: check_index,
        arith.SelectOp: select,
    }
)
