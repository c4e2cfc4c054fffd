"""Proving that one size is at most another for all values of the symbols, maxima of sizes among them."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..sym.bounds import Bounds, proves_nonnegative
from ..sym.expr import Expr, monomial_expr
from ..sym.monomial import Atom

MOST_CHOICES = 32
"""Up to how many ways to choose arguments of maxima are tried."""


@dataclass
class Order:
    """What is proven of sizes under some bounds; answers are kept, since a program asks the same again and again."""

    bounds: Bounds
    known: dict[Expr, bool] = field(default_factory=dict[Expr, bool])

    def at_most(self, a: Expr, b: Expr) -> bool:
        """Whether a <= b is proven."""
        difference = b - a
        if difference not in self.known:
            self.known[difference] = proves_at_most(a, b, self.bounds)
        return self.known[difference]


def proves_at_most(a: Expr, b: Expr, bounds: Bounds) -> bool:
    """Whether a <= b is proven. A maximum that is added to b is at least each of its arguments: one choice is
    enough."""
    left = MOST_CHOICES
    stack = [b - a]
    while stack and left:
        left -= 1
        difference = stack.pop()
        if proves_nonnegative(difference, bounds) or proves_nonnegative(_without_divisions(difference), bounds):
            return True
        atom = _added_maximum(difference)
        if atom is not None:
            whole = monomial_expr(((atom, 1),))
            stack += [difference - whole + arg for arg in atom.args]
    return False


def _added_maximum(e: Expr) -> Atom | None:
    """A maximum that stands alone in the sum with a positive factor."""
    for monomial, coefficient in e.terms:
        if coefficient > 0 and len(monomial) == 1 and monomial[0][1] == 1 and monomial[0][0].kind == "max":
            return monomial[0][0]
    return None


def _without_divisions(e: Expr) -> Expr:
    """A multiple of a lower bound of `e`: (p - d + 1) / d <= floordiv(p, d) <= p / d for each division that stands
    alone."""
    for monomial, coefficient in e.terms:
        if len(monomial) != 1 or monomial[0][1] != 1 or monomial[0][0].kind != "floordiv":
            continue
        p, divisor = monomial[0][0].args
        d = divisor.as_int()
        if d is not None:
            nearest = p if coefficient < 0 else p - (d - 1)
            return _without_divisions((e - monomial_expr(monomial, coefficient)) * d + nearest * coefficient)
    return e
