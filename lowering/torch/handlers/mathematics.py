"""Powers and mathematical functions that are formulas over hlir's own."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType

from xdsl.ir import SSAValue

from ....dialects.dtype import I8, I16, I32, I64
from ....dialects.hlir.arithmetic import AbsOp, CosOp, ExpOp, LogOp, NegOp, RsqrtOp, SubOp
from ....dialects.hlir.builder import GraphBuilder
from ....dialects.hlir.conversion import BitcastOp, SelectOp
from ....dialects.hlir.elementwise import (
    AddOp,
    DivOp,
    EqualOp,
    LessThanOp,
    MulOp,
    RecipOp,
    SinOp,
    SqrtOp,
    TruncOp,
)
from ....dialects.hlir.transcendental import PowOp
from ....dialects.op import tensor_of
from ....dialects.sym.expr import Expr
from ..call import Call, Handler
from ..promotion import Kind, promote
from ..unsupported import UnsupportedNodeError

Formula = Callable[[GraphBuilder, SSAValue], SSAValue]


def formula(define: Formula) -> Handler:
    """A function of one float, computed in the computation dtype and rounded once."""

    def handler(call: Call) -> SSAValue:
        x = call.b.cast(call.b.cast(call.tensor("self"), call.dtype), call.dtype.compute)
        return call.b.cast(define(call.b, x), call.dtype)

    return handler


def like(b: GraphBuilder, value: float, x: SSAValue) -> SSAValue:
    """`value` at the type of x."""
    return b.constant(value, tensor_of(x))


def expm1(b: GraphBuilder, x: SSAValue) -> SSAValue:
    """Kahan's (e^x - 1) x / ln(e^x), exact to a few ulp near 0."""
    u = b.emit(ExpOp, [x])
    below = b.emit(SubOp, [u, like(b, 1.0, x)])
    value = b.emit(MulOp, [below, b.emit(DivOp, [x, b.emit(LogOp, [u])])])
    value = b.emit(SelectOp, [b.emit(EqualOp, [below, like(b, -1.0, x)]), like(b, -1.0, x), value])
    value = b.emit(SelectOp, [b.emit(EqualOp, [u, like(b, math.inf, x)]), u, value])
    return b.emit(SelectOp, [b.emit(EqualOp, [u, like(b, 1.0, x)]), x, value])


def log1p(b: GraphBuilder, x: SSAValue) -> SSAValue:
    """Kahan's x ln(1 + x) / ((1 + x) - 1), exact to a few ulp near 0."""
    u = b.emit(AddOp, [x, like(b, 1.0, x)])
    value = b.emit(MulOp, [b.emit(LogOp, [u]), b.emit(DivOp, [x, b.emit(SubOp, [u, like(b, 1.0, x)])])])
    value = b.emit(SelectOp, [b.emit(EqualOp, [u, like(b, math.inf, x)]), u, value])
    return b.emit(SelectOp, [b.emit(EqualOp, [u, like(b, 1.0, x)]), x, value])


def sinh(b: GraphBuilder, x: SSAValue) -> SSAValue:
    """(m + m / (m + 1)) / 2 with m = expm1 |x|, with the sign of x. e^(|x| / 2) is squared where e^|x| overflows."""
    size = b.emit(AbsOp, [x])
    m = expm1(b, size)
    ratio = b.emit(DivOp, [m, b.emit(AddOp, [m, like(b, 1.0, x)])])
    small = b.emit(MulOp, [b.emit(AddOp, [m, ratio]), like(b, 0.5, x)])
    value = b.emit(SelectOp, [b.emit(LessThanOp, [size, like(b, 80.0, x)]), small, _half_exp(b, size)])
    value = b.emit(SelectOp, [b.emit(LessThanOp, [x, like(b, 0.0, x)]), b.emit(NegOp, [value]), value])
    return b.emit(SelectOp, [b.emit(EqualOp, [x, like(b, 0.0, x)]), x, value])


def cosh(b: GraphBuilder, x: SSAValue) -> SSAValue:
    """(e^|x| + e^-|x|) / 2."""
    size = b.emit(AbsOp, [x])
    rest = b.emit(MulOp, [b.emit(ExpOp, [b.emit(NegOp, [size])]), like(b, 0.5, x)])
    return b.emit(AddOp, [_half_exp(b, size), rest])


def _half_exp(b: GraphBuilder, x: SSAValue) -> SSAValue:
    half = b.emit(ExpOp, [b.emit(MulOp, [x, like(b, 0.5, x)])])
    return b.emit(MulOp, [b.emit(MulOp, [half, like(b, 0.5, x)]), half])


def sign(b: GraphBuilder, x: SSAValue) -> SSAValue:
    """-1, 0 or 1; 0 for NaN."""
    zero = like(b, 0, x)
    negative = b.emit(SelectOp, [b.emit(LessThanOp, [x, zero]), like(b, -1, x), zero])
    return b.emit(SelectOp, [b.emit(LessThanOp, [zero, x]), like(b, 1, x), negative])


def frac(b: GraphBuilder, x: SSAValue) -> SSAValue:
    """x - trunc(x)."""
    return b.emit(SubOp, [x, b.emit(TruncOp, [x])])


def tan(b: GraphBuilder, x: SSAValue) -> SSAValue:
    """sin x / cos x."""
    return b.emit(DivOp, [b.emit(SinOp, [x]), b.emit(CosOp, [x])])


SIGNED = MappingProxyType({8: I8, 16: I16, 32: I32, 64: I64})


def with_sign(call: Call) -> SSAValue:
    """|self| with the sign bit of other, -0.0 included."""
    b = call.b
    operands = promote(call, ["self", "other"], kind=Kind.INT_TO_FLOAT)
    x, y = operands.operands
    type_ = tensor_of(x)
    bits = SIGNED[type_.dtype.bits]
    raw = b.emit(BitcastOp, [y], dtype=bits.attr)
    negative = b.emit(LessThanOp, [raw, b.constant(0, type_.with_dtype(bits))])
    size = b.emit(AbsOp, [x])
    return b.cast(b.emit(SelectOp, [negative, b.emit(NegOp, [size]), size]), operands.result)


def power(b: GraphBuilder, x: SSAValue, exponent: float) -> SSAValue:
    """x to a constant exponent; the common ones without a logarithm, as PyTorch does."""
    known: dict[float, Formula] = {
        0.0: lambda b, x: like(b, 1, x),
        1.0: lambda b, x: x,
        2.0: lambda b, x: b.emit(MulOp, [x, x]),
        3.0: lambda b, x: b.emit(MulOp, [b.emit(MulOp, [x, x]), x]),
    }
    if tensor_of(x).dtype.is_float:
        known |= {
            0.5: lambda b, x: b.emit(SqrtOp, [x]),
            -0.5: lambda b, x: b.emit(RsqrtOp, [x]),
            -1.0: lambda b, x: b.emit(RecipOp, [x]),
            -2.0: lambda b, x: b.emit(RecipOp, [b.emit(MulOp, [x, x])]),
        }
    if exponent in known:
        return known[exponent](b, x)
    if tensor_of(x).dtype.is_float:
        return general_power(b, x, like(b, exponent, x))
    return _integer_power(b, x, exponent)


def _integer_power(b: GraphBuilder, x: SSAValue, exponent: float) -> SSAValue:
    if exponent < 0 or exponent != int(exponent):
        raise UnsupportedNodeError(f"raises integers to the power {exponent}")
    result, factor, rest = like(b, 1, x), x, int(exponent)
    while rest:
        result = b.emit(MulOp, [result, factor]) if rest & 1 else result
        rest >>= 1
        factor = b.emit(MulOp, [factor, factor]) if rest else factor
    return result


def general_power(b: GraphBuilder, x: SSAValue, y: SSAValue) -> SSAValue:
    """x^y with C's rules."""
    return b.emit(PowOp, [x, y])


def constant_power(call: Call) -> SSAValue:
    """self to a Python number."""
    exponent = call.number("exponent")
    if isinstance(exponent, Expr):
        raise UnsupportedNodeError("has an exponent that depends on a size")
    x = call.b.cast(call.b.cast(call.tensor("self"), call.dtype), call.dtype.compute)
    return call.b.cast(power(call.b, x, float(exponent)), call.dtype)


def tensor_power(call: Call) -> SSAValue:
    """self to the exponent, where at least one of them is a tensor."""
    operands = promote(call, ["self", "exponent"], wide_scalars=True)
    return call.b.cast(general_power(call.b, *operands.operands), operands.result)


HANDLERS: Mapping[str, Handler] = MappingProxyType(
    {
        "aten.expm1.default": formula(expm1),
        "aten.log1p.default": formula(log1p),
        "aten.sinh.default": formula(sinh),
        "aten.cosh.default": formula(cosh),
        "aten.tan.default": formula(tan),
        "aten.sign.default": formula(sign),
        "aten.sgn.default": formula(sign),
        "aten.frac.default": formula(frac),
        "aten.copysign.Tensor": with_sign,
        "aten.copysign.Scalar": with_sign,
        "aten.pow.Tensor_Scalar": constant_power,
        "aten.pow.Tensor_Tensor": tensor_power,
        "aten.pow.Scalar": tensor_power,
    }
)
