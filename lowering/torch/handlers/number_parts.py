"""Functions of the sign, exponent and fraction of numbers: neighbours, scaling by powers of two, signs, angles."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from xdsl.ir import SSAValue

from ....dialects.dtype import DType
from ....dialects.hlir.conversion import BitcastOp
from ....dialects.op import tensor_of
from ..call import Call, Handler
from ..promotion import promote
from ..unsupported import UnsupportedNodeError
from .mathematics import SIGNED
from .terms import Term, binary, unary, when

FRACTION_BITS = MappingProxyType({32: 23, 64: 52})


def bits_of(x: Term) -> Term:
    """The bits of a float as a signed integer."""
    bits = SIGNED[tensor_of(x.value).dtype.bits]
    return Term(x.b, x.b.emit(BitcastOp, [x.value], dtype=bits.attr))


def float_of(bits: Term, dtype: DType) -> Term:
    """The float with these bits."""
    return Term(bits.b, bits.b.emit(BitcastOp, [bits.value], dtype=dtype.attr))


def sign_bit(call: Call) -> SSAValue:
    """Whether the number is negative, -0.0 and NaN by their sign bit."""
    x = Term(call.b, call.tensor("self"))
    dtype = tensor_of(x.value).dtype
    if dtype.is_bool:
        return call.b.constant(False, call.type)
    return ((bits_of(x) if dtype.is_float else x) < 0).value


def next_after(call: Call) -> SSAValue:
    """The neighbour of self in the direction of other: bits count up away from 0 and down towards it."""
    x, y = (Term(call.b, v) for v in promote(call, ["self", "other"]).operands)
    dtype = tensor_of(x.value).dtype
    bits = bits_of(x)
    outwards = (x < y).equals(x > 0.0)
    moved = float_of(bits + when(outwards, bits.lift(1), bits.lift(-1)), dtype)
    smallest = float_of(bits.lift(1), dtype)
    moved = when(x.equals(0.0), when(y < 0.0, -smallest, smallest), moved)
    return when(x.is_nan() | y.is_nan(), math.nan, when(x.equals(y), y, moved)).value


def fraction_and_exponent(call: Call) -> Sequence[SSAValue]:
    """self = fraction * 2^exponent with |fraction| in [1/2, 1); numbers without such a form keep exponent 0."""
    result, exponents = call.fake(0).type, call.fake(1).type
    x = Term(call.b, call.b.cast(call.tensor("self"), result.dtype.compute))
    dtype = tensor_of(x.value).dtype
    width = FRACTION_BITS[dtype.bits]
    bias = (1 << (dtype.bits - 2 - width)) - 1
    size = abs(x)
    subnormal = size < math.ldexp(1.0, 1 - bias)
    bits = bits_of(when(subnormal, x * math.ldexp(1.0, width + 1), x))
    mask = ((1 << (dtype.bits - 1 - width)) - 1) << width
    exponent = bits & bits.lift(mask)
    fraction = float_of((bits & bits.lift(~mask)) | bits.lift((bias - 1) << width), dtype)
    # The exponent as a float, so that no shift is needed: it is a whole number of 2^width.
    power = (exponent.cast(dtype) * math.ldexp(1.0, -width) - float(bias - 1)).cast(exponents.dtype)
    power = power - when(subnormal, power.lift(width + 1), power.lift(0))
    plain = x.equals(0.0) | ~(size < math.inf)
    return [call.b.cast(when(plain, x, fraction).value, result.dtype), when(plain, power.lift(0), power).value]


def hypotenuse(x: Term, y: Term) -> Term:
    """sqrt(x^2 + y^2) without overflow: the larger times sqrt(1 + ratio^2); inf where either is infinite."""
    a, b = abs(x), abs(y)
    swap = a < b
    large, small = when(swap, b, a), when(swap, a, b)
    ratio = small / large
    value = when(large.equals(0.0), large, large * (1.0 + ratio * ratio).sqrt())
    value = when(x.is_nan() | y.is_nan(), math.nan, value)
    return when(a.equals(math.inf) | b.equals(math.inf), math.inf, value)


def angle(x: Term) -> Term:
    """The angle of a real number in the complex plane: pi below 0, else 0; NaN of NaN."""
    return when(x < 0.0, math.pi, when(x.is_nan(), x, 0.0))


def round_decimals(call: Call) -> SSAValue:
    """self 10^d rounded to even, / 10^d; with d < 0 divided first. Integers with d >= 0 are left as they are."""
    decimals = call.integer("decimals")
    source = call.tensor("self")
    if not call.dtype.is_float:
        if decimals < 0:
            raise UnsupportedNodeError("rounds integers to tens, which eager refuses")
        return source
    scale = 10.0 ** abs(decimals)

    def rounded(x: Term) -> Term:
        if decimals == 0:
            return x.round_even()
        return (x * scale).round_even() / scale if decimals > 0 else (x / scale).round_even() * scale

    return unary(rounded)(call)  # pyright: ignore[reportReturnType]


HANDLERS: Mapping[str, Handler] = MappingProxyType(
    {
        "aten.signbit.default": sign_bit,
        "aten.nextafter.default": next_after,
        "aten.frexp.Tensor": fraction_and_exponent,
        "aten.hypot.default": binary(hypotenuse),
        "aten.angle.default": unary(angle),
        "aten.round.decimals": round_decimals,
    }
)
