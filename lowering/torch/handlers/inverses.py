"""Inverse circular, hyperbolic and error functions as formulas over atan2, log1p and erf."""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType

from ..call import Handler
from .terms import Term, binary, polynomial, unary, when


def asin(x: Term) -> Term:
    """The angle of (sqrt((1 - x) (1 + x)), x); NaN for |x| > 1."""
    return x.atan2(((1.0 - x) * (1.0 + x)).sqrt())


def acos(x: Term) -> Term:
    """Twice the angle of (sqrt(1 + x), sqrt(1 - x)); NaN for |x| > 1."""
    return (1.0 - x).sqrt().atan2((1.0 + x).sqrt()) * 2.0


def atan(x: Term) -> Term:
    """The angle of (1, x)."""
    return x.atan2(1.0)


def asinh(x: Term) -> Term:
    """ln(1 + |x| + x^2 / (1 + sqrt(1 + x^2))) with the sign of x; ln 2|x| where x^2 swallows the rest."""
    size = abs(x)
    square = size * size
    near = (size + square / ((square + 1.0).sqrt() + 1.0)).log1p()
    return when(size < 1e9, near, size.log() + math.log(2.0)).signed_as(x)


def acosh(x: Term) -> Term:
    """ln(1 + t + sqrt(t (t + 2))) with t = x - 1; NaN below 1."""
    t = x - 1.0
    near = (t + (t * (t + 2.0)).sqrt()).log1p()
    value = when(x < 1e9, near, x.log() + math.log(2.0))
    return when(x < 1.0, math.nan, value)


def atanh(x: Term) -> Term:
    """ln(1 + 2|x| / (1 - |x|)) / 2 with the sign of x; infinite at 1, NaN beyond."""
    size = abs(x)
    value = ((size + size) / (1.0 - size)).log1p() * 0.5
    return when(size > 1.0, math.nan, value).signed_as(x)


_CENTRE = ((-0.140543331, 0.914624893, -1.645349621, 0.886226899),
           (0.012229801, -0.329097515, 1.442710462, -2.118377725, 1.0))  # fmt: skip
_TAIL = ((1.641345311, 3.429567803, -1.624906493, -1.970840454), (1.637067800, 3.543889200, 1.0))


def erfinv(y: Term) -> Term:
    """Where erf is y: a rational start, then two steps of Newton's method, as PyTorch computes it. Infinite at 1, NaN
    beyond."""
    size = abs(y)
    z = y * y
    centre = y * polynomial(z, _CENTRE[0]) / polynomial(z, _CENTRE[1])
    z = (-((1.0 - size) / 2.0).log()).sqrt()
    top = polynomial(z, _TAIL[0])
    tail = when(y < 0.0, -top, top) / polynomial(z, _TAIL[1])
    x = when(size <= 0.7, centre, tail)
    for _ in range(2):
        x = x - (x.erf() - y) / ((-(x * x)).exp() * (2.0 / math.sqrt(math.pi)))
    x = when(size.equals(1.0), y * math.inf, x)
    return when(size > 1.0, math.nan, x)


HANDLERS: Mapping[str, Handler] = MappingProxyType(
    {
        "aten.asin.default": unary(asin),
        "aten.acos.default": unary(acos),
        "aten.atan.default": unary(atan),
        "aten.asinh.default": unary(asinh),
        "aten.acosh.default": unary(acosh),
        "aten.atanh.default": unary(atanh),
        "aten.erfinv.default": unary(erfinv),
        "aten.atan2.default": binary(Term.atan2),
    }
)
