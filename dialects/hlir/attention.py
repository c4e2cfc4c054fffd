"""Scaled dot product attention as one op."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np
from xdsl.dialects.builtin import BoolAttr
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, prop_def, result_def, var_operand_def

from ..dtype import F32, F64, FLOATS, I1, I64, DType
from ..op import Array, Environment, Sample, require, require_dtype, tensor_of
from ..sym.expr import index
from .arithmetic import ExpOp, SubOp, scaled
from .builder import GraphBuilder
from .comparison import LessEqualOp
from .composite import Composite
from .conversion import SelectOp, cast_array
from .creation import IotaOp
from .elementwise import AddOp, DivOp, EqualOp
from .index_map import IndexMap
from .linear import contract
from .reduction import MaxOp, SumOp
from .types import MapAttr, ScalarAttr, ShapeAttr, TensorType, axes_attr, tensor_type


def _sample(dtype: DType = F32, mask: DType | None = None, causal: bool = False, **change: Sequence[int]) -> Sample:
    shapes = {"q": (2, 3, 4, 8), "k": (2, 3, 5, 8), "v": (2, 3, 5, 6), "s": (2, 3, 4, 5), **change}
    types = [tensor_type(shapes[n], dtype) for n in "qkv"]
    if mask is not None:
        types.append(tensor_type(shapes["s"], mask))
    return Sample(tuple(types), {"scale": ScalarAttr.get(0.25, F64), "causal": BoolAttr.from_bool(causal)})


def _wrong(sample: Sample, error: str) -> Sample:
    return Sample(sample.operands, sample.properties, error=error)


@irdl_op_definition
class SdpaOp(Composite):
    """softmax(scale q k^T + mask) v for q[b, h, s, d], k[b, h, t, d], v[b, h, t, e]; result [b, h, s, e].

    mask[b, h, s, t] is added, or, being i1, keeps where true; `causal` keeps t <= s. A row with nothing kept gives
    zeros.
    Narrow floats are computed in f32 and rounded once. Library attention may round the probabilities: hence the bound.
    """

    name = "hlir.sdpa"
    ABSOLUTE: ClassVar = 32.0
    SAMPLES: ClassVar = (
        *(_sample(d) for d in FLOATS[:3]),
        _sample(mask=F32),
        _sample(mask=I1),
        _sample(causal=True),
        _sample(q=(1, 1, 0, 8), k=(1, 1, 5, 8), v=(1, 1, 5, 8)),
        _wrong(_sample(k=(2, 3, 5, 7)), "k must be"),
        _wrong(_sample(v=(2, 3, 4, 6)), "v must be"),
        _wrong(_sample(mask=F32, s=(2, 3, 4, 4)), "the mask must be"),
    )

    q = operand_def(TensorType)
    k = operand_def(TensorType)
    v = operand_def(TensorType)
    mask = var_operand_def(TensorType)
    scale = prop_def(ScalarAttr)
    causal = prop_def(BoolAttr)
    result = result_def(TensorType)

    @classmethod
    def infer(cls, operands: Sequence[TensorType], properties: Mapping[str, Attribute]) -> tuple[TensorType, ...]:
        require(len(operands) in (3, 4), f"takes 3 or 4 operands, found {len(operands)}")
        q, k, v = operands[:3]
        require_dtype(q, FLOATS, "the element type")
        require(q.rank == 4 and k.rank == 4 and v.rank == 4, "q, k and v have rank 4")
        b, h, s, d = q.dims
        t = k.dims[2]
        require(k == q.with_dims((b, h, t, d)), f"k must be {q.with_dims((b, h, t, d))}, found {k}")
        require(v == q.with_dims((b, h, t, v.dims[3])), f"v must be {q.with_dims((b, h, t, v.dims[3]))}, found {v}")
        for mask in operands[3:]:
            require(mask.dims == (b, h, s, t), f"the mask must be {[b, h, s, t]}, found {mask}")
            require(mask.dtype in (q.dtype, I1), f"the mask must be i1 or {q.dtype.name}, found {mask.dtype.name}")
        complete = isinstance(properties.get("scale"), ScalarAttr) and "causal" in properties
        require(complete, "needs the properties 'scale' and 'causal'")
        return (q.with_dims((b, h, s, v.dims[3])),)

    @property
    def is_causal(self) -> bool:
        return bool(self.causal.value.data)

    @property
    def scale_value(self) -> float:
        return float(self.scale.data.value)

    def reference(self, inputs: Sequence[Array], env: Environment) -> tuple[Array, ...]:
        compute = self.result_type.dtype.compute.numpy
        q, k, v = (x.astype(compute, copy=False) for x in inputs[:3])
        with np.errstate(all="ignore"):
            z: Array = (q @ k.swapaxes(-1, -2)) * compute.type(self.scale_value)
            for mask in inputs[3:]:
                z = np.where(mask, z, compute.type(-np.inf)) if mask.dtype == np.bool_ else z + mask.astype(compute)
            if self.is_causal:
                z = np.where(np.tri(*z.shape[-2:], dtype=np.bool_), z, compute.type(-np.inf))
            top: Array = z.max(-1, keepdims=True, initial=-np.inf)
            e: Array = np.exp(z - np.where(top == -np.inf, compute.type(0), top))
            total: Array = e.sum(-1, keepdims=True)
            divisor = np.asarray(np.where(total == 0, 1, total), compute)
            y = np.asarray((e / divisor) @ v, compute)
            return (cast_array(y, self.result_type.dtype),)

    def expand(self, b: GraphBuilder) -> tuple[SSAValue, ...]:
        compute = self.result_type.dtype.compute
        q, k, v = (b.cast(x, compute) for x in self.operands[:3])
        batch, heads, s, d = tensor_of(q).dims
        t, e = tensor_of(v).dims[2:]
        lead = (index(0), index(1))
        scores_space = ShapeAttr.get((batch, heads, s, t, d))
        scores = contract(
            b,
            q,
            k,
            scores_space,
            IndexMap(5, (*lead, index(2), index(4))),
            IndexMap(5, (*lead, index(3), index(4))),
            [4],
        )
        p = safe_softmax(b, self.masked(b, scaled(b, scores, self.scale_value)))
        out_space = ShapeAttr.get((batch, heads, s, e, t))
        out = contract(
            b, p, v, out_space, IndexMap(5, (*lead, index(2), index(4))), IndexMap(5, (*lead, index(4), index(3))), [4]
        )
        return (b.cast(out, self.result_type.dtype),)

    def masked(self, b: GraphBuilder, scores: SSAValue) -> SSAValue:
        """The scores with the mask and the causal limit applied."""
        type_ = tensor_of(scores)
        nothing = b.constant(float("-inf"), type_)
        for mask in self.mask:
            if tensor_of(mask).dtype == I1:
                scores = b.emit(SelectOp, [mask, scores, nothing])
            else:
                scores = b.emit(AddOp, [scores, b.cast(mask, type_.dtype)])
        if self.is_causal:
            positions = [
                b.emit(IotaOp, [], value=MapAttr.get(4, [index(i)]), shape=type_.shape, dtype=I64.attr) for i in (3, 2)
            ]
            scores = b.emit(SelectOp, [b.emit(LessEqualOp, positions), scores, nothing])
        return scores


def safe_softmax(b: GraphBuilder, z: SSAValue) -> SSAValue:
    """Softmax of the last axis in which a row of nothing but -inf gives zeros instead of NaN."""
    type_ = tensor_of(z)
    axes = [type_.rank - 1]
    top = b.emit(MaxOp, [z], axes=axes_attr(axes))
    row = tensor_of(top)
    empty = b.emit(EqualOp, [top, b.constant(float("-inf"), row)])
    finite = b.emit(SelectOp, [empty, b.constant(0.0, row), top])
    e = b.emit(ExpOp, [b.emit(SubOp, [z, b.restore_axes(finite, axes, type_.dims)])])
    total = b.emit(SumOp, [e], axes=axes_attr(axes))
    zero = b.emit(EqualOp, [total, b.constant(0.0, row)])
    divisor = b.emit(SelectOp, [zero, b.constant(1.0, row), total])
    return b.emit(DivOp, [e, b.restore_axes(divisor, axes, type_.dims)])
