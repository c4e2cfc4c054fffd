"""Bessel and Airy functions: the approximations of the Cephes Math Library, every branch computed and one chosen."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from ..call import Handler
from . import special_coefficients as table
from .terms import Term, chebyshev_series, polynomial, unary, when

ROOT_2_OVER_PI = math.sqrt(2.0 / math.pi)


def i0e(x: Term) -> Term:
    """e^-|x| I0(x)."""
    size = abs(x)
    near = chebyshev_series(size * 0.5 - 2.0, table.I0_NEAR)
    far = chebyshev_series(32.0 / size - 2.0, table.I0_FAR) / size.sqrt()
    return when(size <= 8.0, near, far)


def i0(x: Term) -> Term:
    """The modified Bessel function of the first kind and order 0."""
    return abs(x).exp() * i0e(x)


def i1e(x: Term) -> Term:
    """e^-|x| I1(x)."""
    size = abs(x)
    near = chebyshev_series(size * 0.5 - 2.0, table.I1_NEAR) * size
    far = chebyshev_series(32.0 / size - 2.0, table.I1_FAR) / size.sqrt()
    value = when(size <= 8.0, near, far)
    return when(x < 0.0, -value, value)


def i1(x: Term) -> Term:
    """The modified Bessel function of the first kind and order 1."""
    return abs(x).exp() * i1e(x)


def _on_positive(x: Term, value: Term, at_zero: float) -> Term:
    """The value for x > 0; `at_zero` at 0 and NaN below."""
    return when(x.equals(0.0), at_zero, when(x < 0.0, math.nan, value))


def k0e(x: Term) -> Term:
    """e^x K0(x), x > 0."""
    near = chebyshev_series(x * x - 2.0, table.K0_NEAR) - (x * 0.5).log() * i0(x)
    far = chebyshev_series(8.0 / x - 2.0, table.K0_FAR) / x.sqrt()
    return _on_positive(x, when(x <= 2.0, near * x.exp(), far), math.inf)


def k0(x: Term) -> Term:
    """The modified Bessel function of the second kind and order 0."""
    near = chebyshev_series(x * x - 2.0, table.K0_NEAR) - (x * 0.5).log() * i0(x)
    far = (-x).exp() * chebyshev_series(8.0 / x - 2.0, table.K0_FAR) / x.sqrt()
    return _on_positive(x, when(x <= 2.0, near, far), math.inf)


def k1e(x: Term) -> Term:
    """e^x K1(x), x > 0."""
    near = (x * 0.5).log() * i1(x) + chebyshev_series(x * x - 2.0, table.K1_NEAR) / x
    far = chebyshev_series(8.0 / x - 2.0, table.K1_FAR) / x.sqrt()
    return _on_positive(x, when(x <= 2.0, near * x.exp(), far), math.inf)


def k1(x: Term) -> Term:
    """The modified Bessel function of the second kind and order 1."""
    near = (x * 0.5).log() * i1(x) + chebyshev_series(x * x - 2.0, table.K1_NEAR) / x
    far = (-x).exp() * chebyshev_series(8.0 / x - 2.0, table.K1_FAR) / x.sqrt()
    return _on_positive(x, when(x <= 2.0, near, far), math.inf)


def _ratio(x: Term, top: Sequence[float], bottom: Sequence[float]) -> Term:
    return polynomial(x, top) / polynomial(x, bottom)


def _order_0(x: Term, first: Term, second: Term) -> Term:
    """Hankel's expansion sqrt(2 / (pi x)) (P first + 5 / x Q second) for x > 5."""
    z = 25.0 / (x * x)
    p, q = _ratio(z, table.J0_PP, table.J0_PQ), _ratio(z, table.J0_QP, table.J0_QQ)
    return (p * first + 5.0 / x * q * second) * ROOT_2_OVER_PI / x.sqrt()


def _order_1(x: Term, first: Term, second: Term) -> Term:
    inverse = 5.0 / x
    z = inverse * inverse
    p, q = _ratio(z, table.J1_PP, table.J1_PQ), _ratio(z, table.J1_QP, table.J1_QQ)
    return (p * first + inverse * q * second) * ROOT_2_OVER_PI / x.sqrt()


def j0(x: Term) -> Term:
    """The Bessel function of the first kind and order 0; its first two zeros are factors of the near branch."""
    size = abs(x)
    z = size * size
    near = (z - 5.78318596294678452118) * (z - 30.4712623436620863991) * _ratio(z, table.J0_RP, table.J0_RQ)
    near = when(size < 1e-5, 1.0 - z * 0.25, near)
    angle = size - math.pi / 4
    return when(size <= 5.0, near, _order_0(size, angle.cos(), -angle.sin()))


def j1(x: Term) -> Term:
    """The Bessel function of the first kind and order 1; its first two zeros are factors of the near branch."""
    size = abs(x)
    z = size * size
    ratio = _ratio(z, table.J1_RP, table.J1_RQ)
    near = ratio * size * (z - 14.6819706421238932572) * (z - 49.2184563216946036703)
    angle = size - 3 * math.pi / 4
    value = when(size <= 5.0, near, _order_1(size, angle.cos(), -angle.sin()))
    return when(x < 0.0, -value, value)


def y0(x: Term) -> Term:
    """The Bessel function of the second kind and order 0."""
    z = x * x
    near = _ratio(z, table.Y0_YP, table.Y0_YQ) + x.log() * j0(x) * (2.0 / math.pi)
    angle = x - math.pi / 4
    return _on_positive(x, when(x <= 5.0, near, _order_0(x, angle.sin(), angle.cos())), -math.inf)


def y1(x: Term) -> Term:
    """The Bessel function of the second kind and order 1."""
    z = x * x
    near = x * _ratio(z, table.Y1_YP, table.Y1_YQ) + (j1(x) * x.log() - 1.0 / x) * (2.0 / math.pi)
    angle = x - 3 * math.pi / 4
    return _on_positive(x, when(x <= 5.0, near, _order_1(x, angle.sin(), angle.cos())), -math.inf)


def spherical_j0(x: Term) -> Term:
    """sin x / x, by its series near 0; 0 at the infinities."""
    z = x * x
    series = polynomial(z, [(-1.0) ** k / math.factorial(2 * k + 1) for k in range(6, -1, -1)])
    size = abs(x)
    return when(size.equals(math.inf), 0.0, when(size < 0.5, series, x.sin() / x))


def _airy_series(x: Term) -> Term:
    """c1 f(x) - c2 g(x), the two power series in x^3, for |x| < 2.1."""
    f, g = [1.0], [1.0]
    for k in range(1, 20):
        f.append(f[-1] / ((3 * k - 1) * 3 * k))
        g.append(g[-1] / (3 * k * (3 * k + 1)))
    z = x * x * x
    return polynomial(z, f[::-1]) * 0.355028053887817239260 - x * polynomial(z, g[::-1]) * 0.258819403792806798405


def airy(x: Term) -> Term:
    """The Airy function Ai; NaN at the infinities."""
    root = abs(x).sqrt()
    angle = abs(x) * root * (2.0 / 3.0)
    inverse = 1.0 / angle
    square = inverse * inverse
    even = square * _ratio(square, table.AIRY_AFN, table.AIRY_AFD) + 1.0
    odd = inverse * _ratio(square, table.AIRY_AGN, table.AIRY_AGD)
    turned = angle + math.pi / 4
    scale = 0.564189583547756286948
    oscillating = (turned.sin() * even - turned.cos() * odd) * scale / root.sqrt()
    falling = _ratio(inverse, table.AIRY_AN, table.AIRY_AD) * scale / (root.sqrt() * 2.0 * angle.exp())
    value = when(x < -2.09, oscillating, when(x < 2.09, _airy_series(x), falling))
    value = when(x > 103.892, 0.0, value)
    return when(abs(x).equals(math.inf), math.nan, value)


HANDLERS: Mapping[str, Handler] = MappingProxyType(
    {
        "aten.i0.default": unary(i0),
        "aten.special_i0e.default": unary(i0e),
        "aten.special_i1.default": unary(i1),
        "aten.special_i1e.default": unary(i1e),
        "aten.special_modified_bessel_i0.default": unary(i0),
        "aten.special_modified_bessel_i1.default": unary(i1),
        "aten.special_modified_bessel_k0.default": unary(k0),
        "aten.special_modified_bessel_k1.default": unary(k1),
        "aten.special_scaled_modified_bessel_k0.default": unary(k0e, "x"),
        "aten.special_scaled_modified_bessel_k1.default": unary(k1e, "x"),
        "aten.special_bessel_j0.default": unary(j0),
        "aten.special_bessel_j1.default": unary(j1),
        "aten.special_bessel_y0.default": unary(y0),
        "aten.special_bessel_y1.default": unary(y1),
        "aten.special_spherical_bessel_j0.default": unary(spherical_j0, "x"),
        "aten.special_airy_ai.default": unary(airy, "x"),
    }
)
