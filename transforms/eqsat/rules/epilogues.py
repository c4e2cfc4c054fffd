"""What follows a library product and is computed with it: bias, residual, activation."""

from __future__ import annotations

from ....dialects.hlir.activation import GeluOp, ReluOp
from ....dialects.hlir.elementwise import AddOp
from ..rule import NARROW, Ask, Rule, Strictness, Theory, rewrite
from ..signature import pattern
from .library import matmul
from .views import view

EXTRAS = (("a", "b"), ("a", "b", "x0"))
"""Operands of a call that still has room for an extra operand."""


def _rule(name: str, lhs: str, rhs: str, narrow: bool, *asks: Ask, where: str = "") -> Rule:
    """Both rules of an epilogue: in a narrow type the value is rounded once less than before, over the reals the
    same."""
    dtype = Ask("kind", "is-narrow" if narrow else "is-wide", "dt")
    strictness = Strictness.REAL if narrow else Strictness.EXACT
    name = f"narrow {name}" if narrow else name
    dtypes = NARROW if narrow else ()
    where = f"(= dt (dtype-of a)) {where}"
    return rewrite(name, lhs, rhs, *asks, dtype, strictness=strictness, where=where, dtypes=dtypes)


def _rules(narrow: bool) -> list[Rule]:
    found: list[Rule] = []
    row, dims = Ask("row", "is-row", "bm bt dr"), "(= dr (dims-of bias))"
    for operands in EXTRAS:
        call, count = matmul("ep", *operands), len(operands) - 2
        bias, rest = pattern(AddOp, [], [call, view("bm", "bt", "bias")]), pattern(AddOp, [], [call, "rest"])
        found.append(
            _rule(f"add after {count}", rest, matmul("then", *operands, "rest"), narrow, Ask("then", "then-add", "ep"))
        )
        if count == 0:
            biased = matmul("then", *operands, "bias")
            found.append(_rule("bias", bias, biased, narrow, row, Ask("then", "then-bias", "ep"), where=dims))
        relu = pattern(ReluOp, [], [call])
        found.append(
            _rule(f"relu after {count}", relu, matmul("then", *operands), narrow, Ask("then", "then-relu", "ep"))
        )
        gelu = pattern(GeluOp, ["form"], [call])
        then = Ask("then", "then-gelu", "ep form")
        found.append(_rule(f"gelu after {count}", gelu, matmul("then", *operands), narrow, then))
    return found


EPILOGUES = Theory("epilogues", (*_rules(False), *_rules(True)))
