"""Atoms, the indivisible factors of expressions, and monomials: products of powers of them, in one order."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from .expr import Expr

AtomKey: TypeAlias = tuple[object, ...]
Monomial: TypeAlias = tuple[tuple["Atom", int], ...]
AtomKind: TypeAlias = Literal["symbol", "index", "floordiv", "max"]

_RANK: dict[AtomKind, int] = {"symbol": 0, "index": 1, "floordiv": 2, "max": 3}


class Atom:
    """An indivisible factor: a symbol, an index variable, a floor division or a maximum. Interned, compared by
    identity."""

    __slots__ = ("args", "key", "kind", "name", "number")

    kind: AtomKind
    name: str
    number: int
    args: tuple[Expr, ...]
    key: AtomKey

    def __init__(self, kind: AtomKind, name: str, number: int, args: tuple[Expr, ...]):
        self.kind = kind
        self.name = name
        self.number = number
        self.args = args
        self.key = (_RANK[kind], len(name), name, number, tuple(a.key for a in args))

    def __str__(self) -> str:
        if self.kind == "symbol":
            return self.name
        if self.kind == "index":
            return f"d{self.number}"
        return f"{self.kind}({', '.join(map(str, self.args))})"

    __repr__ = __str__


@cache
def make_atom(kind: AtomKind, name: str = "", number: int = 0, args: tuple[Expr, ...] = ()) -> Atom:
    """The interned atom."""
    return Atom(kind, name, number, args)


def monomial_key(monomial: Monomial) -> AtomKey:
    """Sorts monomials, the leading one first."""
    # Graded lexicographic order: compatible with multiplication, which polynomial division relies on.
    return (-sum(power for _, power in monomial), tuple((atom.key, -power) for atom, power in monomial))


def multiply_monomials(a: Monomial, b: Monomial) -> Monomial:
    """a * b."""
    if not a or not b:
        return a or b
    powers = dict(a)
    for atom, power in b:
        powers[atom] = powers.get(atom, 0) + power
    return tuple(sorted(powers.items(), key=lambda item: item[0].key))


def divide_monomial(a: Monomial, b: Monomial) -> Monomial | None:
    """a / b if every power stays non-negative, else None."""
    powers = dict(a)
    for atom, power in b:
        rest = powers.get(atom, 0) - power
        if rest < 0:
            return None
        if rest:
            powers[atom] = rest
        else:
            powers.pop(atom, None)
    return tuple(sorted(powers.items(), key=lambda item: item[0].key))


def shared_by(monomials: Sequence[Monomial]) -> Monomial:
    """The largest product of powers of symbols that divides every one of the monomials."""
    powers = {atom: power for atom, power in monomials[0] if atom.kind == "symbol"}
    for monomial in monomials[1:]:
        here = dict(monomial)
        powers = {atom: min(power, here[atom]) for atom, power in powers.items() if atom in here}
    return tuple(powers.items())
