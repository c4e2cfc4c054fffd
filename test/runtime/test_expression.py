"""The closed grammar of size expressions: values against Python's own arithmetic, refusals, and solving for a
symbol.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from albumen.runtime.errors import ExpressionError
from albumen.runtime.expression import compile_expressions, constant_value, evaluate_expression, linear_form


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("7", 7),
        ("s", 10),
        ("s*4096 + t", 10 * 4096 + 3),
        ("s - t - 1", 6),
        ("-s + 2", -8),
        ("--s", 10),
        ("s ceildiv 4", 3),
        ("ceildiv(s, 4) * 2", 6),
        ("s floordiv t // 1", 3),
        ("-s // 4", -3),
        ("-s % 4", 2),
        ("mod(s, -4)", -2),
        ("max(s, t, 12) - min(s, t)", 9),
        ("2*(s + t) * 2", 52),
    ],
)
def test_value(text: str, value: int) -> None:
    assert evaluate_expression(text, {"s": 10, "t": 3}) == value


@given(st.lists(st.integers(-9, 9), min_size=2, max_size=6), st.lists(st.sampled_from("+-*"), min_size=5, max_size=5))
def test_precedence_is_pythons(numbers: list[int], operators: list[str]) -> None:
    text = str(numbers[0])
    for number, operator in zip(numbers[1:], operators, strict=False):
        text += f" {operator} {number}"
    assert evaluate_expression(text, {}) == eval(text)


@pytest.mark.parametrize(
    "text",
    [
        *["", "s.x", "__import__('os')", "1 2", "(1", "1)", "lambda: 1", "s[0]", "1e5", "floordiv", "s ** 2", "max(1)"],
        *[
            "floordiv(1, 2, 3)",
            "a and b",
            "1 if s else 2",
            "s@2",
            "f(1)",
            "(" * 100 + "1" + ")" * 100,
            "*".join("s" * 99),
        ],
    ],
)
def test_refused(text: str) -> None:
    with pytest.raises(ExpressionError, match="size expression"):
        evaluate_expression(text, {"s": 1})


def test_unknown_name_and_division_by_zero() -> None:
    with pytest.raises(ExpressionError, match="undeclared symbol 'u'"):
        evaluate_expression("u + 1", {"s": 1})
    with pytest.raises(ExpressionError, match="divides by zero"):
        evaluate_expression("s // t", {"s": 1, "t": 0})


def test_compile_many_at_once() -> None:
    function = compile_expressions(["s", "s*t", "max(s, t)"], ["t", "s"])
    assert function(2, 5) == (5, 10, 5)
    assert compile_expressions([], [])() == ()
    assert compile_expressions(["+".join(["s"] * 1000)], ["s"])(2) == (2000,)


def test_linear_form_decides_on_the_tree() -> None:
    assert linear_form("2*(s + 1) - s*3 + 4", "s") == (-1, 6)
    assert linear_form("s", "s") == (1, 0)
    for text in ("s*s", "max(s, 1)", "s - s", "s + t", "7"):
        assert linear_form(text, "s") is None
    assert constant_value("3*4") == 12
    assert constant_value("s") is None
