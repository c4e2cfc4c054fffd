"""The derivatives of ln gamma, and the zeta function of Hurwitz that they are."""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType

from xdsl.ir import SSAValue

from ....dialects.dtype import F64
from ..call import Call, Handler
from . import special_coefficients as table
from .terms import Term, binary, polynomial, unary, when

BERNOULLI = (
    *(1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510),
    *(43867 / 798, -174611 / 330, 854513 / 138, -236364091 / 2730),
)
"""B2, B4, ..., B24."""


def digamma(x: Term) -> Term:
    """The derivative of ln gamma: ten steps of the recurrence, then Stirling's series; reflected below 0.

    -inf at 0, inf at -0.0, NaN at the other poles.
    """
    below = x < 0.0
    size = when(below, 1.0 - x, x)
    small = size < 10.0
    steps = 1.0 / size
    for k in range(1, 10):
        steps = steps + 1.0 / (size + float(k))
    large = when(small, size + 10.0, size)
    z = 1.0 / (large * large)
    series = z * polynomial(z, table.DIGAMMA)
    value = large.log() - 0.5 / large - series - when(small, steps, 0.0)
    part = (x - x.trunc()) * math.pi
    value = when(below, value - math.pi * part.cos() / part.sin(), value)
    value = when(x.equals(x.trunc()) & below, math.nan, value)
    value = when(abs(x).equals(math.inf), when(below, math.nan, x), value)
    return when(x.equals(0.0), -1.0 / x, value)


def trigamma(x: Term) -> Term:
    """The derivative of digamma: six steps of the recurrence, then the series; reflected below 1/2."""
    low = x < 0.5
    sine = (x * math.pi).sin()
    start = when(low, -(math.pi * math.pi) / (sine * sine), 0.0)
    x = when(low, 1.0 - x, x)
    result = start
    for _ in range(6):
        result = result + 1.0 / (x * x)
        x = x + 1.0
    z = 1.0 / (x * x)
    tail = 1.0 + 1.0 / (2.0 * x) + z * (1.0 / 6 - z * (1.0 / 30 - z * (1.0 / 42)))
    result = result + tail / x
    return when(low, -result, result)


def _zeta_of_positive(s: Term, q: Term) -> Term:
    """The sum of (q + k)^-s for q > 0: nine terms and the formula of Euler and Maclaurin."""
    total, a, last = q ** (-s), q, q
    for _ in range(9):
        a = a + 1.0
        last = a ** (-s)
        total = total + last
    total = total + last * a / (s - 1.0) - last * 0.5
    factor, power = s, last / a
    for k, bernoulli in enumerate(BERNOULLI, 1):
        total = total + factor * power * (bernoulli / math.factorial(2 * k))
        factor = factor * (s + (2.0 * k - 1.0)) * (s + 2.0 * k)
        power = power / (a * a)
    return when(a.equals(math.inf), 0.0, total)


def zeta(s: Term, q: Term) -> Term:
    """The sum over k >= 0 of (q + k)^-s; inf for s = 1 and at the poles of q, NaN for s < 1, and for q < 0 unless s is
    whole.

    For q < 0 the terms with q + k < 0 are a difference of two such sums over positive numbers.
    """
    whole = s.equals(s.floor())
    even = (s * 0.5).equals((s * 0.5).floor())
    positive = q > 0.0
    part = -q - (-q).floor()
    ahead = _zeta_of_positive(s, when(positive, q, 1.0 - part))
    behind = _zeta_of_positive(s, when(positive, 1.0, part)) - _zeta_of_positive(s, when(positive, 1.0, 1.0 - q))
    value = when(positive, ahead, ahead + when(even, behind, -behind))
    pole = q.equals(q.floor())
    value = when(positive, value, when(pole, math.inf, when(whole, value, math.nan)))
    value = when(s.equals(1.0), math.inf, when(s < 1.0, math.nan, value))
    return when(s.is_nan() | q.is_nan(), math.nan, value)


def polygamma(call: Call) -> SSAValue:
    """The derivative of order n of digamma: (-1)^(n+1) n! zeta(n + 1, x)."""
    n = call.integer("n")
    if n < 2:
        return unary(digamma if n == 0 else trigamma)(call)  # pyright: ignore[reportReturnType]

    def higher(x: Term) -> Term:
        return zeta(x.lift(float(n + 1)), x) * ((-1.0) ** (n + 1) * math.factorial(n))

    return unary(higher, dtype=F64)(call)  # pyright: ignore[reportReturnType]


_ZETA = binary(zeta, dtype=F64)

HANDLERS: Mapping[str, Handler] = MappingProxyType(
    {
        "aten.digamma.default": unary(digamma),
        "aten.polygamma.default": polygamma,
        "aten.special_zeta.default": _ZETA,
        "aten.special_zeta.self_scalar": _ZETA,
        "aten.special_zeta.other_scalar": _ZETA,
    }
)
