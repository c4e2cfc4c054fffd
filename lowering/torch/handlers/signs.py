"""Whether a size of the program is known not to be negative, remainders included."""

from __future__ import annotations

from ....dialects.sym.bounds import Bounds, Interval, interval, proves_nonnegative
from ....dialects.sym.expr import Expr, constant, monomial_expr, symbol
from ..call import Call
from ..unsupported import UnsupportedNodeError


def is_negative(call: Call, value: Expr) -> bool:
    """The sign of a size.

    Raises:
        UnsupportedNodeError: it depends on the symbols.
    """
    if _is_nonnegative(value, call.bounds):
        return False
    high = interval(value, call.bounds).high
    if high is None or high >= 0:
        raise UnsupportedNodeError(f"depends on the sign of {value}, which is not known")
    return True


def is_at_most(call: Call, value: Expr, limit: Expr) -> bool:
    """Whether value <= limit is known."""
    return _is_nonnegative(limit - value, call.bounds)


def _is_nonnegative(value: Expr, bounds: Bounds) -> bool:
    return proves_nonnegative(value, bounds) or proves_nonnegative(*_with_remainders(value, bounds))


def _with_remainders(value: Expr, bounds: Bounds) -> tuple[Expr, Bounds]:
    """The value with q * floordiv(p, q) written as p - m for a new symbol m in [0, q)."""
    ranges, total = dict(bounds.symbols), constant(0)
    for monomial, coefficient in value.terms:
        term = monomial_expr(monomial, coefficient)
        atom = monomial_expr(monomial).as_atom()
        divisor = atom.args[1].as_int() if atom is not None and atom.kind == "floordiv" else None
        if atom is not None and divisor is not None and coefficient % divisor == 0:
            name = f"remainder of {atom}"
            ranges[name] = Interval(0, divisor - 1)
            term = (atom.args[0] - symbol(name)) * (coefficient // divisor)
        total = total + term
    return total, Bounds(ranges, bounds.extents)
