"""Scalar functions of CUDA and Metal as tables: what arith, math and loop.apply call, by function and dtype."""

from __future__ import annotations

from collections.abc import Mapping

UNARY = {
    "absf": "fabs",
    "ceil": "ceil",
    "floor": "floor",
    "trunc": "trunc",
    "roundeven": "rint",
    "round": "round",
    "sqrt": "sqrt",
    "rsqrt": "rsqrt",
    "exp": "exp",
    "exp2": "exp2",
    "expm1": "expm1",
    "log": "log",
    "log2": "log2",
    "log10": "log10",
    "log1p": "log1p",
    "sin": "sin",
    "cos": "cos",
    "tan": "tan",
    "asin": "asin",
    "acos": "acos",
    "atan": "atan",
    "sinh": "sinh",
    "cosh": "cosh",
    "tanh": "tanh",
    "asinh": "asinh",
    "acosh": "acosh",
    "atanh": "atanh",
    "erf": "erf",
    "cbrt": "cbrt",
}
"""math op name to the C name, which is also Metal's where Metal has the function."""

BINARY = {"powf": "pow", "atan2": "atan2", "copysign": "copysign", "mod": "fmod", "fmod": "fmod"}

SYNONYMS = {"round_even": "roundeven", "pow": "powf", "abs": "absf"}
"""Names that hlir ops spell, beside those of the math dialect."""

INTEGERS = ("i8", "i16", "i32", "i64")


def through_float(form: str, dtype: str, narrow: Mapping[str, tuple[str, str]], arity: int) -> str:
    """A float function for a narrower type: widen, compute in f32, round once."""
    widen, round_ = narrow[dtype]
    inner = form.format(*(widen.format(f"{{{position}}}") for position in range(arity)))
    return round_.format(inner)


def with_synonyms(functions: Mapping[str, str]) -> dict[str, str]:
    """The table with the entries of each synonym added."""
    table = dict(functions)
    for name, function in SYNONYMS.items():
        for key, form in functions.items():
            head, _, dtype = key.partition(".")
            if head == function:
                table[f"{name}.{dtype}" if dtype else name] = form
    return table
