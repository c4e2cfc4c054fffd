"""Contractions that a library computes on operands where they lie."""

from __future__ import annotations

from ....dialects.hlir.elementwise import AddOp
from ....dialects.kernel import CallMatmulOp
from ..rule import NARROW, Ask, Rule, Theory, rewrite
from ..signature import pattern
from .contraction import NOT_GIVEN, cast, contract
from .views import view


def matmul(epilogue: str, *operands: str, accumulate: str = "acc") -> str:
    """A pattern of a library call."""
    return pattern(CallMatmulOp, ["lm", "rm", "axes", "space", accumulate, epilogue], operands)


LEGAL = Ask("ep", "library-epilogue", "lm rm axes space da db dt")
"""The epilogue "none" of a legal call, from the dims and the dtype of the operands."""

OPERANDS = "(= da (dims-of a)) (= db (dims-of b)) (= dt (dtype-of a))"

_NARROW_PRODUCT = contract("lm", "rm", "axes", "space", cast("dc", "a"), cast("dc", "b"))

RULES: tuple[Rule, ...] = (
    rewrite(
        "library product",
        contract("lm", "rm", "axes", "space", "a", "b", "acc"),
        matmul("ep", "a", "b"),
        LEGAL,
        where=OPERANDS,
    ),
    # A narrow call with a bias is defined as computed wide and rounded once.
    rewrite(
        "narrow library product with bias",
        cast("dt", pattern(AddOp, [], [_NARROW_PRODUCT, view("bm", "bt", cast("dc", "bias"))])),
        matmul("biased", "a", "b", "bias", accumulate=NOT_GIVEN),
        Ask("biased", "biased-library-epilogue", "lm rm axes space da db dt"),
        Ask("row", "is-row", "bm bt dr"),
        Ask("ok", "computes-in", "dt dc"),
        where=f"{OPERANDS} (= dt (dtype-of b)) (= dt (dtype-of bias)) (= dr (dims-of bias))",
        dtypes=NARROW,
    ),
)

LIBRARY = Theory("library", RULES)
