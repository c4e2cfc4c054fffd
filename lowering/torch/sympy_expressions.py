"""sympy's integer expressions, as torch writes sizes, in Albumen's normal form."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce
from types import MappingProxyType
from typing import Any

import sympy
from torch.utils._sympy.functions import (
    CeilDiv,
    CeilToInt,
    CleanDiv,
    FloorDiv,
    FloorToInt,
    Identity,
    IntTrueDiv,
    Max,
    Min,
    Mod,
    ModularIndexing,
    PowByNatural,
    PythonMod,
    TruncToInt,
)

from ...dialects.sym.expr import Expr, ceildiv, constant, floordiv, maximum, minimum
from .unsupported import UnsupportedNodeError

Leaf = Callable[[sympy.Symbol], Expr]
Rule = Callable[[Any, Leaf], Expr]


def expression_of(value: Any, leaf: Leaf) -> Expr:
    """The expression that equals `value` for all values of its symbols; `leaf` gives the meaning of a symbol.

    Raises:
        UnsupportedNodeError: the expression has no exact counterpart.
    """
    if isinstance(value, int):
        return constant(value)
    if value.is_Integer:
        return constant(int(value))
    if isinstance(value, sympy.Symbol):
        return leaf(value)
    kind: type = type(value)  # pyright: ignore[reportUnknownVariableType]
    rule = RULES.get(kind)
    if rule is None:
        raise UnsupportedNodeError(f"computes the size {value}, which has no exact integer form")
    try:
        return rule(value, leaf)
    except ZeroDivisionError:
        raise UnsupportedNodeError(f"computes the size {value}, which divides by a number below 1") from None


def _arguments(value: Any, leaf: Leaf) -> list[Expr]:
    return [expression_of(arg, leaf) for arg in value.args]


def _product(value: Any, leaf: Leaf) -> Expr:
    return reduce(lambda a, b: a * b, _arguments(value, leaf))


def _power(value: Any, leaf: Leaf) -> Expr:
    base, exponent = value.args
    if not (exponent.is_Integer and int(exponent) >= 0):
        raise UnsupportedNodeError(f"computes the size {value}, whose exponent is no natural number")
    return reduce(lambda a, b: a * b, [expression_of(base, leaf)] * int(exponent), constant(1))


def _modulo(value: Any, leaf: Leaf) -> Expr:
    dividend, divisor = _arguments(value, leaf)
    return dividend - divisor * floordiv(dividend, divisor)


def _modular_indexing(value: Any, leaf: Leaf) -> Expr:
    base, divisor, modulus = _arguments(value, leaf)
    quotient = floordiv(base, divisor)
    return quotient - modulus * floordiv(quotient, modulus)


def _rounded_quotient(value: Any, leaf: Leaf) -> Expr:
    (quotient,) = value.args
    if not isinstance(quotient, IntTrueDiv):
        raise UnsupportedNodeError(f"computes the size {value} in floating point")
    dividend, divisor = _arguments(quotient, leaf)
    return ceildiv(dividend, divisor) if isinstance(value, CeilToInt) else floordiv(dividend, divisor)


RULES: Mapping[type, Rule] = MappingProxyType(
    {
        sympy.Add: lambda value, leaf: reduce(lambda a, b: a + b, _arguments(value, leaf)),
        sympy.Mul: _product,
        sympy.Pow: _power,
        PowByNatural: _power,
        FloorDiv: lambda value, leaf: floordiv(*_arguments(value, leaf)),
        CleanDiv: lambda value, leaf: floordiv(*_arguments(value, leaf)),
        CeilDiv: lambda value, leaf: ceildiv(*_arguments(value, leaf)),
        Mod: _modulo,
        PythonMod: _modulo,
        ModularIndexing: _modular_indexing,
        Max: lambda value, leaf: maximum(*_arguments(value, leaf)),
        Min: lambda value, leaf: minimum(*_arguments(value, leaf)),
        sympy.Max: lambda value, leaf: maximum(*_arguments(value, leaf)),
        sympy.Min: lambda value, leaf: minimum(*_arguments(value, leaf)),
        Identity: lambda value, leaf: expression_of(value.args[0], leaf),
        FloorToInt: _rounded_quotient,
        TruncToInt: _rounded_quotient,
        CeilToInt: _rounded_quotient,
    }
)
"""sympy class -> its meaning. Sizes are not negative, so truncation rounds as floor does."""
