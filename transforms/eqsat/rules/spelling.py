"""Every composite and its definition: structured ones get their expansions, elementwise ones are also found from
theirs."""

from __future__ import annotations

import math
from collections.abc import Mapping

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Attribute, Block, BlockArgument, SSAValue

from ....dialects.dtype import F16, F32, F64, FLOATS, I32, I64, DType
from ....dialects.errors import TypeRuleError
from ....dialects.hlir.activation import GeluOp, SiluOp
from ....dialects.hlir.arithmetic import ErfOp, ExpOp, NegOp
from ....dialects.hlir.builder import GraphBuilder
from ....dialects.hlir.composite import Composite
from ....dialects.hlir.conversion import BitcastOp, CastOp, SelectOp
from ....dialects.hlir.creation import ConstantOp
from ....dialects.hlir.elementwise import AddOp, DivOp, Elementwise, MulOp, RecipOp
from ....dialects.hlir.types import ScalarAttr, tensor_type
from ....dialects.op import TensorOp
from ..rule import NARROW, Ask, Rule, Strictness, Theory, rewrite
from ..signature import OP_CLASSES, call, form_of, pattern, quote

LONGEST = 16
"""Ops of the longest elementwise expansion that takes part: nobody writes a longer one out by hand."""

DTYPES: tuple[DType, ...] = (F32, F64, I32, I64)
"""Element types in which hand-written definitions are looked for; narrow floats are computed in f32."""


def is_spelled_out(op: type[TensorOp], length: int) -> bool:
    """Whether a composite with an expansion of this many ops gets it in the e-graph."""
    return not issubclass(op, Elementwise) or length <= LONGEST


def _definition(op: type[TensorOp], properties: Mapping[str, Attribute], dtype: DType) -> tuple[Block, SSAValue] | None:
    """The expansion of an elementwise composite on 0-d operands; None where the op has no such dtype."""
    assert issubclass(op, Elementwise)
    block = Block(arg_types=[tensor_type([], dtype)] * op.ARITY)
    try:
        scratch = op.make(list(block.args), properties)
    except TypeRuleError:
        return None
    (result,) = scratch.expand(GraphBuilder(block))
    return block, result


def _as_pattern(value: SSAValue, block: Block) -> str:
    """The term of an expansion with the operands as x0, x1, ... and the shape of constants free."""
    owner = value.owner
    if isinstance(value, BlockArgument):
        return f"x{value.index}"
    assert isinstance(owner, TensorOp)
    form = form_of(type(owner))
    if isinstance(owner, ConstantOp):
        return call(form.constructor(0), quote(str(owner.value)), f"s{list(block.ops).index(owner)}")
    texts = [quote(str(owner.properties[name])) if name in owner.properties else '""' for name in form.properties]
    return pattern(type(owner), texts, [_as_pattern(o, block) for o in owner.operands])


def recognised(op: type[TensorOp], properties: Mapping[str, Attribute], dtype: DType) -> Rule | None:
    """The rule that finds an elementwise composite by its definition."""
    defined = _definition(op, properties, dtype)
    if defined is None or len(list(defined[0].ops)) > LONGEST:
        return None
    block, result = defined
    lhs = _as_pattern(result, block)
    operands = [f"x{i}" for i in range(len(block.args))]
    texts = [quote(str(properties[name])) for name in form_of(op).properties]
    exact = issubclass(op, Composite) and op.ULP == 0 and op.ABSOLUTE == 0
    name = " ".join([op.name, *(str(p) for p in properties.values()), dtype.name]).replace('"', "")
    where = f"(= {quote(str(dtype.attr))} (dtype-of x0))"
    strictness = Strictness.EXACT if exact else Strictness.SPELLING
    return rewrite(
        f"{name} from its definition",
        lhs,
        pattern(op, texts, operands),
        strictness=strictness,
        where=where,
        dtypes=(dtype.name,),
    )


def _settings(op: type[TensorOp]) -> list[Mapping[str, Attribute]]:
    """The properties that an elementwise composite may have, from its samples."""
    found: list[Mapping[str, Attribute]] = []
    for sample in op.SAMPLES:
        if not sample.error and dict(sample.properties) not in found:
            found.append(dict(sample.properties))
    return found


def _recognitions() -> tuple[Rule, ...]:
    composites = [op for op in OP_CLASSES if issubclass(op, Composite) and issubclass(op, Elementwise)]
    rules = [recognised(op, p, d) for op in composites for p in _settings(op) for d in DTYPES]
    return tuple(rule for rule in rules if rule is not None)


def through_cast(op: type[TensorOp]) -> Rule | None:
    """cast(f(cast(x), ...)) = f(x, ...), because a narrow float op is defined as computed wide and rounded once."""
    if not issubclass(op, Elementwise) or op.RESULT is not None or F16 not in op.DOMAIN:
        return None
    if issubclass(op, CastOp | BitcastOp | SelectOp):
        return None
    properties = [f"p{i}" for i in range(len(form_of(op).properties))]
    operands = [f"x{i}" for i in range(form_of(op).fixed)]
    wide = pattern(op, properties, [pattern(CastOp, ["dc"], [x]) for x in operands])
    return rewrite(
        f"narrow {op.name}",
        pattern(CastOp, ["dt"], [wide]),
        pattern(op, properties, operands),
        Ask("ok", "computes-in", "dt dc"),
        where=" ".join(f"(= dt (dtype-of {x}))" for x in operands),
        dtypes=NARROW,
    )


def commuted(op: type[TensorOp]) -> Rule:
    """f(x, y) = f(y, x)."""
    return rewrite(f"{op.name} commutes", pattern(op, [], ["x", "y"]), pattern(op, [], ["y", "x"]))


def number(value: float, dtype: DType, shape: str) -> str:
    """A pattern of a constant filled with `value`; `shape` is a variable."""
    return pattern(ConstantOp, [quote(str(ScalarAttr.get(value, dtype))), shape], [])


def _two(op: type[TensorOp], a: str, b: str) -> str:
    return pattern(op, [], [a, b])


def reciprocals(dtype: DType) -> Rule:
    """1 / x = recip(x): both are rounded correctly."""
    lhs = _two(DivOp, number(1.0, dtype, "s"), "x")
    return rewrite(f"reciprocal {dtype.name}", lhs, pattern(RecipOp, [], ["x"]), dtypes=(dtype.name,))


def _variants(dtype: DType) -> tuple[Rule, ...]:
    """Activations written in other ways, all within the bound of the composite."""
    curve = pattern(ErfOp, [], [_two(MulOp, "x", number(math.sqrt(0.5), dtype, "s0"))])
    twice = _two(AddOp, curve, number(1.0, dtype, "s1"))
    half = number(0.5, dtype, "s2")
    gelu = pattern(GeluOp, [quote(str(StringAttr("none")))], ["x"])
    below = _two(AddOp, pattern(ExpOp, [], [pattern(NegOp, [], ["x"])]), number(1.0, dtype, "s0"))
    cases = (
        ("gelu as x times half of it", _two(MulOp, "x", _two(MulOp, twice, half)), gelu),
        ("gelu as half of x times it", _two(MulOp, _two(MulOp, "x", twice), half), gelu),
        ("silu as a quotient", _two(DivOp, "x", below), pattern(SiluOp, [], ["x"])),
    )
    return tuple(
        rewrite(f"{name} {dtype.name}", lhs, rhs, strictness=Strictness.SPELLING, dtypes=(dtype.name,))
        for name, lhs, rhs in cases
    )


RULES: tuple[Rule, ...] = (
    *_recognitions(),
    *(rule for rule in map(through_cast, OP_CLASSES) if rule is not None),
    *(commuted(op) for op in OP_CLASSES if issubclass(op, Elementwise) and op.COMMUTATIVE),
    *(reciprocals(dtype) for dtype in FLOATS[:4]),
    *(rule for dtype in (F32, F64) for rule in _variants(dtype)),
)

SPELLING = Theory("spelling", RULES, expands=True)
