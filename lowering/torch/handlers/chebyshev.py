"""Chebyshev polynomials of the four kinds, at x and shifted to [0, 1], in closed form: circular functions of the angle
inside [-1, 1], hyperbolic ones outside."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from ....dialects.dtype import F64
from ..call import Handler
from .inverses import acos, acosh
from .terms import Term, binary, when

Kind = Callable[[Term, Term], Term]


def _sinh(x: Term) -> Term:
    m = x.expm1()
    return (m + m / (m + 1.0)) * 0.5


def _cosh(x: Term) -> Term:
    return (x.exp() + (-x).exp()) * 0.5


def _even_ratio(x: Term, order: Term, part: float) -> Term:
    """cos(order t) / cos(part t) for x = cos t in [0, 1], continued beyond 1."""
    inside, outside = acos(x), acosh(x)
    circular = (inside * order).cos() / (inside * part).cos()
    return when(x <= 1.0, circular, _cosh(outside * order) / _cosh(outside * part))


def _odd_ratio(x: Term, order: Term, part: float) -> Term:
    """sin(order t) / sin(part t) for x = cos t in [0, 1], continued beyond 1; order / part at 1."""
    inside, outside = acos(x), acosh(x)
    circular = (inside * order).sin() / (inside * part).sin()
    value = when(x < 1.0, circular, _sinh(outside * order) / _sinh(outside * part))
    return when(x.equals(1.0), order * (1.0 / part), value)


def first_kind(x: Term, n: Term) -> Term:
    return _even_ratio(x, n, 0.0)


def second_kind(x: Term, n: Term) -> Term:
    return _odd_ratio(x, n + 1.0, 1.0)


def third_kind(x: Term, n: Term) -> Term:
    return _even_ratio(x, n + 0.5, 0.5)


def fourth_kind(x: Term, n: Term) -> Term:
    return _odd_ratio(x, n + 0.5, 0.5)


RECURRED = 8
"""The highest degree that comes from p_k = 2 x p_(k-1) - p_(k-2), exact for small whole numbers; as eager's inside
[-1, 1]."""


def _low_degrees(x: Term, n: Term, first: Term, value: Term) -> Term:
    """The value for n > RECURRED, else the n-th of 1, first, ... by the recurrence."""
    before, last = x.lift(1.0), first
    value = when(n.equals(0.0), 1.0, when(n.equals(1.0), first, value))
    for k in range(2, RECURRED + 1):
        before, last = last, (x + x) * last - before
        value = when(n.equals(float(k)), last, value)
    return value


def chebyshev(kind: Kind, mirrored: Kind, first: Callable[[Term], Term], *, shifted: bool = False) -> Handler:
    """The polynomial of degree trunc(n), 0 for negative n and for what is no degree: (-1)^n times the mirrored kind of
    -x for x < 0; `first` is that of degree 1."""

    def polynomial(x: Term, degree: Term) -> Term:
        n = degree.trunc()
        if shifted:
            x = x + x - 1.0
        size = abs(x)
        half = n * 0.5
        even = half.equals(half.floor())
        below = mirrored(size, n)
        value = when(x < 0.0, when(even, below, -below), kind(size, n))
        value = _low_degrees(x, n, first(x), value)
        return when((n >= 0.0) & (n < 2.0**63), value, 0.0)

    return binary(polynomial, ("x", "n"), dtype=F64)


KINDS: Mapping[str, tuple[Kind, Kind, Callable[[Term], Term]]] = MappingProxyType(
    {
        "t": (first_kind, first_kind, lambda x: x),
        "u": (second_kind, second_kind, lambda x: x + x),
        "v": (third_kind, fourth_kind, lambda x: x + x - 1.0),
        "w": (fourth_kind, third_kind, lambda x: x + x + 1.0),
    }
)

HANDLERS: Mapping[str, Handler] = MappingProxyType(
    {
        f"aten.special_{prefix}chebyshev_polynomial_{letter}.{overload}": chebyshev(*kinds, shifted=bool(prefix))
        for letter, kinds in KINDS.items()
        for prefix in ("", "shifted_")
        for overload in ("default", "x_scalar", "n_scalar")
    }
)
