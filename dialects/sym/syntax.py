"""Reading expressions from IR text: names, d<i> for index variables, integers, + - *, floordiv(p, q), max(...)."""

from __future__ import annotations

import re

from xdsl.parser import AttrParser

from .expr import Expr, constant, floordiv, index, maximum, symbol

_INDEX = re.compile(r"d(\d+)\Z")


def parse_expr(parser: AttrParser, *, indices: bool = False) -> Expr:
    """An expression at the parser's position; with `indices`, names of the form d<number> are index variables."""
    negative = parser.parse_optional_punctuation("-") is not None
    total = _product(parser, indices)
    if negative:
        total = -total
    while True:
        if parser.parse_optional_punctuation("+"):
            total = total + _product(parser, indices)
        elif parser.parse_optional_punctuation("-"):
            total = total - _product(parser, indices)
        else:
            return total


def _product(parser: AttrParser, indices: bool) -> Expr:
    result = _factor(parser, indices)
    while parser.parse_optional_punctuation("*"):
        result = result * _factor(parser, indices)
    return result


def _factor(parser: AttrParser, indices: bool) -> Expr:
    number = parser.parse_optional_integer(allow_boolean=False)
    if number is not None:
        return constant(number)
    if parser.parse_optional_punctuation("("):
        inner = parse_expr(parser, indices=indices)
        parser.parse_punctuation(")")
        return inner
    name = parser.parse_identifier(context_msg=" in an integer expression")
    if name in ("floordiv", "max") and parser.parse_optional_punctuation("("):
        args = [parse_expr(parser, indices=indices)]
        while parser.parse_optional_punctuation(","):
            args.append(parse_expr(parser, indices=indices))
        parser.parse_punctuation(")")
        return _call(parser, name, args)
    match = _INDEX.match(name) if indices else None
    return index(int(match[1])) if match else symbol(name)


def _call(parser: AttrParser, name: str, args: list[Expr]) -> Expr:
    if name == "max":
        return maximum(*args)
    if len(args) != 2:
        parser.raise_error(f"floordiv takes two arguments, found {len(args)}")
    try:
        return floordiv(args[0], args[1])
    except ZeroDivisionError as error:
        parser.raise_error(str(error))
