"""What `scf` and `vector` ops print, shared by every C-like target."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from xdsl.dialects import arith, scf, vector
from xdsl.dialects.builtin import IntegerAttr, IntegerType, UnitAttr
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ...dialects.errors import LoweringError
from .arithmetic import function
from .printer import TextPrinter
from .target import ExpressionHandler, StatementHandler, lanes


def constant_value(value: SSAValue) -> int | None:
    """The integer that a value is, if an arith.constant defines it."""
    owner = value.owner
    if isinstance(owner, arith.ConstantOp) and isinstance(owner.value, IntegerAttr):
        return int(owner.value.value.data)
    return None


def unroll_pragma(printer: TextPrinter, op: Operation, trips: int | None) -> None:
    """Writes the unroll pragma for the attribute `unroll` (unit: fully; an integer: by that factor)."""
    wish: Attribute | None = op.attributes.get("unroll")
    if wish is None:
        return
    count = trips if isinstance(wish, UnitAttr) else None
    if isinstance(wish, IntegerAttr):
        count = int(cast("IntegerAttr[IntegerType]", wish).value.data)
    printer.line(printer.target.unroll.format(n=count or 16))


def carried(
    printer: TextPrinter, block_args: Sequence[SSAValue], inits: Sequence[SSAValue], results: Sequence[SSAValue]
) -> list[str]:
    """Declares the loop-carried variables with their initial values and binds block arguments and results to them."""
    names: list[str] = []
    for argument, init, result in zip(block_args, inits, results, strict=True):
        text = printer.use(init)
        name = printer.fresh(argument.name_hint or result.name_hint)
        printer.line(f"{printer.type(argument.type)} {name} = {text};")
        printer.bind(argument, name)
        printer.bind(result, name)
        names.append(name)
    return names


def for_loop(printer: TextPrinter, op: Operation) -> None:
    assert isinstance(op, scf.ForOp)
    index, *arguments = op.body.block.args
    names = carried(printer, arguments, op.iter_args, op.res)
    lower, upper, step = (printer.use(value) for value in (op.lb, op.ub, op.step))
    trips = None
    bounds = [constant_value(value) for value in (op.lb, op.ub, op.step)]
    if bounds[0] is not None and bounds[1] is not None and bounds[2]:
        trips = max(0, -(-(bounds[1] - bounds[0]) // bounds[2]))
    unroll_pragma(printer, op, trips)
    name = printer.name(index)
    advance = f"++{name}" if bounds[2] == 1 else f"{name} += {step}"
    with printer.braces(f"for ({printer.type(index.type)} {name} = {lower}; {name} < {upper}; {advance})"):
        printer.region(op.body.block, names)


def if_op(printer: TextPrinter, op: Operation) -> None:
    assert isinstance(op, scf.IfOp)
    condition = printer.use(op.cond)
    names: list[str] = []
    for result in op.output:
        name = printer.name(result)
        printer.line(f"{printer.type(result.type)} {name};")
        names.append(name)
    otherwise: Block | None = op.false_region.first_block
    has_else = otherwise is not None and (bool(names) or len(otherwise.ops) > 1)
    with printer.braces(f"if ({condition})"):
        printer.region(op.true_region.block, names)
        if has_else and otherwise is not None:
            printer.otherwise()
            printer.region(otherwise, names)


def while_loop(printer: TextPrinter, op: Operation) -> None:
    """`while (true) { before; if (!condition) break; after }`; the results are what the condition passes on."""
    assert isinstance(op, scf.WhileOp)
    before, after = op.before_region.block, op.after_region.block
    names = [printer.fresh(argument.name_hint) for argument in before.args]
    for name, argument, init in zip(names, before.args, op.arguments, strict=True):
        printer.line(f"{printer.type(argument.type)} {name} = {printer.use(init)};")
        printer.bind(argument, name)
    passed = [printer.fresh(result.name_hint) for result in op.res]
    for name, result, argument in zip(passed, op.res, after.args, strict=True):
        printer.line(f"{printer.type(result.type)} {name};")
        printer.bind(result, name)
        printer.bind(argument, name)
    with printer.braces("while (true)"):
        printer.region(before, passed)
        printer.region(after, names)


def condition(printer: TextPrinter, op: Operation) -> None:
    assert isinstance(op, scf.ConditionOp)
    test = printer.variable(op.operands[0])
    printer.assign(op.operands[1:])
    printer.line(f"if (!{test}) break;")


def yield_op(printer: TextPrinter, op: Operation) -> None:
    printer.assign(op.operands)


def insert(printer: TextPrinter, op: Operation) -> None:
    """A copy of the vector with one lane replaced."""
    assert isinstance(op, vector.InsertOp)
    position = one_position(printer, op, op.get_mixed_position())
    text = printer.use(op.dest)
    name = printer.name(op.result)
    printer.line(f"{printer.type(op.result.type)} {name} = {text};")
    printer.line(f"{printer.target.lane.format(name, position)} = {printer.use(op.source)};")


def extract(printer: TextPrinter, op: Operation) -> None:
    assert isinstance(op, vector.ExtractOp)
    position = one_position(printer, op, op.get_mixed_position())
    printer.define(op.result, printer.target.lane.format(printer.variable(op.vector), position))


def one_position(printer: TextPrinter, op: Operation, positions: Sequence[SSAValue | int]) -> str:
    if len(positions) != 1:
        raise LoweringError("a vector lane is named by one position", op=op, stage="emit")
    position = positions[0]
    return printer.use(position) if isinstance(position, SSAValue) else str(position)


def broadcast(printer: TextPrinter, op: Operation, texts: Sequence[str]) -> str:
    return texts[0]


def reduction(printer: TextPrinter, op: Operation) -> None:
    """Combines the lanes of a vector from lane 0 up, after the accumulator where there is one."""
    assert isinstance(op, vector.ReductionOp)
    source, parts = printer.variable(op.vector), lanes(op.vector.type)
    assert parts is not None
    count = parts[0]
    name, lane = printer.fresh(op.dest.name_hint), printer.fresh("l")
    kind = op.kind.data.value
    symbols = {"add": "+", "mul": "*", "and": "&", "or": "|", "xor": "^"}
    functions = {"maximumf": "maximum", "minimumf": "minimum", "maxnumf": "maxnum", "minnumf": "minnum"}
    element = printer.target.lane.format(source, lane)
    if kind in symbols:
        combined = f"{name} {symbols[kind]} {element}"
    elif kind in functions:
        combined = printer.call(functions[kind], printer.target.type_name(op.dest.type), [name, element])
    else:
        raise LoweringError(f"vector.reduction of kind {kind} is not printed", op=op, stage="emit")
    first = printer.use(op.acc) if op.acc is not None else printer.target.lane.format(source, 0)
    start = 0 if op.acc is not None else 1
    printer.line(f"{printer.type(op.dest.type)} {name} = {first};")
    printer.line(printer.target.unroll.format(n=count))
    printer.line(f"for (int {lane} = {start}; {lane} < {count}; ++{lane}) {name} = {combined};")
    printer.bind(op.dest, name)


EXPRESSIONS: Mapping[type[Operation], ExpressionHandler] = {
    vector.BroadcastOp: broadcast,
    vector.FMAOp: function("fma"),
}
STATEMENTS: Mapping[type[Operation], StatementHandler] = {
    scf.ForOp: for_loop,
    scf.IfOp: if_op,
    scf.WhileOp: while_loop,
    scf.ConditionOp: condition,
    scf.YieldOp: yield_op,
    vector.InsertOp: insert,
    vector.ExtractOp: extract,
    vector.ReductionOp: reduction,
}
