"""Polynomials against plain integer arithmetic: construction, text, bounds, simplification."""

from collections.abc import Callable
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin
from xdsl.parser import Parser

from albumen.dialects.sym.bounds import Bounds, Interval, interval, proves_less, proves_nonnegative, simplify
from albumen.dialects.sym.dialect import SYM, ExprAttr
from albumen.dialects.sym.expr import Expr, ceildiv, constant, floordiv, index, lift, maximum, minimum, symbol
from albumen.dialects.sym.substitute import evaluate, substitute_indices, substitute_symbols

s, t = symbol("s"), symbol("t")
d0, d1, d2 = (index(i) for i in range(3))


Values = tuple[int, int, int, int]
"""Values of s, t, d0 and d1."""


@dataclass(frozen=True)
class Case:
    """An expression, and the same computed by Python."""

    expr: Expr
    value: Callable[[Values], int]


def leaf(expr: Expr, position: int) -> Case:
    return Case(expr, lambda values: values[position])


def literal(number: int) -> Case:
    return Case(constant(number), lambda values: number)


LEAVES = st.sampled_from([leaf(s, 0), leaf(t, 1), leaf(d0, 2), leaf(d1, 3), literal(-3), literal(8)])

# name -> (on expressions x, y and a positive int k; the same on ints, s given too)
OPERATIONS: dict[str, tuple[Callable[[Expr, Expr, int], Expr], Callable[[int, int, int, int], int]]] = {
    "add": (lambda x, y, k: x + y, lambda x, y, k, s: x + y),
    "sub": (lambda x, y, k: x - y, lambda x, y, k, s: x - y),
    "mul": (lambda x, y, k: x * y, lambda x, y, k, s: x * y),
    "div": (lambda x, y, k: x // k, lambda x, y, k, s: x // k),
    "mod": (lambda x, y, k: x % k, lambda x, y, k, s: x % k),
    "ceildiv": (lambda x, y, k: ceildiv(x, k), lambda x, y, k, s: -(-x // k)),
    "div_symbol": (lambda x, y, k: floordiv(x, symbol("s") + 1), lambda x, y, k, s: x // (s + 1)),
    "max": (lambda x, y, k: maximum(x, y), lambda x, y, k, s: max(x, y)),
    "min": (lambda x, y, k: minimum(x, y), lambda x, y, k, s: min(x, y)),
}


def combine(name: str, x: Case, y: Case, k: int) -> Case:
    on_exprs, on_ints = OPERATIONS[name]
    return Case(on_exprs(x.expr, y.expr, k), lambda values: on_ints(x.value(values), y.value(values), k, values[0]))


def extend(children: st.SearchStrategy[Case]) -> st.SearchStrategy[Case]:
    return st.builds(combine, st.sampled_from(sorted(OPERATIONS)), children, children, st.integers(1, 9))


CASES = st.recursive(LEAVES, extend, max_leaves=8)
VALUES = st.tuples(st.integers(1, 9), st.integers(1, 9), st.integers(0, 4), st.integers(0, 8))
BOUNDS = Bounds({"s": Interval(1, 9), "t": Interval(1, 9)}, (lift(5), lift(9)))


@given(CASES, VALUES)
@settings(max_examples=400, deadline=None)
def test_value_simplification_and_bounds(case: Case, values: Values) -> None:
    expected = case.value(values)
    environment = ({"s": values[0], "t": values[1]}, {0: values[2], 1: values[3]})
    assert evaluate(case.expr, *environment) == expected
    assert evaluate(simplify(case.expr, BOUNDS), *environment) == expected
    span = interval(case.expr, BOUNDS)
    assert span.low is None or span.low <= expected
    assert span.high is None or expected <= span.high
    assert expected >= 0 or not proves_nonnegative(case.expr, BOUNDS)


@given(CASES)
@settings(max_examples=200, deadline=None)
def test_text_reads_back_to_the_same_object(case: Case) -> None:
    closed = substitute_indices(case.expr, {0: symbol("a"), 1: symbol("b")})
    ctx = Context()
    ctx.load_dialect(Builtin)
    ctx.load_dialect(SYM)
    attr = Parser(ctx, f"#sym.expr<{closed}>").parse_attribute()
    assert isinstance(attr, ExprAttr)
    assert attr.data is closed


def test_equal_polynomials_are_one_object() -> None:
    assert (s // 8) * 8 + s % 8 is s
    assert floordiv(d0 * s + d1, s) is d0 + floordiv(d1, s)
    assert maximum(s, s - 1) is s
    assert floordiv(floordiv(s, 4), 8) is floordiv(s, constant(32))
    assert (s + 1) * (s - 1) is s * s - 1


def test_bounds_decide_floor_divisions() -> None:
    bounds = Bounds({"s": Interval(1, None)}, (lift(4), s, lift(8)))
    assert simplify(floordiv(d0 * s + d1, s), bounds) is d0
    assert simplify((d0 * 8 + d2) // 32, bounds).as_int() == 0
    assert simplify((d0 * 8 + d2) % 8, bounds) is d2
    assert simplify(floordiv(s * d0 + d1, s * 12), bounds).as_int() == 0
    assert proves_less(d1 + d0 * s, s * 4, bounds)
    assert not proves_less(d1 + d0 * s, s * 3, bounds)


def test_nothing_is_assumed_of_an_undeclared_symbol_but_its_sign() -> None:
    assert simplify(maximum(s, 1), Bounds()) is maximum(s, 1)
    assert simplify(maximum(s, 0), Bounds()) is s
    assert not proves_nonnegative(s - 1, Bounds())


def test_a_quotient_is_at_most_the_fraction() -> None:
    half = floordiv(s, constant(2))
    assert proves_nonnegative(half * 40 - floordiv(half * 5, constant(8)) * 64, Bounds())
    assert proves_nonnegative(half * 2 - s + 1, Bounds())
    assert not proves_nonnegative(half * 2 - s, Bounds())


def test_substitution_normalises() -> None:
    assert substitute_symbols(s // 2 + t, {"s": t * 2}) is t * 2
    with pytest.raises(ZeroDivisionError, match="must be positive"):
        floordiv(s, constant(0))


def test_symbols_cancel_in_a_quotient() -> None:
    assert floordiv(s * d0, s * 2) is floordiv(d0, constant(2))
    assert floordiv(s * t * d0 + s * d1, s * s * 6) is floordiv(t * d0 + d1, s * 6)
    assert floordiv(s * d0 + 1, s * 2) is not floordiv(d0, constant(2))
    assert str(floordiv(d0 * d1, d0 * 2)) == "floordiv(d0*d1, d0*2)"  # an index may be 0
