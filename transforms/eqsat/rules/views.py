"""Views move towards the arguments: through elementwise ops, reductions and contractions, into one another, and
away."""

from __future__ import annotations

from ....dialects.hlir.contraction import ContractOp
from ....dialects.hlir.creation import ConstantOp, IotaOp
from ....dialects.hlir.elementwise import Elementwise
from ....dialects.hlir.reduction import Reduction
from ....dialects.hlir.view import ViewOp
from ....dialects.op import TensorOp
from ..rule import Ask, Rule, Theory, rewrite
from ..signature import OP_CLASSES, form_of, pattern


def view(index_map: str, shape: str, operand: str) -> str:
    """A pattern of a view."""
    return pattern(ViewOp, [index_map, shape], [operand])


def through_elementwise(op: type[TensorOp]) -> Rule:
    """view(f(x, ...)) = f(view(x), ...), for every elementwise op."""
    properties = [f"p{i}" for i in range(len(form_of(op).properties))]
    operands = [f"x{i}" for i in range(form_of(op).fixed)]
    inner = pattern(op, properties, operands)
    outer = pattern(op, properties, [view("m", "t", x) for x in operands])
    return rewrite(f"view through {op.name}", view("m", "t", inner), outer, pushes=True)


def through_reduction(op: type[TensorOp]) -> Rule:
    """view(reduce(x)) = reduce(view(x)), unless the view replicates results."""
    return rewrite(
        f"view through {op.name}",
        view("m", "t", pattern(op, ["axes", "acc"], ["x"])),
        pattern(op, ["newaxes", "acc"], [view("newmap", "newshape", "x")]),
        Ask("newmap", "reduced-view", "m t axes d"),
        Ask("newshape", "reduced-shape", "m t axes d"),
        Ask("newaxes", "reduced-axes", "t axes"),
        where="(= d (dims-of x))",
    )


THROUGH_CONTRACTION = rewrite(
    "view through hlir.contract",
    view("m", "t", pattern(ContractOp, ["lm", "rm", "axes", "space", "acc"], ["a", "b"])),
    pattern(ContractOp, ["newleft", "newright", "newaxes", "newspace", "acc"], ["a", "b"]),
    Ask("newleft", "reduced-map", "m t lm axes space"),
    Ask("newright", "reduced-map", "m t rm axes space"),
    Ask("newaxes", "reduced-axes", "t axes"),
    Ask("newspace", "reduced-shape", "m t axes space"),
)

RULES: tuple[Rule, ...] = (
    # These two push, though they move nothing: two reshapes that undo each other, with an elementwise op on one of
    # them, can be pushed through it for ever, unless the two are known to be none.
    rewrite(
        "view of view",
        view("m", "t", view("n", "u", "x")),
        view("c", "t", "x"),
        Ask("c", "compose", "m n t"),
        pushes=True,
    ),
    rewrite(
        "identity view",
        view("m", "t", "x"),
        "x",
        Ask("ok", "is-identity", "m t d"),
        where="(= d (dims-of x))",
        pushes=True,
    ),
    rewrite(
        "view of constant",
        view("m", "t", pattern(ConstantOp, ["v", "u"], [])),
        pattern(ConstantOp, ["v", "t"], []),
        pushes=True,
    ),
    rewrite(
        "view of iota",
        view("m", "t", pattern(IotaOp, ["v", "u", "dt"], [])),
        pattern(IotaOp, ["c", "t", "dt"], []),
        Ask("c", "compose", "m v t"),
    ),
    *(through_elementwise(op) for op in OP_CLASSES if issubclass(op, Elementwise)),
    *(through_reduction(op) for op in OP_CLASSES if issubclass(op, Reduction)),
    THROUGH_CONTRACTION,
)

VIEWS = Theory("views", RULES)
