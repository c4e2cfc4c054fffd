"""Scaled dot product attention in the forms torch gives it: the composite, and the backends' forward ops."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from types import MappingProxyType

from xdsl.dialects.builtin import BoolAttr
from xdsl.ir import SSAValue

from ....dialects.dtype import F64, I1, I64
from ....dialects.hlir.arithmetic import ExpOp, LogOp, SubOp
from ....dialects.hlir.attention import SdpaOp
from ....dialects.hlir.comparison import LessEqualOp
from ....dialects.hlir.conversion import SelectOp
from ....dialects.hlir.creation import IotaOp
from ....dialects.hlir.elementwise import AddOp, MulOp
from ....dialects.hlir.index_map import IndexMap
from ....dialects.hlir.reduction import MaxOp, SumOp
from ....dialects.hlir.types import MapAttr, ScalarAttr, axes_attr
from ....dialects.op import tensor_of
from ....dialects.sym.expr import Expr, floordiv, index
from ..call import Call, Handler
from ..promotion import number_tensor
from ..symbolic_float import FloatExpr, reciprocal_root
from ..unsupported import UnsupportedNodeError
from .matmul import product


class Attention:
    """The operands of an attention call as hlir.sdpa takes them: rank 4, mask and heads broadcast."""

    def __init__(self, call: Call, mask: str):
        b = call.b
        q, k, v = (call.tensor(name) for name in ("query", "key", "value"))
        v = call.with_sizes(v, (*tensor_of(v).dims[:-2], *tensor_of(k).dims[-2:-1], *tensor_of(v).dims[-1:]))
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
        default = reciprocal_root(tensor_of(q).dims[-1])
        self.scale: float | FloatExpr = default if scale is None else scale

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
        causal = BoolAttr.from_bool(self.causal)
        if isinstance(self.scale, FloatExpr):
            dtype = tensor_of(self.operands[0]).dtype
            q, k, v, *masks = (x if tensor_of(x).dtype == I1 else call.b.cast(x, dtype.compute) for x in self.operands)
            q = call.b.emit(MulOp, [q, number_tensor(call, self.scale, tensor_of(q))])
            y = call.b.emit(SdpaOp, [q, k, v, *masks], scale=ScalarAttr.get(1.0, F64), causal=causal)
            y = call.b.cast(y, dtype)
        else:
            y = call.b.emit(SdpaOp, self.operands, scale=ScalarAttr.get(self.scale, F64), causal=causal)
        return call.b.reshape(y, (*self.lead, *tensor_of(y).dims[-2:]))

    def scores(self, call: Call) -> SSAValue:
        """scale q k^T with the mask and the causal limit applied, in the computation dtype."""
        b = call.b
        q, k = (b.cast(x, tensor_of(x).dtype.compute) for x in self.operands[:2])
        scores = product(b, q, b.permute(k, [0, 1, 3, 2]))
        type_ = tensor_of(scores)
        scores = b.emit(MulOp, [scores, number_tensor(call, self.scale, type_)])
        nothing = b.constant(-inf, type_)
        for mask in self.operands[3:]:
            if tensor_of(mask).dtype == I1:
                scores = b.emit(SelectOp, [mask, scores, nothing])
            else:
                scores = b.emit(AddOp, [scores, b.cast(mask, type_.dtype)])
        if self.causal:
            places = [
                b.emit(IotaOp, [], value=MapAttr.get(4, [index(i)]), shape=type_.shape, dtype=I64.attr) for i in (3, 2)
            ]
            scores = b.emit(SelectOp, [b.emit(LessEqualOp, places), scores, nothing])
        return scores

    def logsumexp(self, call: Call) -> SSAValue:
        """ln sum e^score over the keys of each query, in the computation dtype."""
        b = call.b
        scores = self.scores(call)
        top = b.emit(MaxOp, [scores], axes=axes_attr([3]))
        terms = b.emit(ExpOp, [b.emit(SubOp, [scores, b.restore_axes(top, [3], tensor_of(scores).dims)])])
        return b.emit(AddOp, [b.emit(LogOp, [b.emit(SumOp, [terms], axes=axes_attr([3]))]), top])


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
        results: list[SSAValue | None] = [inputs.output(call)] + [None] * (call.result_count - 1)
        if call.is_read(1):
            fake = call.fake(1)
            results[1] = call.b.reshape(call.b.cast(inputs.logsumexp(call), fake.type.dtype), fake.dims)
        others = [i for i in range(2, len(results)) if call.is_read(i)]
        if others:
            raise UnsupportedNodeError(f"has its result {others[0]} read, which only the kernels of torch understand")
        return results

    return handler


def gradient(call: Call) -> list[SSAValue]:
    """The gradients of query, key and value from the output and the log of each row's sum.

    With p = e^(score - logsumexp): dv = p^T g, ds = p (g v^T - sum(g out)), dq = scale ds k, dk = scale ds^T q.
    """
    b = call.b
    _no_dropout(call)
    inputs = Attention(call, "attn_mask")
    q, k, v = (b.cast(x, tensor_of(x).dtype.compute) for x in inputs.operands[:3])
    grad, out, rows = (b.cast(call.tensor(n), tensor_of(q).dtype) for n in ("grad_out", "out", "logsumexp"))
    scores = inputs.scores(call)
    dims = tensor_of(scores).dims
    p = b.emit(ExpOp, [b.emit(SubOp, [scores, b.restore_axes(rows, [3], dims)])])
    common = b.emit(SumOp, [b.emit(MulOp, [grad, out])], axes=axes_attr([3]))
    slope = b.emit(SubOp, [product(b, grad, b.permute(v, [0, 1, 3, 2])), b.restore_axes(common, [3], dims)])
    ds = b.emit(MulOp, [b.emit(MulOp, [p, slope]), number_tensor(call, inputs.scale, tensor_of(scores))])
    results = [
        product(b, ds, k),
        product(b, b.permute(ds, [0, 1, 3, 2]), q),
        product(b, b.permute(p, [0, 1, 3, 2]), grad),
    ]
    return [b.cast(r, call.fake(i).type.dtype) for i, r in enumerate(results)]


HANDLERS: Mapping[str, Handler] = MappingProxyType(
    {
        "aten.scaled_dot_product_attention.default": attention,
        "aten._scaled_dot_product_flash_attention_for_cpu.default": with_logsumexp("attn_mask"),
        "aten._scaled_dot_product_flash_attention_for_cpu_backward.default": gradient,
        "aten._scaled_dot_product_flash_attention.default": with_logsumexp(""),
        "aten._scaled_dot_product_efficient_attention.default": with_logsumexp("attn_bias"),
        "aten._scaled_dot_product_cudnn_attention.default": with_logsumexp("attn_bias"),
    }
)
