"""What ranges of symbols and index variables prove about expressions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import gcd

from .expr import Expr, constant, floordiv, lift, maximum, monomial_expr, replace_atoms, symbol
from .monomial import Atom, Monomial, divide_monomial
from .substitute import substitute_indices, substitute_symbols, symbol_names


@dataclass(frozen=True)
class Interval:
    """Inclusive integer bounds; None is unbounded on that side."""

    low: int | None = None
    high: int | None = None

    def __add__(self, other: Interval) -> Interval:
        return Interval(_sum(self.low, other.low), _sum(self.high, other.high))

    def scaled(self, by: int) -> Interval:
        low = None if self.low is None else self.low * by
        high = None if self.high is None else self.high * by
        return Interval(low, high) if by >= 0 else Interval(high, low)

    def times(self, other: Interval) -> Interval:
        """The product; an unbounded side is kept only where both factors are non-negative."""
        if self.low is not None and self.high is not None and other.low is not None and other.high is not None:
            corners = [a * b for a in (self.low, self.high) for b in (other.low, other.high)]
            return Interval(min(corners), max(corners))
        if self.low is None or other.low is None or self.low < 0 or other.low < 0:
            return Interval()
        high = None if self.high is None or other.high is None else self.high * other.high
        return Interval(self.low * other.low, high)


def _sum(a: int | None, b: int | None) -> int | None:
    return None if a is None or b is None else a + b


NON_NEGATIVE = Interval(0, None)


@dataclass(frozen=True)
class Bounds:
    """Ranges of symbols (default: non-negative) and extents of index variables (d_i runs over [0, extents[i]))."""

    symbols: Mapping[str, Interval] = field(default_factory=dict[str, Interval])
    extents: tuple[Expr, ...] = ()

    def of_symbol(self, name: str) -> Interval:
        return self.symbols.get(name, NON_NEGATIVE)


def interval(e: Expr, bounds: Bounds) -> Interval:
    """Interval arithmetic over the terms of `e`."""
    total = Interval(0, 0)
    for monomial, coefficient in e.terms:
        product = Interval(1, 1)
        for atom, power in monomial:
            factor = _atom_interval(atom, bounds)
            for _ in range(power):
                product = product.times(factor)
        total = total + product.scaled(coefficient)
    return total


def _atom_interval(atom: Atom, bounds: Bounds) -> Interval:
    if atom.kind == "symbol":
        return bounds.of_symbol(atom.name)
    if atom.kind == "index":
        if atom.number >= len(bounds.extents):
            return NON_NEGATIVE
        high = interval(bounds.extents[atom.number] - 1, Bounds(bounds.symbols)).high
        return Interval(0, None if high is None else max(high, 0))
    parts = [interval(arg, bounds) for arg in atom.args]
    if atom.kind == "max":
        lows = [p.low for p in parts if p.low is not None]
        highs = [p.high for p in parts]
        return Interval(max(lows, default=None), None if None in highs else max(h for h in highs if h is not None))
    return _floordiv_interval(*parts)


def _floordiv_interval(p: Interval, d: Interval) -> Interval:
    low_divisor = max(d.low or 1, 1)
    if p.low is None:
        low = None
    elif p.low >= 0:
        low = 0 if d.high is None else p.low // d.high
    else:
        low = p.low // low_divisor
    if p.high is None:
        high = None
    elif p.high >= 0:
        high = p.high // low_divisor
    else:
        high = -1 if d.high is None else p.high // d.high
    return Interval(low, high)


def proves_nonnegative(e: Expr, bounds: Bounds) -> bool:
    """Whether `e` >= 0 for all values in range. Index variables go to their worst ends first, symbolically, so that
    s*d0 <= s*(n - 1) cancels exactly; the rest is interval arithmetic."""
    worst = _worst_case(e, bounds)
    low = interval(worst, bounds).low
    if low is not None and low >= 0:
        return True
    return _nonnegative_after_shift(worst, bounds) or _nonnegative_without_quotient(worst, bounds)


def _nonnegative_without_quotient(e: Expr, bounds: Bounds) -> bool:
    """The proof for d * e after writing the most nested quotient c*floordiv(p, d) of `e` as its smallest rational
    value: c*p/d for c < 0, c*(p - d + 1)/d for c > 0. So n*40 - floordiv(n*5, 8)*64 >= 0 cancels exactly."""
    found: tuple[int, Monomial, int] | None = None
    for monomial, coefficient in e.terms:
        depth = _quotient_depth(monomial)
        if depth and (found is None or depth > found[0]):
            found = depth, monomial, coefficient
    if found is None:
        return False
    _, monomial, coefficient = found
    dividend, divisor = monomial[0][0].args
    number = divisor.constant_term
    least = dividend if coefficient < 0 else dividend - (number - 1)
    rest = e - monomial_expr(monomial, coefficient)
    return proves_nonnegative(rest * number + least * coefficient, bounds)


def _quotient_depth(monomial: Monomial) -> int:
    """How deep atoms are nested in a quotient by a positive number that stands alone; 0 for any other monomial."""
    atom, power = monomial[0] if len(monomial) == 1 else (None, 0)
    if atom is None or power != 1 or atom.kind != "floordiv" or (atom.args[1].as_int() or 0) <= 0:
        return 0
    return _depth(atom)


def _depth(atom: Atom) -> int:
    return 1 + max((_depth(inner) for arg in atom.args for inner in arg.atoms()), default=0)


def _nonnegative_after_shift(e: Expr, bounds: Bounds) -> bool:
    """Interval arithmetic after writing each symbol as its minimum plus a non-negative rest: s*t - t - s + 1 at s, t
    >= 1."""
    shifts = {n: bounds.of_symbol(n).low for n in symbol_names(e)}
    if not any(shifts.values()):
        return False
    shifted = substitute_symbols(e, {n: symbol(n) + low for n, low in shifts.items() if low})
    moved = {n: _shift(bounds.of_symbol(n), low or 0) for n, low in shifts.items()}
    low = interval(shifted, Bounds(moved, bounds.extents)).low
    return low is not None and low >= 0


def _shift(range_: Interval, by: int) -> Interval:
    return Interval(0, None if range_.high is None else range_.high - by)


def _worst_case(e: Expr, bounds: Bounds) -> Expr:
    """`e` with each index variable that occurs linearly and with one sign put at the end that makes `e` smallest."""
    for number, extent in enumerate(bounds.extents):
        sign = _linear_sign(e, number, bounds)
        if sign:
            e = substitute_indices(e, {number: constant(0) if sign > 0 else extent - 1})
    return e


def _linear_sign(e: Expr, number: int, bounds: Bounds) -> int:
    """+1 or -1 if d<number> occurs only at the top level, linearly, times things known non-negative, always with that
    sign."""
    sign = 0
    for monomial, coefficient in e.terms:
        for atom, power in monomial:
            if atom.kind == "index" and atom.number == number:
                if power != 1 or (_sign(coefficient) * sign) < 0:
                    return 0
                rest = divide_monomial(monomial, ((atom, 1),))
                low = interval(monomial_expr(rest or ()), bounds).low
                if low is None or low < 0:
                    return 0
                sign = _sign(coefficient)
            elif any(inner.kind == "index" and inner.number == number for arg in atom.args for inner in arg.atoms()):
                return 0
    return sign


def _sign(value: int) -> int:
    return (value > 0) - (value < 0)


def proves_less(a: Expr | int, b: Expr | int, bounds: Bounds) -> bool:
    """Whether a < b for all values in range."""
    return proves_nonnegative(lift(b) - lift(a) - 1, bounds)


def simplify(e: Expr, bounds: Bounds) -> Expr:
    """`e` without the floor divisions and maxima that the bounds decide."""
    if not any(atom.kind in ("floordiv", "max") for atom in e.atoms()):
        return e
    return replace_atoms(e, lambda atom: _simplify_atom(atom, bounds))


def _simplify_atom(atom: Atom, bounds: Bounds) -> Expr:
    if atom.kind == "max":
        return _simplify_max([simplify(arg, bounds) for arg in atom.args], bounds)
    if atom.kind == "floordiv":
        return _simplify_floordiv(simplify(atom.args[0], bounds), simplify(atom.args[1], bounds), bounds)
    return monomial_expr(((atom, 1),))


def _simplify_max(args: list[Expr], bounds: Bounds) -> Expr:
    kept: list[Expr] = []
    for position, arg in enumerate(args):
        others = kept + args[position + 1 :]
        if not any(proves_nonnegative(other - arg, bounds) for other in others):
            kept.append(arg)
    return maximum(*kept)


def _simplify_floordiv(p: Expr, divisor: Expr, bounds: Bounds) -> Expr:
    whole = floordiv(p, divisor)
    atom = whole.as_atom()
    if atom is None or atom.kind != "floordiv" or atom.args != (p, divisor):
        return simplify(whole, bounds)
    if proves_nonnegative(p, bounds) and proves_less(p, divisor, bounds):
        return constant(0)
    span = interval(p, bounds)
    d = divisor.as_int()
    if d is not None and span.low is not None and span.high is not None and span.low // d == span.high // d:
        return constant(span.low // d)
    reduced = _without_remainder(p, divisor, bounds)
    return simplify(floordiv(reduced, divisor), bounds) if reduced is not None else whole


def _without_remainder(p: Expr, divisor: Expr, bounds: Bounds) -> Expr | None:
    """p without the part below a common factor g of the divisor: floor((g*a + r) / (g*b)) = floor(a / b) for 0 <= r <
    g."""
    if len(divisor.terms) != 1:
        return None
    for monomial, coefficient in p.terms:
        factor = _common_factor(monomial, coefficient, divisor)
        if factor.as_int() == 1:
            continue
        rest = constant(0)
        for m, c in p.terms:
            term = monomial_expr(m, c)
            if (term - factor * floordiv(term, factor)).terms:
                rest = rest + term
        if rest.terms and proves_nonnegative(rest, bounds) and proves_less(rest, factor, bounds):
            return p - rest
    return None


def _common_factor(monomial: Monomial, coefficient: int, divisor: Expr) -> Expr:
    other, other_coefficient = divisor.terms[0]
    powers = dict(other)
    shared = tuple((atom, min(power, powers[atom])) for atom, power in monomial if atom in powers)
    return monomial_expr(shared, gcd(coefficient, other_coefficient))
