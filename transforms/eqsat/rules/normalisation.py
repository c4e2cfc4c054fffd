"""Softmax, log-softmax, layer norm and RMS norm, found in the small ops that frameworks write them with."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects.builtin import IntAttr
from xdsl.ir import SSAValue

from ....dialects.dtype import F64
from ....dialects.hlir.arithmetic import ExpOp, LogOp, RsqrtOp, SubOp
from ....dialects.hlir.builder import GraphBuilder
from ....dialects.hlir.creation import ConstantOp
from ....dialects.hlir.elementwise import AddOp, DivOp, MulOp, RecipOp, SqrtOp
from ....dialects.hlir.normalization import LayerNormOp, RmsNormOp, mean_over
from ....dialects.hlir.reduction import SumOp
from ....dialects.hlir.softmax import LogSoftmaxOp, SoftmaxOp
from ....dialects.hlir.types import ScalarAttr
from ....dialects.op import TensorOp, tensor_of
from ..rule import NARROW, Ask, Candidate, Match, Operand, Proposal, Rule, Strictness, Theory, rewrite
from ..signature import pattern
from .contraction import NOT_GIVEN, cast
from .views import view


def _two(op: type[TensorOp], a: str, b: str) -> str:
    return pattern(op, [], [a, b])


def _one(op: type[TensorOp], x: str) -> str:
    return pattern(op, [], [x])


def _sum(x: str) -> str:
    return pattern(SumOp, ["axes", NOT_GIVEN], [x])


def _constant(value: str, shape: str) -> str:
    return pattern(ConstantOp, [value, shape], [])


# Softmax


def recip_softmax(op: TensorOp, b: GraphBuilder) -> tuple[SSAValue, ...]:
    """Softmax that multiplies by the reciprocal of the sum: within the bound too."""
    assert isinstance(op, SoftmaxOp)
    e = b.emit(ExpOp, [op.centred(b)])
    y = b.emit(MulOp, [e, b.emit(RecipOp, [op.total(b, e)])])
    return (b.cast(y, op.result_type.dtype),)


def _along(op_class: type[TensorOp]) -> Callable[[Match], Candidate | None]:
    def build(match: Match) -> Candidate | None:
        axes = match.axes("axes")
        if len(axes) != 1:
            return None
        variants = (recip_softmax,) if op_class is SoftmaxOp else ()
        return Candidate(op_class, (Operand("z"),), {"axis": IntAttr(axes[0])}, variants)

    return build


_EXPONENTIAL = f"(= p {_one(ExpOp, _two(SubOp, 'z', 'top'))})"
_COLUMNS = (("axes",), ("z",))
_QUOTIENT = _two(DivOp, "p", view("m", "t", _sum("p")))
_PRODUCT = _two(MulOp, "p", _one(RecipOp, view("m", "t", _sum("p"))))
_LOGARITHM = _two(SubOp, "y", _one(LogOp, view("m", "t", _sum(_one(ExpOp, "y")))))

SOFTMAX: tuple[Proposal, ...] = (
    Proposal("softmax", f"(= e {_QUOTIENT}) {_EXPONENTIAL}", *_COLUMNS, _along(SoftmaxOp)),
    Proposal("softmax by reciprocal", f"(= e {_PRODUCT}) {_EXPONENTIAL}", *_COLUMNS, _along(SoftmaxOp)),
    Proposal("log softmax", f"(= e {_LOGARITHM}) (= y {_two(SubOp, 'z', 'top')})", *_COLUMNS, _along(LogSoftmaxOp)),
)


# Norms


def quotient_layer_norm(op: TensorOp, b: GraphBuilder) -> tuple[SSAValue, ...]:
    """Layer norm that divides by the square root, as its formula says."""
    assert isinstance(op, LayerNormOp)
    x = b.cast(op.operand, op.result_type.dtype.compute)
    centred = b.emit(SubOp, [x, mean_over(b, x, op.axes)])
    variance = mean_over(b, b.emit(MulOp, [centred, centred]), op.axes)
    return _divided(op, b, centred, variance)


def quotient_rms_norm(op: TensorOp, b: GraphBuilder) -> tuple[SSAValue, ...]:
    """RMS norm that divides by the square root."""
    assert isinstance(op, RmsNormOp)
    x = b.cast(op.operand, op.result_type.dtype.compute)
    return _divided(op, b, x, mean_over(b, b.emit(MulOp, [x, x]), op.axes))


def _divided(op: LayerNormOp | RmsNormOp, b: GraphBuilder, x: SSAValue, power: SSAValue) -> tuple[SSAValue, ...]:
    spread = b.emit(AddOp, [power, b.constant(op.epsilon_value, tensor_of(power))])
    y = op.scale_and_shift(b, b.emit(DivOp, [x, b.emit(SqrtOp, [spread])]))
    return (b.cast(y, op.result_type.dtype),)


QUOTIENTS = {LayerNormOp: quotient_layer_norm, RmsNormOp: quotient_rms_norm}


def _norm(op_class: type[LayerNormOp] | type[RmsNormOp]) -> Callable[[Match], Candidate | None]:
    """A norm without parameters."""

    def build(match: Match) -> Candidate | None:
        axes, rank = match.axes("axes"), match.types["x"].rank
        if not axes or axes != tuple(range(rank - len(axes), rank)):
            return None
        properties = {"dims": IntAttr(len(axes)), "epsilon": ScalarAttr.get(match.number("eps"), F64)}
        return Candidate(op_class, (Operand("x"),), properties, (QUOTIENTS[op_class],))

    return build


def _with_parameter(op_class: type[LayerNormOp] | type[RmsNormOp]) -> Callable[[Match], Candidate | None]:
    """A norm with one parameter more."""

    def build(match: Match) -> Candidate | None:
        properties = {"dims": match.attributes["dims"], "epsilon": match.attributes["eps"]}
        names = [name for name in ("x", "w", "b") if name in match.types]
        return Candidate(op_class, tuple(map(Operand, names)), properties, (QUOTIENTS[op_class],))

    return build


def _mean(x: str, shape: str) -> str:
    """The mean along `axes`, the division after the view, where the theory of views puts it."""
    return _two(DivOp, view(f"m{shape}", f"t{shape}", _sum(x)), f"n{shape}")


def _spread(power: str) -> str:
    return _two(AddOp, power, _constant("eps", "te"))


def _scaled(x: str, spread: str) -> tuple[str, str]:
    """x over the square root, in both ways of writing it."""
    return _two(MulOp, x, _one(RsqrtOp, spread)), _two(DivOp, x, _one(SqrtOp, spread))


def _forms(x: str) -> list[tuple[str, type[LayerNormOp] | type[RmsNormOp], tuple[str, str]]]:
    """Name, op and both forms of each norm of `x`."""
    centred = _two(SubOp, x, _mean(x, "a"))
    return [
        ("layer norm", LayerNormOp, _scaled(centred, _spread("power"))),
        ("rms norm", RmsNormOp, _scaled(x, _spread(_mean(_two(MulOp, x, x), "a")))),
    ]


def _plain_norms() -> list[Proposal]:
    columns = (("axes", "eps"), ("x",))
    found: list[Proposal] = []
    for name, op_class, forms in _forms("x"):
        for way, form in zip(("", " by division"), forms, strict=True):
            found.append(Proposal(f"{name}{way}", f"(= e {form})", *columns, _norm(op_class)))
    for name, op_class, forms in _forms(cast("dc", "x")):
        for way, form in zip(("", " by division"), forms, strict=True):
            found.append(
                Proposal(f"narrow {name}{way}", f"(= e {cast('dt', form)})", *columns, _norm(op_class), dtypes=NARROW)
            )
    return found


def _parametrised() -> list[Proposal]:
    layer, rms = LayerNormOp, RmsNormOp
    weighed = _two(MulOp, pattern(layer, ["dims", "eps"], ["x"]), view("m", "t", "w"))
    shifted = _two(AddOp, pattern(layer, ["dims", "eps"], ["x", "w"]), view("m", "t", "b"))
    scaled = _two(MulOp, pattern(rms, ["dims", "eps"], ["x"]), view("m", "t", "w"))
    texts = ("dims", "eps")
    found = [
        Proposal("layer norm with weight", f"(= e {weighed})", texts, ("x", "w"), _with_parameter(layer)),
        Proposal("layer norm with bias", f"(= e {shifted})", texts, ("x", "w", "b"), _with_parameter(layer)),
        Proposal("rms norm with weight", f"(= e {scaled})", texts, ("x", "w"), _with_parameter(rms)),
    ]
    names = ("x", "w", "b")
    for op_class, count in ((layer, 2), (layer, 3), (rms, 2)):
        whole = pattern(op_class, ["dims", "eps"], [cast("dc", x) for x in names[:count]])
        name = f"narrow {op_class.name} of {count}"
        when = f"(= e {cast('dt', whole)})"
        found.append(Proposal(name, when, texts, names[:count], _with_parameter(op_class), dtypes=NARROW))
    return found


def _mean_by_factor(oracle: str, strictness: Strictness) -> Rule:
    """x * c = x / (1 / c)."""
    name = "quotient from product" + (" by a power of two" if strictness is Strictness.EXACT else "")
    lhs, rhs = _two(MulOp, "x", _constant("c", "t")), _two(DivOp, "x", _constant("r", "t"))
    return rewrite(name, lhs, rhs, Ask("r", oracle, "c"), strictness=strictness)


RULES: tuple[Rule, ...] = (
    _mean_by_factor("exact-reciprocal", Strictness.EXACT),
    _mean_by_factor("reciprocal", Strictness.REAL),
)

NORMALISATION = Theory("normalisation", RULES, (*SOFTMAX, *_plain_norms(), *_parametrised()))
