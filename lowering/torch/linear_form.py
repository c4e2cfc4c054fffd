"""Sizes that determine their one symbol."""

from __future__ import annotations

from ...dialects.sym.expr import Expr
from ...dialects.sym.substitute import symbol_names


def linear_form(extent: Expr) -> tuple[str, int, int] | None:
    """(symbol, a, b) of an expression a*symbol + b with a > 0, or None."""
    names = symbol_names(extent)
    rest = (extent - extent.constant_term).terms
    if len(names) != 1 or len(rest) != 1:
        return None
    monomial, scale = rest[0]
    plain = len(monomial) == 1 and monomial[0][1] == 1 and monomial[0][0].kind == "symbol"
    return (names[0], scale, extent.constant_term) if plain and scale > 0 else None
