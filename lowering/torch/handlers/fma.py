"""a b + c without rounding the product, which dynamo makes of `add_` and `addcmul_` whose factor is a tensor."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from xdsl.ir import SSAValue

from ....dialects.hlir.elementwise import FmaOp
from ..call import Call, Handler
from ..promotion import promote


def fused_multiply_add(call: Call) -> SSAValue:
    """a b + c, rounded once."""
    promoted = promote(call, ("a", "b", "c"))
    dtype = promoted.dtype.compute
    operands = [call.b.cast(x, dtype) for x in promoted.operands]
    return call.b.cast(call.b.emit(FmaOp, operands), promoted.result)


HANDLERS: Mapping[str, Handler] = MappingProxyType({"prims.fma.default": fused_multiply_add})
