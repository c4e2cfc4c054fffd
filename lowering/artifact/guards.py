"""The guards of a program as the runtime checks them, with what they say in words."""

from __future__ import annotations

from types import MappingProxyType
from typing import Literal, cast

from ...dialects.host import GuardOp
from ...dialects.sym.expr import Expr, constant, floordiv, monomial_expr
from ...runtime.artifact import Guard


def guard_of(op: GuardOp) -> Guard:
    """The guard of a host.guard."""
    relation = cast("Literal['==', '>=', '!=']", op.relation.data)
    return Guard(str(op.expr.data), relation, in_words(op.expr.data, relation))


def in_words(expr: Expr, relation: str) -> str:
    """What `expr relation 0` demands of the symbols: "s must equal t*2 + 1", "s*t must be at least 100", "s must be a
    multiple of 8"."""
    divided = _remainder(expr) or _remainder(-expr) if relation == "==" else None
    if divided is not None:
        return f"{divided[0]} must be a multiple of {divided[1]}"
    left, right = _sides(expr)
    if left.as_int() is None:
        return f"{left} must {_AT_LEAST[relation]} {right}"
    limit = expr.constant_term
    return f"{limit - expr} must {_AT_MOST[relation]} {limit}"


_AT_LEAST = MappingProxyType({"==": "equal", ">=": "be at least", "!=": "not be"})
_AT_MOST = MappingProxyType({"==": "equal", ">=": "be at most", "!=": "not be"})


def _remainder(expr: Expr) -> tuple[Expr, int] | None:
    """(p, d) if the expression is p mod d for a number d."""
    for monomial, coefficient in expr.terms:
        atom = monomial_expr(monomial).as_atom()
        if atom is not None and atom.kind == "floordiv":
            (dividend, _), divisor = atom.args, -coefficient
            if divisor > 1 and expr == dividend - floordiv(dividend, divisor) * divisor:
                return dividend, divisor
    return None


def _sides(expr: Expr) -> tuple[Expr, Expr]:
    """(a, b) with expr == a - b: terms with a plus sign to the left, the others and the constant to the right."""
    left: Expr = constant(0)
    for monomial, coefficient in expr.terms:
        if monomial and coefficient > 0:
            left = left + monomial_expr(monomial, coefficient)
    return left, left - expr
