"""Layer, RMS, group and batch norm, with the statistics that training keeps."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from types import MappingProxyType

import numpy as np
from xdsl.dialects.builtin import IntAttr
from xdsl.ir import SSAValue

from ....dialects.dtype import F64
from ....dialects.hlir.arithmetic import RsqrtOp, SubOp
from ....dialects.hlir.elementwise import AddOp, DivOp, MulOp
from ....dialects.hlir.index_map import IndexMap
from ....dialects.hlir.normalization import BatchNormOp, LayerNormOp, RmsNormOp, RowNorm, dim_scalar
from ....dialects.hlir.reduction import SumOp
from ....dialects.hlir.types import ScalarAttr, axes_attr
from ....dialects.op import tensor_of
from ....dialects.sym.expr import constant, index
from ..call import Call, Handler
from ..unsupported import UnsupportedNodeError


def _row_norm(call: Call, op_class: type[RowNorm], x: SSAValue, dims: int, eps: float) -> SSAValue:
    """The norm with its weight and bias as far as given; where they have another dtype, everything is computed in the
    wider one."""
    parameters = [call.optional_tensor(name) for name in ("weight", "bias") if name in call.argument_names]
    weight, bias = (*parameters, None)[:2]
    if weight is None and bias is not None:
        weight = call.b.constant(1, tensor_of(bias))
    given = [p for p in (weight, bias) if p is not None]
    dtype = tensor_of(x).dtype
    if any(tensor_of(p).dtype != dtype for p in given):
        dtype = dtype.compute
    operands = [call.b.cast(v, dtype) for v in (x, *given)]
    return call.b.emit(op_class, operands, dims=IntAttr(dims), epsilon=ScalarAttr.get(eps, F64))


def layer_norm(call: Call) -> SSAValue:
    """aten.layer_norm."""
    call.ignore("cudnn_enable")
    x = call.tensor("input")
    dims = len(call.value("normalized_shape"))
    return call.b.cast(_row_norm(call, LayerNormOp, x, dims, float(call.value("eps"))), call.dtype)


def native_layer_norm(call: Call) -> list[SSAValue | None]:
    """The norm, and where they are read, the mean and 1 / sqrt(variance + eps) of each row."""
    b = call.b
    x = call.tensor("input")
    dims, eps = len(call.value("normalized_shape")), float(call.value("eps"))
    rank = tensor_of(x).rank
    norm = b.cast(_row_norm(call, LayerNormOp, x, dims, eps), call.fake(0).type.dtype)
    mean, scale = _row_statistics(call, x, list(range(rank - dims, rank)), eps) if _reads(call, 1, 2) else (None, None)
    return [norm, mean, scale]


def _reads(call: Call, *results: int) -> bool:
    return any(call.is_read(result) for result in results)


def _row_statistics(call: Call, x: SSAValue, axes: list[int], eps: float) -> tuple[SSAValue, SSAValue]:
    """(mean, 1 / sqrt(variance + eps)) over the axes, at the sizes and dtypes that torch gives results 1 and 2."""
    b = call.b
    wide = b.cast(x, tensor_of(x).dtype.compute)
    dims = tensor_of(wide).dims
    total = b.emit(SumOp, [wide], axes=axes_attr(axes))
    count = dim_scalar(b, reduce(lambda p, q: p * q, (dims[a] for a in axes), constant(1)), tensor_of(total))
    mean = b.emit(DivOp, [total, count])
    centred = b.emit(SubOp, [wide, b.restore_axes(mean, axes, dims)])
    squares = b.emit(SumOp, [b.emit(MulOp, [centred, centred])], axes=axes_attr(axes))
    variance = b.emit(DivOp, [squares, count])
    scale = b.emit(RsqrtOp, [b.emit(AddOp, [variance, b.constant(eps, tensor_of(variance))])])
    fakes = (call.fake(1), call.fake(2))
    first, second = (b.reshape(b.cast(v, f.type.dtype), f.dims) for v, f in zip((mean, scale), fakes, strict=True))
    return first, second


def rms_norm(call: Call) -> SSAValue:
    """x / sqrt(mean x^2 + eps); eps defaults to that of the computation dtype, f32 for narrow floats."""
    x = call.tensor("input")
    eps = call.value("eps")
    eps = float(np.finfo(call.dtype.compute.numpy).eps) if eps is None else float(eps)
    return call.b.cast(_row_norm(call, RmsNormOp, x, len(call.value("normalized_shape")), eps), call.dtype)


def batch_norm_inference(call: Call) -> list[SSAValue | None]:
    """Batch norm with given statistics; the saved ones are empty."""
    call.ignore("momentum")
    y = _batch_norm(call, "running_mean", "running_var")
    return [y, *(_empty(call, k) for k in range(1, call.result_count))]


def native_batch_norm(call: Call) -> list[SSAValue | None]:
    """aten.native_batch_norm in evaluation mode."""
    if call.flag("training"):
        raise UnsupportedNodeError("computes batch statistics (batch norm in training mode)")
    return batch_norm_inference(call)


def batch_norm(call: Call) -> SSAValue:
    """aten.batch_norm in evaluation mode."""
    call.ignore("momentum", "cudnn_enabled")
    if call.flag("training"):
        raise UnsupportedNodeError("computes batch statistics (batch norm in training mode)")
    return _batch_norm(call, "running_mean", "running_var")


def _empty(call: Call, result: int) -> SSAValue | None:
    return call.b.constant(0, call.fake(result).type) if call.is_read(result) else None


def _batch_norm(call: Call, mean: str, variance: str) -> SSAValue:
    x = call.tensor("input")
    type_ = tensor_of(x)
    statistics = [call.tensor(mean), call.tensor(variance)]
    channels = tensor_of(statistics[0])
    weight = call.optional_tensor("weight")
    bias = call.optional_tensor("bias")
    weight = call.b.constant(1, channels) if weight is None else weight
    bias = call.b.constant(0, channels) if bias is None else bias
    operands = [x, *statistics, weight, bias]
    dtype = type_.dtype if all(tensor_of(o).dtype == type_.dtype for o in operands) else type_.dtype.compute
    wide = [call.b.cast(o, dtype) for o in operands]
    y = call.b.emit(BatchNormOp, wide, epsilon=ScalarAttr.get(float(call.value("eps")), F64))
    return call.b.cast(y, type_.dtype)


def group_norm(call: Call) -> list[SSAValue | None]:
    """aten.native_group_norm: layer norm of each group of channels, then weight and bias of each channel."""
    b = call.b
    x = call.tensor("input")
    call.ignore("N", "C", "HxW")
    groups, eps = call.integer("group"), float(call.value("eps"))
    type_ = tensor_of(x)
    size = reduce(lambda p, q: p * q, type_.dims[1:], constant(1))
    rows = b.reshape(b.cast(x, type_.dtype.compute), [type_.dims[0], groups, size // groups])
    norm = b.emit(LayerNormOp, [rows], dims=IntAttr(1), epsilon=ScalarAttr.get(eps, F64))
    y = b.reshape(norm, type_.dims)
    for op_class, name in ((MulOp, "weight"), (AddOp, "bias")):
        parameter = call.optional_tensor(name)
        if parameter is not None:
            wide = b.cast(parameter, tensor_of(y).dtype)
            y = b.emit(op_class, [y, b.view(wide, IndexMap(type_.rank, (index(1),)), type_.dims)])
    mean, scale = _row_statistics(call, rows, [2], eps) if _reads(call, 1, 2) else (None, None)
    return [b.cast(y, type_.dtype), mean, scale]


HANDLERS: Mapping[str, Handler] = MappingProxyType(
    {
        "aten.layer_norm.default": layer_norm,
        "aten.native_layer_norm.default": native_layer_norm,
        "aten.rms_norm.default": rms_norm,
        "aten.batch_norm.default": batch_norm,
        "aten._native_batch_norm_legit_no_training.default": batch_norm_inference,
        "aten.native_batch_norm.default": native_batch_norm,
        "aten.native_group_norm.default": group_norm,
    }
)
