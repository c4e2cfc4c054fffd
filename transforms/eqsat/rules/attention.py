"""Scaled dot product attention in two products and a softmax, and the laws over the reals that lead there."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import BoolAttr

from ....dialects.dtype import F32, F64, DType
from ....dialects.hlir import index_map as maps
from ....dialects.hlir.arithmetic import ExpOp, SubOp
from ....dialects.hlir.attention import SdpaOp
from ....dialects.hlir.conversion import SelectOp
from ....dialects.hlir.creation import ConstantOp
from ....dialects.hlir.elementwise import AddOp, DivOp, EqualOp, MulOp
from ....dialects.hlir.index_map import IndexMap, canonical
from ....dialects.hlir.reduction import MaxOp, SumOp
from ....dialects.hlir.types import MapAttr, ScalarAttr, ShapeAttr
from ....dialects.sym.expr import Expr, index
from ....dialects.sym.substitute import index_numbers, substitute_indices
from ..rule import Ask, Candidate, Match, Operand, Proposal, Rule, Strictness, Theory, rewrite
from ..signature import pattern, quote
from .contraction import NOT_GIVEN, contract
from .spelling import number
from .views import view


def _exponential(top: str) -> str:
    return pattern(ExpOp, [], [pattern(SubOp, [], ["z", top])])


def _select(condition: str, a: str, b: str) -> str:
    return pattern(SelectOp, [], [condition, a, b])


def _equals(a: str, b: str) -> str:
    return pattern(EqualOp, [], [a, b])


def _top(dtype: DType, x: str, shape: str) -> str:
    """The maximum of a row as sdpa subtracts it: 0 for a row of nothing but -inf."""
    return _select(_equals(x, number(float("-inf"), dtype, shape)), number(0.0, dtype, shape), x)


def _divisor(dtype: DType, x: str, shape: str) -> str:
    """The sum of a row as sdpa divides by it: 1 for a row of nothing but -inf."""
    return _select(_equals(x, number(0.0, dtype, shape)), number(1.0, dtype, shape), x)


def guards(dtype: DType) -> tuple[Rule, ...]:
    """The guards against rows of nothing but -inf, which rows of numbers do not need: their sum is at least e^0.

    Scores that are a product are numbers, and lose the guards. A mask may hold -inf: such rows are zeros in sdpa, and
    must stay so, but where a program divides without guards they may be added.
    """
    top = pattern(MaxOp, ["axes", NOT_GIVEN], ["z"])
    total = pattern(SumOp, ["axes", NOT_GIVEN], [_exponential(view("m", "t", top))])
    name, real, dtypes = dtype.name, Strictness.REAL, (dtype.name,)
    product = f"(= z {_SCORES})"
    row = _exponential(view("m", "t", _top(dtype, top, "s")))
    guarded = _divisor(dtype, pattern(SumOp, ["axes", NOT_GIVEN], [row]), "s")
    return (
        rewrite(
            f"finite maximum {name}",
            _top(dtype, "x", "s"),
            "x",
            strictness=real,
            where=f"(= x {top}) {product}",
            dtypes=dtypes,
        ),
        rewrite(
            f"sum of exponentials {name}",
            _divisor(dtype, "x", "s"),
            "x",
            strictness=real,
            where=f"(= x {total}) {product}",
            dtypes=dtypes,
        ),
        rewrite(
            f"guarded softmax {name}",
            pattern(DivOp, [], [_exponential(view("m", "t", top)), view("m", "t", "x")]),
            pattern(DivOp, [], [row, view("m", "t", guarded)]),
            strictness=real,
            where=f"(= x {total}) (= s (dims-of x)) (= {quote(str(dtype.attr))} (dtype-of x))",
            dtypes=dtypes,
        ),
    )


def _scaled(x: str, number_: str, shape: str) -> str:
    return pattern(MulOp, [], [x, pattern(ConstantOp, [number_, shape], [])])


_SCORES = _scaled(contract("qm", "km", "kaxes", "kspace", "q", "k"), "scale", "sshape")


def _scale_out(left: bool) -> Rule:
    scaled = _scaled("a", "c", "t")
    operands = (scaled, "b") if left else ("b", scaled)
    plain = ("a", "b") if left else ("b", "a")
    return rewrite(
        f"scale out of the {'left' if left else 'right'} operand",
        contract("lm", "rm", "axes", "space", *operands),
        _scaled(contract("lm", "rm", "axes", "space", *plain), "c", "d"),
        strictness=Strictness.REAL,
        where="(= d (dims-of e))",
    )


RULES: tuple[Rule, ...] = (
    *guards(F32),
    *guards(F64),
    _scale_out(True),
    _scale_out(False),
    rewrite(
        "scales join",
        _scaled(_scaled("x", "c", "t"), "k", "u"),
        _scaled("x", "ck", "u"),
        Ask("ck", "times", "c k"),
        strictness=Strictness.REAL,
    ),
)


def sdpa(match: Match) -> Candidate | None:
    """Attention over scores[b, h, s, t], whatever the layouts of q, k, v and the result are."""
    space, out = match.dims("kspace"), match.dims("vspace")
    if len(space) != 5 or match.axes("kaxes") != (4,) or len(match.map("pm").exprs) != 4:
        return None
    b, h, s, t, d = space
    found = _output_indices(match.map("pm"), match.axes("vaxes"), out, (b, h, s))
    if found is None:
        return None
    sources, last = found
    exprs = tuple(substitute_indices(e, sources) for e in match.map("vm").exprs)
    v_map = canonical(IndexMap(5, exprs), (b, h, s, t, out[last]))
    operands = [
        _without(match.map("qm"), 3, "q", (b, h, s, d)),
        _without(match.map("km"), 2, "k", (b, h, t, d)),
        _without(v_map, 2, "v", (b, h, t, out[last])),
    ]
    if "mask" in match.types:
        operands.append(Operand("mask"))
    kept = [one for one in operands if one is not None]
    outer = MapAttr(IndexMap(match.result.rank, (*match.map("pm").exprs[:3], index(last))))
    properties = {"scale": ScalarAttr.get(match.number("scale"), F64), "causal": BoolAttr.from_bool(False)}
    return Candidate(SdpaOp, tuple(kept), properties, outer_map=outer) if len(kept) == len(operands) else None


def _without(index_map: IndexMap, number: int, column: str, dims: tuple[Expr, ...]) -> Operand | None:
    """The operand that is read through a map of five indices on one of which it does not depend."""
    shape = ShapeAttr.get(dims)
    left = [i for i in range(5) if i != number]
    if any(number in index_numbers(e) for e in index_map.exprs):
        return None
    exprs = (substitute_indices(e, {i: index(n) for n, i in enumerate(left)}) for e in index_map.exprs)
    return Operand(column, MapAttr(canonical(IndexMap(4, tuple(exprs)), shape.data)), shape)


def _output_indices(
    p_map: IndexMap, axes: Sequence[int], out: Sequence[Expr], rows: tuple[Expr, Expr, Expr]
) -> tuple[dict[int, Expr], int] | None:
    """What the indices of the second product are in terms of b, h, s, t and the column of v (d0 to d4); and which is
    the column.

    The probabilities are read as p[b, h, s, t], where b, h and s are the other indices or a row-major reshape of them.
    """
    rank = len(out) - 1
    used = [n for e in p_map.exprs[:3] for n in index_numbers(e)]
    free = [i for i in range(rank) if i not in used]
    if tuple(axes) != (rank,) or p_map.exprs[3] != index(rank) or rank in used or len(free) != 1:
        return None
    (last,) = free
    others = [i for i in range(rank) if i != last]
    back = maps.reshape([out[i] for i in others], rows)
    sources = dict(zip(others, back.exprs, strict=True))
    there = canonical(IndexMap(3, tuple(substitute_indices(e, sources) for e in p_map.exprs[:3])), rows)
    if there != canonical(maps.identity(3), rows):
        return None
    return {**sources, last: index(4), rank: index(3)}, last


_NOTHING = pattern(ConstantOp, ["nothing", "nshape"], [])
_MASKED: Sequence[tuple[str, str, tuple[str, ...]]] = (
    ("attention", _SCORES, ()),
    ("attention with added mask", pattern(AddOp, [], [_SCORES, "mask"]), ("mask",)),
    ("attention with chosen mask", _select("mask", _SCORES, _NOTHING), ("mask",)),
)


def _proposal(name: str, scores: str, mask: tuple[str, ...]) -> Proposal:
    rows = f"(= p {pattern(DivOp, [], [_exponential('top'), 'total'])})"
    when = f"(= e {contract('pm', 'vm', 'vaxes', 'vspace', 'p', 'v')}) {rows} (= z {scores})"
    texts = ("pm", "vm", "vaxes", "vspace", "qm", "km", "kaxes", "kspace", "scale")
    return Proposal(name, when, texts, ("q", "k", "v", *mask), sdpa)


ATTENTION = Theory("attention", RULES, tuple(_proposal(*one) for one in _MASKED))
