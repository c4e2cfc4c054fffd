"""Primitive functions that every math library has and no short formula over the others computes to the last digits."""

import math
from collections.abc import Callable
from typing import ClassVar

import numpy as np
from xdsl.irdl import irdl_op_definition

from ..dtype import FLOATS, I1, I8, I64, INTEGERS
from ..op import Array
from .pointwise import Binary, Unary, samples


def _each(function: Callable[[float], float], x: Array) -> Array:
    """A function of Python's math module on every element, in f64 and rounded once."""
    return np.asarray(np.vectorize(function, otypes=[np.float64])(x)).astype(x.dtype)


@irdl_op_definition
class PowOp(Binary):
    """a^b with C's rules: 1 for b = 0 and for a = 1, NaN for a finite negative a with a fractional b.

    Integers wrap in their own width; with b < 0 the result is that of 1 / a^-b without its fraction, and 0 for a = 0.
    """

    name = "hlir.pow"
    SPELLING: ClassVar = "pow"
    DOMAIN: ClassVar = (*INTEGERS, *FLOATS[:4])
    SAMPLES: ClassVar = (
        *samples(FLOATS[:4], 2, I1, 0.1, 3.0),
        *samples(INTEGERS, 2, I1, 0.0, 9.0)[: len(INTEGERS)],
        *samples((I8, I64), 2, I1, -3.0, 3.0)[:2],
    )

    def function(self, *args: Array) -> Array:
        base, exponent = args
        if base.dtype.kind == "f":
            return np.power(base, exponent)
        result = np.ones_like(base)
        inverse = np.where(base == 1, 1, np.where(base == -1, 1 - 2 * (exponent & 1), 0)).astype(base.dtype)
        negative, rest = exponent < 0, np.where(exponent < 0, 0, exponent)
        while rest.any():
            result = np.where(rest & 1, result * base, result)
            base, rest = base * base, rest >> 1
        return np.where(negative, inverse, result)


@irdl_op_definition
class Atan2Op(Binary):
    """The angle of the point (b, a) in (-pi, pi], signed zeros and infinities as C has them."""

    name = "hlir.atan2"
    SPELLING: ClassVar = "atan2"
    SAMPLES: ClassVar = samples(FLOATS[:4], 2, I1)

    def function(self, *args: Array) -> Array:
        return np.arctan2(args[0], args[1])


@irdl_op_definition
class ErfcOp(Unary):
    """1 - erf(x), with its relative precision for large x."""

    name = "hlir.erfc"
    ATEN: ClassVar = ("aten.erfc.default",)
    SPELLING: ClassVar = "erfc"
    SAMPLES: ClassVar = samples(FLOATS[:4], 1, I1)

    def function(self, *args: Array) -> Array:
        return _each(math.erfc, args[0])


@irdl_op_definition
class LgammaOp(Unary):
    """ln |gamma(x)|; inf at 0, at the negative integers and at the infinities."""

    name = "hlir.lgamma"
    ATEN: ClassVar = ("aten.lgamma.default",)
    SPELLING: ClassVar = "lgamma"
    SAMPLES: ClassVar = samples(FLOATS[:4], 1, I1, 0.1, 9.0)

    def function(self, *args: Array) -> Array:
        return _each(_lgamma, args[0])


def _lgamma(x: float) -> float:
    if math.isinf(x) or (x <= 0 and x == math.floor(x)):
        return math.inf
    try:
        return math.lgamma(x)
    except OverflowError:  # beyond 2.5e305
        return math.inf
