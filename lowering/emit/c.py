"""The C target: its spelling record, with what scalar and vector ops print differently from the shared tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from xdsl.dialects import arith, vector
from xdsl.dialects import math as math_dialect
from xdsl.ir import Operation

from ...dialects.errors import LoweringError
from ...dialects.loop import ApplyOp
from . import arithmetic, c_loops, control
from .c_spelling import FUNCTIONS, LITERALS, NARROW, TYPES
from .printer import TextPrinter
from .target import ExpressionHandler, Target, lanes, scalar


def wide_only(handler: ExpressionHandler) -> ExpressionHandler:
    """Refuses narrow floats, which are bit patterns in C."""

    def text(printer: TextPrinter, op: Operation, texts: Sequence[str]) -> str:
        for value in (*op.operands, *op.results):
            name = printer.target.type_name(scalar(value.type))
            if name in NARROW:
                raise LoweringError(f"C has no arithmetic on {name}", op=op, stage="emit", hint="compute in f32")
        return handler(printer, op, texts)

    return text


def division(name: str, plain: ExpressionHandler) -> ExpressionHandler:
    """Integer division that never traps on data; indices divide by what is known to be positive."""

    def text(printer: TextPrinter, op: Operation, texts: Sequence[str]) -> str:
        dtype = printer.target.type_name(scalar(op.results[0].type))
        return plain(printer, op, texts) if dtype == "index" else printer.call(name, dtype, texts)

    return text


def broadcast(printer: TextPrinter, op: Operation, texts: Sequence[str]) -> str:
    """A scalar in all lanes: minus zero keeps every value, the sign of zero too."""
    assert isinstance(op, vector.BroadcastOp)
    if lanes(op.source.type) is not None:
        return texts[0]
    return f"({texts[0]} - ({printer.type(op.vector.type)}){{0}})"


def vector_fma(printer: TextPrinter, op: Operation, texts: Sequence[str]) -> str:
    return f"alb_fma_{printer.type(op.results[0].type)}({', '.join(texts)})"


def apply(printer: TextPrinter, op: Operation, texts: Sequence[str]) -> str:
    assert isinstance(op, ApplyOp)
    return printer.call(op.function.data, printer.target.type_name(scalar(op.result.type)), texts)


FLOAT_OPS: tuple[type[Operation], ...] = (
    arith.AddfOp, arith.SubfOp, arith.MulfOp, arith.DivfOp, arith.NegfOp, arith.CmpfOp, arith.MaximumfOp,
    arith.MinimumfOp, arith.MaxnumfOp, arith.MinnumfOp, *math_dialect.Math.operations,
)  # fmt: skip

EXPRESSIONS: Mapping[type[Operation], ExpressionHandler] = MappingProxyType(
    {
        **arithmetic.EXPRESSIONS,
        **control.EXPRESSIONS,
        **{op: wide_only(arithmetic.EXPRESSIONS[op]) for op in FLOAT_OPS},
        arith.DivSIOp: division("div", arithmetic.EXPRESSIONS[arith.DivSIOp]),
        arith.RemSIOp: division("rem", arithmetic.EXPRESSIONS[arith.RemSIOp]),
        arith.DivUIOp: division("divui", arithmetic.EXPRESSIONS[arith.DivUIOp]),
        arith.RemUIOp: division("remui", arithmetic.EXPRESSIONS[arith.RemUIOp]),
        vector.BroadcastOp: broadcast,
        vector.FMAOp: vector_fma,
        ApplyOp: wide_only(apply),
    }
)

VECTOR_DECLARATION = """\
typedef {element} {name} __attribute__((vector_size({bytes}), aligned({unit}), may_alias));
ALB_INLINE {name} alb_fma_{name}({name} a, {name} b, {name} c) {{
#ifdef ALB_FUSED_float
  {name} r;
  for (int l = 0; l < {n}; ++l) r[l] = ALB_FUSED_{element}(a[l], b[l], c[l]);
  return r;
#else
  return a * b + c;
#endif
}}"""
"""An unaligned vector of GCC and clang, and its multiply-add: one rounding where the machine has it, else two."""

C = Target(
    name="c",
    types=TYPES,
    functions=FUNCTIONS,
    expressions=EXPRESSIONS,
    statements=MappingProxyType({**control.STATEMENTS, **c_loops.STATEMENTS}),
    literals=LITERALS,
    vector_type="v{n}{t}",
    vector_declaration=VECTOR_DECLARATION,
    lane="{0}[{1}]",
    native_vector_ops=frozenset(
        {arith.AddfOp, arith.SubfOp, arith.MulfOp, arith.DivfOp, arith.NegfOp, vector.BroadcastOp, vector.FMAOp}
    ),
    unroll="#pragma GCC unroll {n}",
)
