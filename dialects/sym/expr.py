"""Integer expressions in polynomial normal form; equal polynomials are one interned object.

An expression is a sum of integer multiples of monomials; a monomial is a product of powers of atoms. Atoms are symbols,
index variables, floordiv(p, q) with q > 0, and max(...). mod, ceildiv and min are derived, so (s // 8) * 8 + s % 8 is
s.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from math import gcd
from typing import TypeAlias, Union

from .monomial import Atom, AtomKey, Monomial, divide_monomial, make_atom, monomial_key, multiply_monomials, shared_by

Term: TypeAlias = tuple[Monomial, int]
IntLike: TypeAlias = Union["Expr", int]


class Expr:
    """A polynomial with integer coefficients. Build with `symbol`, `index`, `constant` and the operators; never
    directly."""

    __slots__ = ("_hash", "key", "terms")

    terms: tuple[Term, ...]
    key: AtomKey

    def __init__(self, terms: tuple[Term, ...]):
        self.terms = terms
        self.key = tuple((monomial_key(m), c) for m, c in terms)
        self._hash = hash(self.key)

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return self is other

    def as_int(self) -> int | None:
        """The value if this is a constant, else None."""
        if not self.terms:
            return 0
        if len(self.terms) == 1 and not self.terms[0][0]:
            return self.terms[0][1]
        return None

    def as_atom(self) -> Atom | None:
        """The atom if this is exactly one atom, else None."""
        if len(self.terms) != 1:
            return None
        monomial, coefficient = self.terms[0]
        if coefficient != 1 or len(monomial) != 1 or monomial[0][1] != 1:
            return None
        return monomial[0][0]

    @property
    def constant_term(self) -> int:
        """The coefficient of the empty monomial."""
        return self.terms[-1][1] if self.terms and not self.terms[-1][0] else 0

    def atoms(self) -> Iterator[Atom]:
        """Every atom, the ones inside floordiv and max included, with repeats."""
        for monomial, _ in self.terms:
            for atom, _ in monomial:
                yield atom
                for arg in atom.args:
                    yield from arg.atoms()

    def __add__(self, other: IntLike) -> Expr:
        terms = dict(self.terms)
        for monomial, coefficient in lift(other).terms:
            terms[monomial] = terms.get(monomial, 0) + coefficient
        return _make(terms)

    __radd__ = __add__

    def __neg__(self) -> Expr:
        return _intern(tuple((m, -c) for m, c in self.terms))

    def __sub__(self, other: IntLike) -> Expr:
        return self + (-lift(other))

    def __rsub__(self, other: IntLike) -> Expr:
        return lift(other) - self

    def __mul__(self, other: IntLike) -> Expr:
        terms: dict[Monomial, int] = {}
        for m1, c1 in self.terms:
            for m2, c2 in lift(other).terms:
                product = multiply_monomials(m1, m2)
                terms[product] = terms.get(product, 0) + c1 * c2
        return _make(terms)

    __rmul__ = __mul__

    def __floordiv__(self, other: IntLike) -> Expr:
        return floordiv(self, lift(other))

    def __rfloordiv__(self, other: IntLike) -> Expr:
        return floordiv(lift(other), self)

    def __mod__(self, other: IntLike) -> Expr:
        divisor = lift(other)
        return self - divisor * floordiv(self, divisor)

    def __str__(self) -> str:
        return _text(self)

    __repr__ = __str__


@cache
def _intern(terms: tuple[Term, ...]) -> Expr:
    return Expr(terms)


def _make(terms: Mapping[Monomial, int]) -> Expr:
    kept = [(m, c) for m, c in terms.items() if c]
    if len(kept) > 1:
        kept.sort(key=lambda term: monomial_key(term[0]))
    return _intern(tuple(kept))


@cache
def symbol(name: str) -> Expr:
    """The symbol `name`, an unknown integer of the program."""
    return _intern(((((make_atom("symbol", name), 1),), 1),))


@cache
def index(number: int) -> Expr:
    """The index variable d<number> of a map."""
    return _intern(((((make_atom("index", "", number), 1),), 1),))


@cache
def constant(value: int) -> Expr:
    """The integer `value`."""
    return _intern((((), value),) if value else ())


def lift(value: IntLike) -> Expr:
    """An expression from an expression or an int."""
    return value if isinstance(value, Expr) else constant(value)


def monomial_expr(monomial: Monomial, coefficient: int = 1) -> Expr:
    """coefficient * monomial."""
    return _make({monomial: coefficient})


def replace_atoms(e: Expr, value_of: Callable[[Atom], Expr]) -> Expr:
    """`e` with each atom of its monomials replaced by its value; what stands inside an atom is the caller's to do."""
    total = constant(0)
    for monomial, coefficient in e.terms:
        term = constant(coefficient)
        for atom, power in monomial:
            factor = value_of(atom)
            for _ in range(power):
                term = term * factor
        total = total + term
    return total


def _content(e: Expr) -> int:
    content = 0
    for _, coefficient in e.terms:
        content = gcd(content, coefficient)
    return content


def _divide(p: Expr, divisor: Expr) -> tuple[Expr, Expr]:
    """(q, r) with p = q * divisor + r as polynomials, taking out what the leading term of the divisor divides."""
    lead, lead_coefficient = divisor.terms[0]
    single = len(divisor.terms) == 1
    quotient, work = constant(0), p
    rest: dict[Monomial, int] = {}
    while work.terms:
        monomial, coefficient = work.terms[0]
        factor = divide_monomial(monomial, lead)
        times, left = divmod(coefficient, lead_coefficient)
        if factor is None or times == 0 or (left and not single):
            left = coefficient
            work = work - monomial_expr(monomial, coefficient)
        else:
            step = monomial_expr(factor, times)
            quotient = quotient + step
            work = work - step * divisor - monomial_expr(monomial, left)
        if left:
            rest[monomial] = rest.get(monomial, 0) + left
    return quotient, _make(rest)


def floordiv(p: IntLike, divisor: IntLike) -> Expr:
    """floor(p / divisor) for a positive divisor, with every whole multiple of the divisor taken out.

    Raises:
        ZeroDivisionError: the divisor is a constant that is not positive.
    """
    return _floordiv(lift(p), lift(divisor))


@cache
def _floordiv(p: Expr, divisor: Expr) -> Expr:
    d = divisor.as_int()
    if d is not None and d <= 0:
        raise ZeroDivisionError(f"floordiv({p}, {divisor}): the divisor must be positive")
    if d == 1:
        return p
    quotient, rest = _divide(p, divisor)
    value = rest.as_int()
    if value == 0 or (value is not None and d is not None):
        return quotient + (value // d if value and d else 0)
    common = gcd(_content(rest), _content(divisor))
    shared = shared_by([monomial for e in (rest, divisor) for monomial, _ in e.terms])
    if common > 1 or shared:
        return quotient + floordiv(_scale_down(rest, common, shared), _scale_down(divisor, common, shared))
    if d is not None:
        return quotient + _floordiv_constant(rest, d)
    return quotient + _floordiv_nested(rest, divisor)


def _scale_down(e: Expr, by: int, shared: Monomial) -> Expr:
    return _intern(tuple((divide_monomial(m, shared) or (), c // by) for m, c in e.terms))


def _floordiv_constant(p: Expr, d: int) -> Expr:
    """floor((g*p' + k) / (g*d')) = floor((p' + k // g) / d'): the constant cannot carry into a multiple of g."""
    common = d
    for monomial, coefficient in p.terms:
        if monomial:
            common = gcd(common, coefficient)
    if common > 1:
        varying = _intern(tuple((m, c // common) for m, c in p.terms if m))
        return floordiv(varying + p.constant_term // common, constant(d // common))
    return _floordiv_nested(p, constant(d))


def _floordiv_nested(p: Expr, divisor: Expr) -> Expr:
    """floor((x // a + n) / b) = floor((x + n*a) / (a*b)) where p has one floor division, with coefficient 1."""
    quotients = [(m, c) for m, c in p.terms if any(atom.kind == "floordiv" for atom, _ in m)]
    if len(quotients) == 1:
        inner = monomial_expr(*quotients[0]).as_atom()
        if inner is not None:
            x, a = inner.args
            return floordiv(x + a * (p - monomial_expr(*quotients[0])), a * divisor)
    return _intern(((((make_atom("floordiv", args=(p, divisor)), 1),), 1),))


def ceildiv(p: IntLike, divisor: IntLike) -> Expr:
    """ceil(p / divisor) for a positive divisor."""
    return -floordiv(-lift(p), lift(divisor))


def maximum(*values: IntLike) -> Expr:
    """The largest of the values; those that differ by a constant are decided here."""
    flat: list[Expr] = []
    for value in map(lift, values):
        atom = value.as_atom()
        flat.extend(atom.args if atom is not None and atom.kind == "max" else (value,))
    offsets: dict[Expr, int] = {}
    for value in flat:
        base = value - value.constant_term
        offsets[base] = max(offsets.get(base, value.constant_term), value.constant_term)
    kept = sorted((base + offset for base, offset in offsets.items()), key=lambda e: e.key)
    if len(kept) == 1:
        return kept[0]
    return _intern(((((make_atom("max", args=tuple(kept)), 1),), 1),))


def minimum(*values: IntLike) -> Expr:
    """The smallest of the values."""
    return -maximum(*(-lift(value) for value in values))


def _term_text(monomial: Monomial, coefficient: int) -> str:
    body = "*".join(str(atom) for atom, power in monomial for _ in range(power))
    if not body:
        return str(coefficient)
    return body if coefficient == 1 else f"{body}*{coefficient}"


@cache
def _text(e: Expr) -> str:
    if not e.terms:
        return "0"
    text = ""
    for position, (monomial, coefficient) in enumerate(e.terms):
        sign = "-" if coefficient < 0 else "+"
        if position:
            text += f" {sign} "
        elif coefficient < 0:
            text += "-"
        text += _term_text(monomial, abs(coefficient))
    return text
