"""What `arith` and `math` ops print: one handler a form of op, shared by every C-like target."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, FloatAttr, IntegerAttr
from xdsl.ir import Operation

from ...dialects.errors import LoweringError
from .printer import TextPrinter
from .target import ExpressionHandler, scalar


def infix(symbol: str) -> ExpressionHandler:
    return lambda printer, op, texts: f"({texts[0]} {symbol} {texts[1]})"


def wrapping(symbol: str) -> ExpressionHandler:
    """Integer addition and its like. They wrap; C's signed overflow is undefined, so they go through the unsigned type
    unless the op says `nsw` or the type is `index`."""

    def text(printer: TextPrinter, op: Operation, texts: Sequence[str]) -> str:
        kind = scalar(op.results[0].type)
        name = printer.target.type_name(kind)
        flags = op.properties.get("overflowFlags")
        no_wrap = isinstance(flags, arith.IntegerOverflowAttr) and arith.IntegerOverflowFlag.NSW in flags.data
        if no_wrap or name == "index":
            return f"({texts[0]} {symbol} {texts[1]})"
        if name == "i1":
            return f"((({texts[0]} {symbol} {texts[1]}) & 1) != 0)"
        unsigned = printer.target.types["ui32" if name in ("i8", "i16") else "u" + name]
        return f"({printer.type(kind)})(({unsigned}){texts[0]} {symbol} ({unsigned}){texts[1]})"

    return text


def signed_quotient(symbol: str) -> ExpressionHandler:
    """Division and remainder as C does them, brought back to the width of the type."""

    def text(printer: TextPrinter, op: Operation, texts: Sequence[str]) -> str:
        kind = scalar(op.results[0].type)
        result = f"({texts[0]} {symbol} {texts[1]})"
        return f"({printer.type(kind)}){result}" if printer.target.type_name(kind) in ("i8", "i16") else result

    return text


def unsigned_infix(symbol: str) -> ExpressionHandler:
    """Division, remainder and right shift of the operands read as unsigned."""

    def text(printer: TextPrinter, op: Operation, texts: Sequence[str]) -> str:
        kind = scalar(op.results[0].type)
        name = printer.target.type_name(kind)
        unsigned = printer.target.types["ui64" if name == "index" else "u" + name]
        return f"({printer.type(kind)})(({unsigned}){texts[0]} {symbol} ({unsigned}){texts[1]})"

    return text


def function(name: str) -> ExpressionHandler:
    """A call of a target function, chosen by the dtype of the first operand."""

    def text(printer: TextPrinter, op: Operation, texts: Sequence[str]) -> str:
        return printer.call(name, printer.target.type_name(scalar(op.operands[0].type)), texts)

    return text


def cast(printer: TextPrinter, op: Operation, texts: Sequence[str]) -> str:
    return printer.cast(texts[0], scalar(op.operands[0].type), scalar(op.results[0].type))


def unsigned_cast(printer: TextPrinter, op: Operation, texts: Sequence[str]) -> str:
    """extui and uitofp: the operand is read as unsigned first."""
    source = printer.target.type_name(scalar(op.operands[0].type))
    result = printer.type(scalar(op.results[0].type))
    return f"({result}){texts[0]}" if source == "i1" else f"({result})({printer.target.types['u' + source]}){texts[0]}"


def signed_extension(printer: TextPrinter, op: Operation, texts: Sequence[str]) -> str:
    result = printer.type(scalar(op.results[0].type))
    source = printer.target.type_name(scalar(op.operands[0].type))
    return f"(-({result}){texts[0]})" if source == "i1" else f"({result}){texts[0]}"


def truncation(printer: TextPrinter, op: Operation, texts: Sequence[str]) -> str:
    """trunci keeps the low bits; to i1 that is the lowest bit, not "is it nonzero"."""
    result = scalar(op.results[0].type)
    if printer.target.type_name(result) == "i1":
        return f"(({texts[0]} & 1) != 0)"
    return f"({printer.type(result)}){texts[0]}"


def float_to_unsigned(printer: TextPrinter, op: Operation, texts: Sequence[str]) -> str:
    result = scalar(op.results[0].type)
    return f"({printer.type(result)})({printer.target.types['u' + printer.target.type_name(result)]}){texts[0]}"


def bitcast(printer: TextPrinter, op: Operation, texts: Sequence[str]) -> str:
    source, result = (printer.target.type_name(scalar(value.type)) for value in (op.operands[0], op.results[0]))
    return texts[0] if source == result else printer.call(f"bits.{source}.{result}", result, texts)


COMPARE_INTEGERS = ("==", "!=", "<", "<=", ">", ">=", "<", "<=", ">", ">=")
COMPARE_FLOATS: Mapping[int, str] = {
    1: "({0} == {1})",
    2: "({0} > {1})",
    3: "({0} >= {1})",
    4: "({0} < {1})",
    5: "({0} <= {1})",
    6: "(({0} < {1}) | ({0} > {1}))",
    7: "(({0} == {0}) & ({1} == {1}))",
    8: "!(({0} < {1}) | ({0} > {1}))",
    9: "!({0} <= {1})",
    10: "!({0} < {1})",
    11: "!({0} >= {1})",
    12: "!({0} > {1})",
    13: "({0} != {1})",
    14: "(({0} != {0}) | ({1} != {1}))",
}


def compare_integers(printer: TextPrinter, op: Operation, texts: Sequence[str]) -> str:
    assert isinstance(op, arith.CmpiOp)
    predicate = op.predicate.value.data
    symbol = COMPARE_INTEGERS[predicate]
    name = printer.target.type_name(scalar(op.lhs.type))
    if predicate < 6 or name == "i1":
        return f"({texts[0]} {symbol} {texts[1]})"
    unsigned = printer.target.types["ui64" if name == "index" else "u" + name]
    return f"(({unsigned}){texts[0]} {symbol} ({unsigned}){texts[1]})"


def compare_floats(printer: TextPrinter, op: Operation, texts: Sequence[str]) -> str:
    assert isinstance(op, arith.CmpfOp)
    predicate = op.predicate.value.data
    if predicate in (0, 15):
        return "true" if predicate else "false"
    return COMPARE_FLOATS[predicate].format(*texts)


def constant(printer: TextPrinter, op: Operation, texts: Sequence[str]) -> str:
    assert isinstance(op, arith.ConstantOp)
    value = op.value
    if isinstance(value, FloatAttr):
        return printer.literal(float(value.value.data), value.type)
    if isinstance(value, IntegerAttr):
        return printer.literal(int(value.value.data), value.type)
    if isinstance(value, DenseIntOrFPElementsAttr) and value.is_splat():
        lane = value.get_values()[0]
        if isinstance(lane, int | float):
            return printer.literal(lane, scalar(op.result.type))
    raise LoweringError("a vector constant must have one value in all lanes", op=op, stage="emit")


EXPRESSIONS: Mapping[type[Operation], ExpressionHandler] = {
    arith.ConstantOp: constant,
    arith.AddiOp: wrapping("+"),
    arith.SubiOp: wrapping("-"),
    arith.MuliOp: wrapping("*"),
    arith.ShLIOp: wrapping("<<"),
    arith.DivSIOp: signed_quotient("/"),
    arith.RemSIOp: signed_quotient("%"),
    arith.DivUIOp: unsigned_infix("/"),
    arith.RemUIOp: unsigned_infix("%"),
    arith.ShRUIOp: unsigned_infix(">>"),
    arith.ShRSIOp: infix(">>"),
    arith.FloorDivSIOp: function("floordiv"),
    arith.CeilDivSIOp: function("ceildiv"),
    arith.MinSIOp: lambda printer, op, texts: f"({texts[0]} < {texts[1]} ? {texts[0]} : {texts[1]})",
    arith.MaxSIOp: lambda printer, op, texts: f"({texts[0]} > {texts[1]} ? {texts[0]} : {texts[1]})",
    arith.MinUIOp: function("minui"),
    arith.MaxUIOp: function("maxui"),
    arith.AndIOp: infix("&"),
    arith.OrIOp: infix("|"),
    arith.XOrIOp: infix("^"),
    arith.CmpiOp: compare_integers,
    arith.CmpfOp: compare_floats,
    arith.SelectOp: lambda printer, op, texts: f"({texts[0]} ? {texts[1]} : {texts[2]})",
    arith.AddfOp: infix("+"),
    arith.SubfOp: infix("-"),
    arith.MulfOp: infix("*"),
    arith.DivfOp: infix("/"),
    arith.NegfOp: lambda printer, op, texts: f"(-{texts[0]})",
    arith.MaximumfOp: function("maximum"),
    arith.MinimumfOp: function("minimum"),
    arith.MaxnumfOp: function("maxnum"),
    arith.MinnumfOp: function("minnum"),
    arith.BitcastOp: bitcast,
    arith.IndexCastOp: cast,
    arith.ExtFOp: cast,
    arith.TruncFOp: cast,
    arith.SIToFPOp: cast,
    arith.FPToSIOp: cast,
    arith.UIToFPOp: unsigned_cast,
    arith.ExtUIOp: unsigned_cast,
    arith.FPToUIOp: float_to_unsigned,
    arith.ExtSIOp: signed_extension,
    arith.TruncIOp: truncation,
    **{op: function(op.name.removeprefix("math.")) for op in math.Math.operations},
}
"""Math ops call the target function of their own name: "exp", "absf", "roundeven", "fma", "powf", ..."""
