"""Scalar functions of CUDA and Metal as tables: what arith, math and loop.apply call, by function and dtype."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

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
    "erfc": "erfc",
    "lgamma": "lgamma",
}
"""math op name to the C name, which is also Metal's where Metal has the function."""

BINARY = {"powf": "pow", "atan2": "atan2", "copysign": "copysign", "mod": "fmod", "fmod": "fmod"}

POLYNOMIALS = ("hermite", "hermite_e", "laguerre", "legendre")
"""Functions that the preludes have under alb_<name> for every float type."""

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


def integer_functions(types: Mapping[str, str]) -> dict[str, str]:
    """What operators alone compute of integers, for each of their dtypes; `types` are the target's names of types."""
    table: dict[str, str] = {}
    for dtype in INTEGERS:
        kind, unsigned = types[dtype], types["u" + dtype]
        for name, symbol in (("minui", "<"), ("maxui", ">")):
            table[f"{name}.{dtype}"] = f"(({unsigned}){{0}} {symbol} ({unsigned}){{1}} ? {{0}} : {{1}})"
        table[f"absi.{dtype}"] = f"({kind})({{0}} < 0 ? 0 - ({unsigned}){{0}} : ({unsigned}){{0}})"
        table[f"mod.{dtype}"] = "({0} % {1})"
        for name in ("floordiv", "ceildiv"):
            table[f"{name}.{dtype}"] = f"alb_{name}<{kind}>({{0}}, {{1}})"  # narrow operands may be promoted to int
    table |= {"gcd.i64": "alb_gcd({0}, {1})", "pow.i64": "alb_pow_i64({0}, {1})"}
    return table


def bit_casts(form: str, groups: Iterable[Sequence[str]], types: Mapping[str, str]) -> dict[str, str]:
    """The bits of one dtype read as another of its group, in the target's `form` with the name of the new type."""
    return {
        f"bits.{source}.{result}": form.format(type=types[result])
        for group in groups
        for source in group
        for result in group
        if source != result
    }
