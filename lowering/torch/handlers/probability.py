"""The scaled complementary error function, and the normal distribution."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from xdsl.ir import SSAValue

from ....dialects.dtype import F64
from ..call import Call, Handler
from . import special_coefficients as table
from .terms import Term, polynomial, unary, when


def erfcx(x: Term) -> Term:
    """e^(x^2) erfc(x): as written up to 20, five levels of its continued fraction beyond 50 and nine between."""
    square = x * x
    near = square.exp() * x.erfc()
    fraction = x
    for k in range(18, 0, -1):
        fraction = x + (0.5 * k) / fraction
    far = (1.0 / math.sqrt(math.pi)) / fraction
    return when(x < 20.0, near, far)


def log_ndtr(x: Term) -> Term:
    """ln of the distribution function of a standard normal variable."""
    t = x * math.sqrt(0.5)
    tail = (erfcx(-t) * 0.5).log() - t * t
    return when(x < -1.0, tail, (t.erfc() * -0.5).log1p())


EXP_MINUS_2 = 0.13533528323661269189


def _ratio(x: Term, top: Sequence[float], bottom: Sequence[float]) -> Term:
    return polynomial(x, top) / polynomial(x, bottom)


def ndtri(y0: Term) -> Term:
    """The quantile of a standard normal variable: Cephes' rational approximations of the centre and the tails."""
    upper = y0 > 1.0 - EXP_MINUS_2
    y = when(upper, 1.0 - y0, y0)
    middle = y - 0.5
    square = middle * middle
    centre = middle + middle * (square * _ratio(square, table.NDTRI_P0, table.NDTRI_Q0))
    x = (y.log() * -2.0).sqrt()
    z = 1.0 / x
    near, far = (_ratio(z, *pair) for pair in ((table.NDTRI_P1, table.NDTRI_Q1), (table.NDTRI_P2, table.NDTRI_Q2)))
    tail = x - x.log() / x - z * when(x < 8.0, near, far)
    value = when(y > EXP_MINUS_2, centre * math.sqrt(2.0 * math.pi), when(upper, tail, -tail))
    value = when((y0 < 0.0) | (y0 > 1.0), math.nan, value)
    return when(y0.equals(0.0), -math.inf, when(y0.equals(1.0), math.inf, value))


def logit(call: Call) -> SSAValue:
    """ln(x / (1 - x)) of self, which `eps` keeps in [eps, 1 - eps]. Eager rounds after each step."""
    b, eps = call.b, call.value("eps")
    x = Term(b, b.cast(call.tensor("self"), call.dtype))
    if eps is not None:
        low = x.lift(float(eps))
        high = 1.0 - low
        x = when(x < low, low, when(x > high, high, x))
    return (x / (1.0 - x)).log().value


HANDLERS: Mapping[str, Handler] = MappingProxyType(
    {
        "aten.special_erfcx.default": unary(erfcx, dtype=F64),
        "aten.special_log_ndtr.default": unary(log_ndtr, dtype=F64),
        "aten.logit.default": logit,
        "aten.special_ndtri.default": unary(ndtri),
    }
)
