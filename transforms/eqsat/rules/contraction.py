"""Contractions from products and sums, with the views of their operands in their maps."""

from __future__ import annotations

from ....dialects.hlir.contraction import ContractOp
from ....dialects.hlir.conversion import CastOp
from ....dialects.hlir.elementwise import AddOp, MulOp
from ....dialects.hlir.linear import LinearOp
from ....dialects.hlir.reduction import SumOp
from ..rule import NARROW, Ask, Candidate, Match, Operand, Proposal, Rule, Theory, rewrite
from ..signature import pattern
from .views import view

NOT_GIVEN = '""'
"""An absent property."""


def contract(lhs_map: str, rhs_map: str, axes: str, space: str, lhs: str, rhs: str, accumulate: str = NOT_GIVEN) -> str:
    """A pattern of a contraction."""
    return pattern(ContractOp, [lhs_map, rhs_map, axes, space, accumulate], [lhs, rhs])


def cast(dtype: str, operand: str) -> str:
    """A pattern of a cast."""
    return pattern(CastOp, [dtype], [operand])


PRODUCT_AND_SUM = rewrite(
    "contraction from product and sum",
    pattern(SumOp, ["axes", NOT_GIVEN], [pattern(MulOp, [], [view("lm", "space", "a"), view("rm", "space", "b")])]),
    contract("lm", "rm", "axes", "space", "a", "b"),
    # A sum of products that were rounded to a narrow type is not a contraction of that type.
    Ask("wide", "is-wide", "dt"),
    Ask("ok", "is-product", "lm rm axes space"),
    where="(= dt (dtype-of a))",
)

ABSORB_LEFT = rewrite(
    "contraction absorbs the left view",
    contract("lm", "rm", "axes", "space", view("m", "t", "a"), "b", "acc"),
    contract("c", "rm", "axes", "space", "a", "b", "acc"),
    Ask("c", "compose", "lm m space"),
)

ABSORB_RIGHT = rewrite(
    "contraction absorbs the right view",
    contract("lm", "rm", "axes", "space", "a", view("m", "t", "b"), "acc"),
    contract("lm", "c", "axes", "space", "a", "b", "acc"),
    Ask("c", "compose", "rm m space"),
)

COMMUTE = rewrite(
    "contraction commutes",
    contract("lm", "rm", "axes", "space", "a", "b", "acc"),
    contract("rm", "lm", "axes", "space", "b", "a", "acc"),
)

NARROW_CONTRACTION = rewrite(
    "narrow contraction",
    cast("dt", contract("lm", "rm", "axes", "space", cast("dc", "a"), cast("dc", "b"))),
    contract("lm", "rm", "axes", "space", "a", "b"),
    Ask("ok", "computes-in", "dt dc"),
    where="(= dt (dtype-of a)) (= dt (dtype-of b))",
    dtypes=NARROW,
)


def linear(match: Match) -> Candidate | None:
    """linear(x, w[, bias]), where the sum runs over the last dimension of both."""
    names = [name for name in ("x", "w", "bias") if name in match.types]
    x, weight = match.types["x"], match.types["w"]
    fits = x.rank >= 1 and weight.rank == 2 and match.axes("axes") == (match.result.rank,)
    return Candidate(LinearOp, tuple(map(Operand, names)), {}) if fits else None


_PRODUCT = contract("lm", "rm", "axes", "space", "x", "w")

PROPOSALS: tuple[Proposal, ...] = (
    Proposal("linear", f"(= e {_PRODUCT})", ("axes",), ("x", "w"), linear),
    Proposal(
        "linear with bias",
        f"(= e {pattern(AddOp, [], [_PRODUCT, view('bm', 'bt', 'bias')])})",
        ("axes",),
        ("x", "w", "bias"),
        linear,
    ),
)

RULES: tuple[Rule, ...] = (PRODUCT_AND_SUM, ABSORB_LEFT, ABSORB_RIGHT, COMMUTE, NARROW_CONTRACTION)

CONTRACTION = Theory("contraction", RULES, PROPOSALS)
