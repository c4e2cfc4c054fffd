"""Sorting and picking the largest."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from xdsl.dialects.builtin import BoolAttr, IntAttr
from xdsl.ir import SSAValue

from ....dialects.hlir.ordering import SortOp
from ....dialects.op import tensor_of
from ....dialects.sym.expr import constant
from ..call import Call, Handler
from .views import slice_view


def _sorted(call: Call, descending: bool) -> list[SSAValue]:
    x = call.tensor("self")
    rank = tensor_of(x).rank
    axis = call.axis("dim", rank)
    source = x if rank else call.b.reshape(x, [1])
    results = call.b.emit_all(SortOp, [source], axis=IntAttr(axis), descending=BoolAttr.from_bool(descending))
    return [r if rank else call.b.reshape(r, []) for r in results]


def sort(call: Call) -> list[SSAValue]:
    """Values and places; always stable, which eager need not be."""
    call.ignore("stable")
    return _sorted(call, call.flag("descending"))


def argsort(call: Call) -> SSAValue:
    """The places alone."""
    call.ignore("stable")
    return _sorted(call, call.flag("descending"))[1]


def topk(call: Call) -> list[SSAValue]:
    """The first k of a sort; sorted, which eager need not be."""
    call.ignore("sorted")
    k = call.expression("k")
    results = _sorted(call, call.flag("largest"))
    rank = tensor_of(results[0]).rank
    if not rank:
        return results
    return [slice_view(call, r, call.axis("dim", rank), constant(0), 1, k) for r in results]


HANDLERS: Mapping[str, Handler] = MappingProxyType(
    {
        "aten.sort.default": sort,
        "aten.sort.stable": sort,
        "aten.argsort.default": argsort,
        "aten.argsort.stable": argsort,
        "aten.topk.default": topk,
    }
)
