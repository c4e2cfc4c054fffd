"""Tensors put together, and padding."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from xdsl.dialects.builtin import IntAttr
from xdsl.ir import SSAValue

from ....dialects.hlir.arranging import ConcatOp, PadOp
from ....dialects.hlir.index_map import IndexMap
from ....dialects.hlir.types import ScalarAttr, ShapeAttr
from ....dialects.op import tensor_of
from ....dialects.sym.expr import Expr, constant, index
from ..call import Call, Handler
from .signs import is_negative


def concat(call: Call) -> SSAValue:
    """The tensors one after another along a dim; empty 1-d tensors do not count, as torch has it."""
    rank = len(call.dims)
    parts = [call.b.cast(x, call.dtype) for x in call.tensors("tensors")]
    parts = [x for x in parts if tensor_of(x).rank == rank and not (rank > 1 and _is_legacy_empty(x))]
    if not parts:
        return call.b.constant(0, call.type)
    return call.b.emit(ConcatOp, parts, axis=IntAttr(call.axis("dim", rank)))


def _is_legacy_empty(x: SSAValue) -> bool:
    dims = tensor_of(x).dims
    return len(dims) == 1 and dims[0].as_int() == 0


def stack(call: Call) -> SSAValue:
    """The tensors along a new dim."""
    axis = call.axis("dim", len(call.dims))
    dims = [constant(1) if i == axis else d for i, d in enumerate(call.dims)]
    parts = [call.b.reshape(call.b.cast(x, call.dtype), dims) for x in call.tensors("tensors")]
    return call.b.emit(ConcatOp, parts, axis=IntAttr(axis))


def amounts(call: Call, rank: int) -> tuple[list[Expr], list[Expr]]:
    """What `pad` adds before and after each dim; it lists the last dim first."""
    pad = [call.lift(p) for p in call.value("pad" if "pad" in call.argument_names else "padding")]
    low: list[Expr] = [constant(0)] * rank
    high: list[Expr] = [constant(0)] * rank
    for i in range(len(pad) // 2):
        low[rank - 1 - i], high[rank - 1 - i] = pad[2 * i], pad[2 * i + 1]
    return low, high


def constant_pad(call: Call) -> SSAValue:
    """`value` around self; a negative amount crops."""
    b = call.b
    x = call.tensor("self")
    type_ = tensor_of(x)
    low, high = amounts(call, type_.rank)
    zero = constant(0)
    cropped = [[a if is_negative(call, a) else zero for a in side] for side in (low, high)]
    dims = [d + a + c for d, a, c in zip(type_.dims, *cropped, strict=True)]
    exprs = [index(i) - a for i, a in enumerate(cropped[0])]
    x = b.view(x, IndexMap(type_.rank, tuple(exprs)), dims)
    grown = [
        ShapeAttr.get(a - c for a, c in zip(side, cut, strict=True))
        for side, cut in zip((low, high), cropped, strict=True)
    ]
    value = call.value("value")
    scalar = ScalarAttr.get(0 if value is None else value, type_.dtype)
    if all(a.as_int() == 0 for side in grown for a in side.data):
        return x
    return b.emit(PadOp, [x], low=grown[0], high=grown[1], value=scalar)


def pad(call: Call) -> SSAValue:
    """aten.pad in constant mode."""
    call.require("mode", "constant")
    return constant_pad(call)


HANDLERS: Mapping[str, Handler] = MappingProxyType(
    {
        "aten.cat.default": concat,
        "aten.concat.default": concat,
        "aten.stack.default": stack,
        "aten.constant_pad_nd.default": constant_pad,
        "aten.pad.default": pad,
    }
)
