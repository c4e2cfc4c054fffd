"""Size expressions of an artifact: a closed grammar over symbols, parsed here and never handed to `eval` as given.

    sum     := product (("+" | "-") product)*
    product := unary (("*" | "//" | "%" | "floordiv" | "ceildiv" | "mod") unary)*
    unary   := "-" unary | atom
    atom    := integer | name | "(" sum ")" | function "(" sum ("," sum)* ")"

Functions: max, min (two or more arguments), floordiv, ceildiv, mod (two). Division rounds as its name says for every
sign; `//` is floordiv and `%` is mod, whose result has the sign of the divisor.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import cast

from .errors import ExpressionError

_TOKEN = re.compile(r"\s*(?:(\d+)|([A-Za-z_][A-Za-z0-9_]*)|(//|[-+*%(),]))")
_INFIX = {"*": "*", "//": "floordiv", "%": "mod", "floordiv": "floordiv", "ceildiv": "ceildiv", "mod": "mod"}
_FUNCTIONS = {"max": (2, 4096), "min": (2, 4096), "floordiv": (2, 2), "ceildiv": (2, 2), "mod": (2, 2)}
_PYTHON = {"-": "(-{})", "*": "({} * {})", "floordiv": "({} // {})", "mod": "({} % {})", "ceildiv": "(-(-{} // {}))"}
_MAXIMUM_DEPTH = 64
_GRAMMAR = "integers, symbols, parentheses, + - * // %, floordiv, ceildiv, mod, max, min"


@dataclass(frozen=True, slots=True)
class Expression:
    """A parsed expression: an integer, a symbol's name, or an operator with its arguments ("-" negates its only
    one).
    """

    operator: str
    value: int | str = 0
    arguments: tuple[Expression, ...] = ()

    def names(self) -> frozenset[str]:
        """The symbols that it depends on."""
        if self.operator == "name":
            return frozenset((str(self.value),))
        return frozenset(name for argument in self.arguments for name in argument.names())

    def python(self, spelling: Mapping[str, str]) -> str:
        """Python text of the expression, made of integers, the operators above and `spelling[name]` alone."""
        if self.operator == "integer":
            return str(self.value)
        if self.operator == "name":
            return spelling[str(self.value)]
        arguments = [argument.python(spelling) for argument in self.arguments]
        if self.operator == "+":
            return f"({' + '.join(arguments)})"
        if self.operator in ("max", "min"):
            return f"{self.operator}({', '.join(arguments)})"
        return _PYTHON[self.operator].format(*arguments)


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = self._split(text)
        self.position = 0
        self.depth = 0

    def fail(self, what: str) -> ExpressionError:
        return ExpressionError(f"size expression {self.text!r}: {what}", hint=_GRAMMAR)

    def _split(self, text: str) -> list[str]:
        tokens: list[str] = []
        at, end = 0, len(text.rstrip())
        while at < end:
            match = _TOKEN.match(text, at)
            if match is None:
                raise self.fail(f"unexpected {text[at:].strip()[:1]!r}")
            tokens.append(match.group().strip())
            at = match.end()
        return tokens

    def peek(self) -> str:
        return self.tokens[self.position] if self.position < len(self.tokens) else ""

    def take(self, expected: str = "") -> str:
        token = self.peek()
        if not token or (expected and token != expected):
            raise self.fail(f"expected {expected or 'a value'}, found {token or 'the end'}")
        self.position += 1
        return token

    def sum(self) -> Expression:
        self.depth += 1
        if self.depth > _MAXIMUM_DEPTH:
            raise self.fail(f"nested deeper than {_MAXIMUM_DEPTH}")
        terms = [self.product()]
        while self.peek() in ("+", "-"):
            sign = self.take()
            terms.append(self.product() if sign == "+" else Expression("-", arguments=(self.product(),)))
        self.depth -= 1
        return terms[0] if len(terms) == 1 else Expression("+", arguments=tuple(terms))

    def product(self) -> Expression:
        left = self.unary()
        factors = 1
        while self.peek() in _INFIX:
            left = Expression(_INFIX[self.take()], arguments=(left, self.unary()))
            factors += 1
            if factors > _MAXIMUM_DEPTH:
                raise self.fail(f"more than {_MAXIMUM_DEPTH} factors")
        return left

    def unary(self) -> Expression:
        negative = False
        while self.peek() == "-":
            self.take()
            negative = not negative
        atom = self.atom()
        return Expression("-", arguments=(atom,)) if negative else atom

    def atom(self) -> Expression:
        token = self.take()
        if token.isdigit():
            return Expression("integer", int(token))
        if token == "(":
            inside = self.sum()
            self.take(")")
            return inside
        if token in _FUNCTIONS:
            return self.function(token)
        if not token.isidentifier() or token in _INFIX:
            raise self.fail(f"expected a value, found {token}")
        return Expression("name", token)

    def function(self, name: str) -> Expression:
        self.take("(")
        arguments = [self.sum()]
        while self.peek() == ",":
            self.take()
            arguments.append(self.sum())
        self.take(")")
        least, most = _FUNCTIONS[name]
        if not least <= len(arguments) <= most:
            raise self.fail(f"{name} takes {least} arguments, found {len(arguments)}")
        return Expression(name, arguments=tuple(arguments))


@lru_cache(maxsize=4096)
def parse_expression(text: str) -> Expression:
    """Parse `text`; raises ExpressionError for anything outside the grammar."""
    parser = _Parser(text)
    parsed = parser.sum()
    if parser.peek():
        raise parser.fail(f"unexpected {parser.peek()!r}")
    return parsed


def compile_expressions(texts: Sequence[str], names: Sequence[str]) -> Callable[..., tuple[int, ...]]:
    """A function of the values of `names`, in that order, that returns the values of all `texts` as one tuple."""
    spelling = {name: f"s{position}" for position, name in enumerate(names)}
    bodies = [_python(text, spelling) for text in texts]
    inside = "".join(f"{body}, " for body in bodies)
    source = f"lambda {', '.join(spelling.values())}: ({inside})"
    # The text holds only integers, operators and the names s0, s1, ... chosen here.
    scope: dict[str, object] = {"__builtins__": {"max": max, "min": min}}
    return cast("Callable[..., tuple[int, ...]]", eval(source, scope))


def _python(text: str, spelling: Mapping[str, str]) -> str:
    parsed = parse_expression(text)
    unknown = sorted(parsed.names() - spelling.keys())
    if unknown:
        raise ExpressionError(
            f"size expression {text!r} uses the undeclared symbol {unknown[0]!r}",
            hint=f"declared symbols: {', '.join(spelling) or 'none'}",
        )
    return parsed.python(spelling)


def evaluate_expression(text: str, values: Mapping[str, int]) -> int:
    """The value of one expression; raises ExpressionError for an unknown name or a division by zero."""
    try:
        return compile_expressions((text,), tuple(values))(*values.values())[0]
    except ZeroDivisionError as error:
        raise ExpressionError(f"size expression {text!r} divides by zero for {dict(values)}") from error


def constant_value(text: str) -> int | None:
    """The value of an expression that depends on no symbol, else None."""
    return None if parse_expression(text).names() else evaluate_expression(text, {})


def linear_form(text: str, name: str) -> tuple[int, int] | None:
    """(a, b) when the expression is a·name + b with integers a ≠ 0 and b, decided on the tree; else None."""
    form = _linear(parse_expression(text), name)
    return form if form is not None and form[0] != 0 else None


def _linear(tree: Expression, name: str) -> tuple[int, int] | None:
    if tree.operator == "integer":
        return 0, int(tree.value)
    if tree.operator == "name":
        return (1, 0) if tree.value == name else None
    forms = [_linear(argument, name) for argument in tree.arguments]
    if any(form is None for form in forms):
        return None
    parts = [form for form in forms if form is not None]
    if tree.operator == "+":
        return sum(a for a, _ in parts), sum(b for _, b in parts)
    if tree.operator == "-":
        return -parts[0][0], -parts[0][1]
    if tree.operator == "*" and parts[0][0] * parts[1][0] == 0:
        (a, b), (c, d) = parts
        return a * d + c * b, b * d
    return None


def all_names(texts: Iterable[str]) -> frozenset[str]:
    """The symbols that any of the expressions depends on."""
    return frozenset(name for text in texts for name in parse_expression(text).names())
