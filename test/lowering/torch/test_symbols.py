"""torch's symbolic sizes and guards in Albumen's normal form."""

# torch's own types are partly unknown.
# pyright: basic

from __future__ import annotations

import pytest
import sympy
from torch.utils._sympy.functions import (
    CeilToInt,
    CleanDiv,
    FloorDiv,
    IntTrueDiv,
    Max,
    Min,
    Mod,
    ModularIndexing,
    PythonMod,
)
from torch.utils._sympy.value_ranges import ValueRanges

from albumen.dialects.sym.expr import Expr, ceildiv, constant, floordiv, maximum, minimum, symbol
from albumen.lowering.torch.layout import inverse, memory_order
from albumen.lowering.torch.symbols import SymbolTable
from albumen.lowering.torch.sympy_expressions import expression_of
from albumen.lowering.torch.unsupported import UnsupportedNodeError

pytestmark = pytest.mark.torch
A, B = sympy.symbols("a b", integer=True, positive=True)
a, b = symbol("s0"), symbol("s1")


def leaf(one: sympy.Symbol) -> Expr:
    return {A: a, B: b}[one]


@pytest.mark.parametrize(
    ("torch_form", "expected"),
    [
        (sympy.Integer(7), constant(7)),
        (2 * A * B - 3, a * b * 2 - 3),
        (A**3, a * a * a),
        (FloorDiv(A, 2), floordiv(a, constant(2))),
        (CleanDiv(A, 4), floordiv(a, constant(4))),
        (Mod(A, 8), a - floordiv(a, constant(8)) * 8),
        (PythonMod(A - B, 8), (a - b) % 8),
        (ModularIndexing(A, 4, 8), (a // 4) % 8),
        (Max(A, B + 1), maximum(a, b + 1)),
        (Min(A, 64), minimum(a, 64)),
        (CeilToInt(IntTrueDiv(A, 3)), ceildiv(a, 3)),
    ],
    ids=str,
)
def test_expressions(torch_form: object, expected: object) -> None:
    assert expression_of(torch_form, leaf) is expected


def test_an_inexact_expression_is_refused() -> None:
    with pytest.raises(UnsupportedNodeError, match="no exact integer form"):
        expression_of(sympy.sin(A), leaf)
    with pytest.raises(UnsupportedNodeError, match="depends on data"):
        SymbolTable([A], {}).lift(B)


def table(*guards: object, low: int = 2, high: int | None = None) -> SymbolTable:
    top = sympy.oo if high is None else high
    return SymbolTable([A, B], {one: ValueRanges(low, top) for one in (A, B)}, guards)


def declared(symbols: SymbolTable) -> list[str]:
    return [str(op) for op in symbols.operations()]


def test_ranges() -> None:
    assert declared(table(high=64)) == ["sym.symbol @s0 min 2 max 64", "sym.symbol @s1 min 2 max 64"]
    assert declared(table(A >= 5, B * 2 <= 21)) == ["sym.symbol @s0 min 5", "sym.symbol @s1 min 2 max 10"]


def test_a_multiple_becomes_a_product() -> None:
    symbols = table(sympy.Eq(Mod(A, 4), 0), sympy.Eq(Mod(A, 6), 0))
    assert symbols.lift(FloorDiv(A, 12)) is a
    assert declared(symbols)[0] == "sym.symbol @s0 min 1"


def test_equations_are_solved() -> None:
    symbols = table(sympy.Eq(B, 2 * A + 1), high=99)
    assert symbols.lift(B) is a * 2 + 1
    assert declared(symbols) == ["sym.symbol @s0 min 2 max 49"]
    divided = table(sympy.Eq(Mod(A, 4), 0), sympy.Eq(Mod(B, 4), 0), sympy.Eq(FloorDiv(A, 4), FloorDiv(B, 4)))
    assert divided.lift(A) is divided.lift(B)
    assert len(declared(divided)) == 1


def test_what_cannot_be_solved_stays_a_guard() -> None:
    symbols = table(sympy.Eq(FloorDiv(A, 3), B * B))
    assert any('"=="' in text for text in declared(symbols))
    assert declared(table(A * B >= 100))[-1] == 'sym.guard s0*s1 - 100 ">="'
    assert len(declared(table(A * B >= 4))) == 2  # follows from the ranges


def test_excluded_values() -> None:
    assert declared(table(sympy.Ne(A, 2), sympy.Ne(A, 3)))[0] == "sym.symbol @s0 min 4"
    assert table(sympy.Ne(2 * A, 7)).holes == []
    assert table(sympy.Ne(A, 9)).holes == [a - 9]


def test_memory_orders() -> None:
    def sizes(*values: int) -> list[Expr]:
        return [constant(v) for v in values]

    assert memory_order(sizes(2, 3, 4), sizes(12, 4, 1)) == (0, 1, 2)
    assert memory_order(sizes(2, 3, 4, 5), sizes(60, 1, 15, 3)) == (0, 2, 3, 1)
    assert memory_order(sizes(3, 1, 4), sizes(4, 99, 1)) == (0, 1, 2)
    assert memory_order(sizes(3, 4), sizes(8, 2)) is None
    assert memory_order(sizes(3, 4), sizes(0, 1)) is None
    assert memory_order(sizes(0, 4), sizes(9, 9)) == (0, 1)
    assert memory_order([a, b], [constant(1), a]) == (1, 0)
    assert inverse((0, 2, 3, 1)) == (0, 3, 1, 2)
