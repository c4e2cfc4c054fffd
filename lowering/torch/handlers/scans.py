"""Prefix combinations along one dim: sums, products, extremes with their places, logarithms of sums."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from xdsl.dialects.builtin import IntAttr, StringAttr
from xdsl.ir import SSAValue

from ....dialects.dtype import I64, U8
from ....dialects.hlir.creation import IotaOp
from ....dialects.hlir.ordering import ScanOp
from ....dialects.hlir.types import MapAttr
from ....dialects.op import tensor_of
from ....dialects.sym.expr import index
from ..call import Call, Handler
from ..element_types import SCALAR_NAMES
from ..unsupported import EagerRaisesError, UnsupportedNodeError
from .indexing import gather_elements, is_empty
from .terms import Term, when


def scan(combine: str) -> Handler:
    """The prefix combinations in the dtype of the result."""

    def handler(call: Call) -> SSAValue:
        if "dtype" in call.argument_names:
            call.ignore("dtype")
        if combine == "log_add_exp" and not call.dtype.is_float:
            if call.is_cuda:
                raise UnsupportedNodeError("is not supported on integers")
            kind = SCALAR_NAMES[call.dtype]
            raise EagerRaisesError(NotImplementedError(f"\"logcumsumexp_out_cpu\" not implemented for '{kind}'"))
        x = call.b.cast(call.tensor("self"), call.dtype)
        rank = tensor_of(x).rank
        axis = call.axis("dim", rank)
        if not rank:
            return x
        return call.b.emit(ScanOp, [x], axis=IntAttr(axis), combine=StringAttr(combine))

    return handler


def extreme_so_far(combine: str) -> Handler:
    """The largest or smallest element so far and the last place where it stood; the last NaN once there was one."""

    def handler(call: Call) -> list[SSAValue]:
        b, x = call.b, call.tensor("self")
        type_ = tensor_of(x)
        axis = call.axis("dim", type_.rank)
        if not type_.rank or is_empty(x):
            return [x, b.constant(0, type_.with_dtype(I64))]
        keys = b.cast(x, U8) if type_.dtype.is_bool else x
        best = Term(b, b.emit(ScanOp, [keys], axis=IntAttr(axis), combine=StringAttr(combine)))
        key = Term(b, keys)
        stands = key.equals(best)
        if type_.dtype.is_float:
            stands = stands | key.is_nan()
        place = b.emit(IotaOp, [], value=MapAttr.get(type_.rank, [index(axis)]), shape=type_.shape, dtype=I64.attr)
        here = when(stands, Term(b, place), 0)
        places = b.emit(ScanOp, [here.value], axis=IntAttr(axis), combine=StringAttr("maximum"))
        return [gather_elements(b, x, places, axis), places]

    return handler


HANDLERS: Mapping[str, Handler] = MappingProxyType(
    {
        "aten.cumsum.default": scan("add"),
        "aten.cumprod.default": scan("mul"),
        "aten.logcumsumexp.default": scan("log_add_exp"),
        "aten.cummax.default": extreme_so_far("maximum"),
        "aten.cummin.default": extreme_so_far("minimum"),
    }
)
