"""Scaled dot product attention in the forms torch gives it: the composite, and the backends' forward ops."""

from __future__ import annotations

from collections.abc import Mapping
from math import sqrt
from types import MappingProxyType

from xdsl.dialects.builtin import BoolAttr
from xdsl.ir import OpResult, SSAValue

from ....dialects.dtype import F64, I1
from ....dialects.hlir.arithmetic import ExpOp, LogOp, SubOp
from ....dialects.hlir.attention import SdpaOp
from ....dialects.hlir.elementwise import AddOp, MulOp
from ....dialects.hlir.index_map import IndexMap
from ....dialects.hlir.reduction import MaxOp, SumOp
from ....dialects.hlir.types import ScalarAttr, axes_attr
from ....dialects.op import tensor_of
from ....dialects.sym.expr import Expr, floordiv, index
from ..call import Call, Handler
from ..unsupported import UnsupportedNodeError
from .matmul import product


class Attention:
    """The operands of an attention call as hlir.sdpa takes them: rank 4, mask and heads broadcast."""

    def __init__(self, call: Call, mask: str):
        b = call.b
        q, k, v = (call.tensor(name) for name in ("query", "key", "value"))
        given = call.optional_tensor(mask) if mask else None
        self.causal = call.flag("is_causal") if "is_causal" in call.argument_names else False
        self.lead = tensor_of(q).dims[:-2]
        heads = tensor_of(q).dims[-3:-2]
        if tensor_of(k).dims[-3:-2] != heads:
            k, v = (_repeat_heads(call, x, heads[0]) for x in (k, v))
        if tensor_of(k).dims[:-2] != self.lead:
            k, v = (b.broadcast(x, (*self.lead, *tensor_of(x).dims[-2:])) for x in (k, v))
        if given is not None:
            given = given if tensor_of(given).dtype == I1 else b.cast(given, tensor_of(q).dtype)
            given = b.broadcast(given, (*self.lead, tensor_of(q).dims[-2], tensor_of(k).dims[-2]))
        self.operands = [self.with_rank_4(call, x) for x in (q, k, v, *([] if given is None else [given]))]
        scale = call.value("scale") if "scale" in call.argument_names else None
        self.scale = float(scale) if scale is not None else _default_scale(tensor_of(q).dims[-1])

    def with_rank_4(self, call: Call, x: SSAValue) -> SSAValue:
        """x with exactly two dims before its last two."""
        dims = tensor_of(x).dims
        if len(dims) == 4:
            return x
        one: Expr | int = 1
        merged = one
        for extent in dims[:-3]:
            merged = extent * merged
        heads = dims[-3] if len(dims) > 2 else 1
        return call.b.reshape(x, [merged, heads, *dims[-2:]])

    def output(self, call: Call) -> SSAValue:
        """The attention itself, at the sizes of the query."""
        y = self.emit(call).result
        return call.b.reshape(y, (*self.lead, *tensor_of(y).dims[-2:]))

    def emit(self, call: Call) -> SdpaOp:
        """The op on its operands of rank 4."""
        scale, causal = ScalarAttr.get(self.scale, F64), BoolAttr.from_bool(self.causal)
        (y,) = call.b.emit_all(SdpaOp, self.operands, scale=scale, causal=causal)
        assert isinstance(y, OpResult) and isinstance(y.op, SdpaOp)
        return y.op

    def logsumexp(self, call: Call, op: SdpaOp) -> SSAValue:
        """ln sum e^score over the keys of each query, in the computation dtype."""
        b = call.b
        q, k = (b.cast(x, tensor_of(x).dtype.compute) for x in self.operands[:2])
        scores = product(b, q, b.permute(k, [0, 1, 3, 2]))
        scores = op.masked(b, b.emit(MulOp, [scores, b.constant(self.scale, tensor_of(scores))]))
        top = b.emit(MaxOp, [scores], axes=axes_attr([3]))
        terms = b.emit(ExpOp, [b.emit(SubOp, [scores, b.restore_axes(top, [3], tensor_of(scores).dims)])])
        return b.emit(AddOp, [b.emit(LogOp, [b.emit(SumOp, [terms], axes=axes_attr([3]))]), top])


def _default_scale(depth: Expr) -> float:
    known = depth.as_int()
    if known is None:
        raise UnsupportedNodeError("scales by the root of a head size that is not static")
    return 1.0 / sqrt(known) if known else 1.0


def _repeat_heads(call: Call, x: SSAValue, heads: Expr) -> SSAValue:
    """Each key and value head read by the query heads of its group (enable_gqa)."""
    dims = tensor_of(x).dims
    group, axis = floordiv(heads, dims[-3]), len(dims) - 3
    exprs = [floordiv(index(i), group) if i == axis else index(i) for i in range(len(dims))]
    return call.b.view(x, IndexMap(len(dims), tuple(exprs)), (*dims[:axis], heads, *dims[axis + 1 :]))


def _no_dropout(call: Call) -> None:
    if call.number("dropout_p") != 0:
        raise UnsupportedNodeError("draws random numbers (attention dropout)")


def attention(call: Call) -> SSAValue:
    """aten.scaled_dot_product_attention."""
    _no_dropout(call)
    call.ignore("enable_gqa")
    return Attention(call, "attn_mask").output(call)


def with_logsumexp(mask: str) -> Handler:
    """The forward op of a backend: the output, the log of each row's sum where it is read, and what only its kernels
    need."""

    def handler(call: Call) -> list[SSAValue | None]:
        _no_dropout(call)
        call.ignore("return_debug_mask", "compute_log_sumexp", "compute_logsumexp")
        inputs = Attention(call, mask)
        op = inputs.emit(call)
        output = call.b.reshape(op.result, call.fake(0).dims)
        results: list[SSAValue | None] = [output] + [None] * (call.result_count - 1)
        if call.is_read(1):
            fake = call.fake(1)
            results[1] = call.b.reshape(call.b.cast(inputs.logsumexp(call, op), fake.type.dtype), fake.dims)
        others = [i for i in range(2, len(results)) if call.is_read(i)]
        if others:
            raise UnsupportedNodeError(f"has its result {others[0]} read, which only the kernels of torch understand")
        return results

    return handler


HANDLERS: Mapping[str, Handler] = MappingProxyType(
    {
        "aten.scaled_dot_product_attention.default": attention,
        "aten._scaled_dot_product_flash_attention_for_cpu.default": with_logsumexp("attn_mask"),
        "aten._scaled_dot_product_flash_attention.default": with_logsumexp(""),
        "aten._scaled_dot_product_efficient_attention.default": with_logsumexp("attn_bias"),
        "aten._scaled_dot_product_cudnn_attention.default": with_logsumexp("attn_bias"),
    }
)
