"""Reading and writing at computed positions: gather and scatter along one axis."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np
from xdsl.dialects.builtin import IntAttr, StringAttr
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, prop_def, result_def, traits_def
from xdsl.traits import Pure

from ..dtype import F32, FLOATS, I1, I32, I64
from ..errors import EvaluationError
from ..op import Array, Environment, Kind, Sample, TensorOp, require, require_dtype, require_operands
from .pointwise import Elementwise
from .properties import axis_property
from .types import TensorType, tensor_type

INDEX_TYPES = (I32, I64)
CHECK_ERRORS = ("index", "value")
SCATTER_MODES = ("set", "add", "mul", "maximum", "minimum")


def check_indices(indices: Array, extent: int) -> None:
    """Raises EvaluationError unless every index is in [0, extent)."""
    if indices.size and (indices.min() < 0 or indices.max() >= extent):
        raise EvaluationError(f"indices {indices.min()}..{indices.max()} are outside an axis of extent {extent}")


@irdl_op_definition
class CheckIndexOp(Elementwise):
    """The indices unchanged; one outside [0, last] is an error of the run, of an `index` or of a `value`."""

    name = "hlir.check_index"
    SPELLING: ClassVar = "check_index"
    ARITY: ClassVar[int] = 2
    DOMAIN: ClassVar = (I64,)
    SAMPLES: ClassVar = (
        *(
            Sample((tensor_type([3, 5], I64),) * 2, {"error": StringAttr(error)}, low=7, high=8)
            for error in CHECK_ERRORS
        ),
        Sample((tensor_type([3], F32),) * 2, {"error": StringAttr("index")}, error="the element type must be one of"),
        Sample((tensor_type([3], I64),) * 2, {"error": StringAttr("key")}, error="error must be one of"),
    )

    indices = operand_def(TensorType)
    last = operand_def(TensorType)
    error = prop_def(StringAttr)
    result = result_def(TensorType)

    @classmethod
    def infer(cls, operands: Sequence[TensorType], properties: Mapping[str, Attribute]) -> tuple[TensorType, ...]:
        error = properties.get("error")
        known = isinstance(error, StringAttr) and error.data in CHECK_ERRORS
        require(known, f"error must be one of {' '.join(CHECK_ERRORS)}")
        return super().infer(operands, properties)

    def reference(self, inputs: Sequence[Array], env: Environment) -> tuple[Array, ...]:
        indices, last = inputs
        wrong = (indices < 0) | (indices > last)
        if wrong.any():
            raise EvaluationError(f"{self.error.data} {indices[wrong].flat[0]} is outside its range", op=self)
        return (indices,)


@irdl_op_definition
class GatherOp(TensorOp):
    """The slices of x at `indices` along `axis`: shape x.dims[:axis] + indices.dims + x.dims[axis+1:]. Indices are in
    range."""

    name = "hlir.gather"
    KIND: ClassVar[Kind] = Kind.IRREGULAR
    SAMPLES: ClassVar = (
        *(
            Sample((tensor_type([7, 3], d), tensor_type([2, 2], I64)), {"axis": IntAttr(0)}, low=0, high=2)
            for d in FLOATS[:4]
        ),
        Sample((tensor_type([3, 7], F32), tensor_type([4], I32)), {"axis": IntAttr(1)}, low=0, high=2),
        Sample((tensor_type([7], F32), tensor_type([0], I64)), {"axis": IntAttr(0)}),
        Sample(
            (tensor_type([7], F32), tensor_type([2], F32)), {"axis": IntAttr(0)}, error="the indices must be one of"
        ),
        Sample(
            (tensor_type([7], F32), tensor_type([2], I64)), {"axis": IntAttr(1)}, error="outside a tensor of rank 1"
        ),
    )

    source = operand_def(TensorType)
    indices = operand_def(TensorType)
    axis = prop_def(IntAttr)
    result = result_def(TensorType)
    traits = traits_def(Pure())

    @classmethod
    def infer(cls, operands: Sequence[TensorType], properties: Mapping[str, Attribute]) -> tuple[TensorType, ...]:
        require_operands(operands, 2)
        source, indices = operands
        require_dtype(indices, INDEX_TYPES, "the indices")
        axis = axis_property(properties, source.rank)
        return (source.with_dims((*source.dims[:axis], *indices.dims, *source.dims[axis + 1 :])),)

    def reference(self, inputs: Sequence[Array], env: Environment) -> tuple[Array, ...]:
        check_indices(inputs[1], inputs[0].shape[self.axis.data])
        return (np.take(inputs[0], inputs[1].astype(np.int64), axis=self.axis.data),)


@irdl_op_definition
class ScatterOp(TensorOp):
    """x with the slices at `indices` along `axis` combined with `updates`; mode is set, add, mul, maximum or minimum.

    updates has the shape that gather(x, indices) has. With `set`, duplicate indices leave one of their updates. Of
    booleans add and maximum are "or", mul and minimum are "and".
    """

    name = "hlir.scatter"
    KIND: ClassVar[Kind] = Kind.IRREGULAR
    SAMPLES: ClassVar = (
        *(
            Sample(
                (tensor_type([7, 3], F32), tensor_type([2], I64), tensor_type([2, 3], F32)),
                {"axis": IntAttr(0), "mode": StringAttr(mode)},
                low=0,
                high=2,
            )
            for mode in SCATTER_MODES[1:]
        ),
        *(
            Sample(
                (tensor_type([4, 3], I1), tensor_type([5], I64), tensor_type([5, 3], I1)),
                {"axis": IntAttr(0), "mode": StringAttr(mode)},
                low=0,
                high=2,
            )
            for mode in SCATTER_MODES[1:]
        ),
        Sample(
            (tensor_type([7], F32), tensor_type([2], I64), tensor_type([3], F32)),
            {"axis": IntAttr(0), "mode": StringAttr("set")},
            error="updates",
        ),
        Sample(
            (tensor_type([7], F32), tensor_type([2], I64), tensor_type([2], F32)),
            {"axis": IntAttr(0), "mode": StringAttr("xor")},
            error="mode",
        ),
    )

    base = operand_def(TensorType)
    indices = operand_def(TensorType)
    updates = operand_def(TensorType)
    axis = prop_def(IntAttr)
    mode = prop_def(StringAttr)
    result = result_def(TensorType)
    traits = traits_def(Pure())

    @classmethod
    def infer(cls, operands: Sequence[TensorType], properties: Mapping[str, Attribute]) -> tuple[TensorType, ...]:
        require_operands(operands, 3)
        base, indices, updates = operands
        (wanted,) = GatherOp.infer([base, indices], properties)
        require(updates == wanted, f"updates must be {wanted}, found {updates}")
        mode = properties.get("mode")
        require(
            isinstance(mode, StringAttr) and mode.data in SCATTER_MODES,
            f"mode must be one of {' '.join(SCATTER_MODES)}",
        )
        return (base,)

    def reference(self, inputs: Sequence[Array], env: Environment) -> tuple[Array, ...]:
        base, indices, updates = inputs
        axis = self.axis.data
        check_indices(indices, base.shape[axis])
        result = np.moveaxis(base.copy(), axis, 0)
        rows = indices.astype(np.int64)
        slices = np.moveaxis(updates, range(axis, axis + indices.ndim), range(indices.ndim))
        if self.mode.data == "set":
            result[rows] = slices
        else:
            ufunc = {"add": np.add, "mul": np.multiply, "maximum": np.maximum, "minimum": np.minimum}[self.mode.data]
            with np.errstate(all="ignore"):
                ufunc.at(result, rows, slices)
        return (np.ascontiguousarray(np.moveaxis(result, 0, axis)),)
