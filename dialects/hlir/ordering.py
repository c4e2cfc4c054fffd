"""Ops along one axis in which order matters: prefix scan and sort."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np
from xdsl.dialects.builtin import BoolAttr, IntAttr, StringAttr
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, prop_def, result_def, traits_def
from xdsl.traits import Pure

from ..dtype import F32, FLOATS, I1, I64
from ..op import Array, Environment, Kind, Sample, TensorOp, require, require_dtype, require_operands
from .conversion import cast_array
from .pointwise import NUMBERS
from .properties import axis_property
from .types import TensorType, tensor_type

SCAN_COMBINERS = {
    "add": np.add,
    "mul": np.multiply,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "log_add_exp": np.logaddexp,
}


@irdl_op_definition
class ScanOp(TensorOp):
    """Inclusive prefix combination along `axis`; `combine` is add, mul, maximum or minimum, or on floats log_add_exp,
    ln(e^a + e^b). Narrow floats accumulate in f32."""

    name = "hlir.scan"
    KIND: ClassVar[Kind] = Kind.IRREGULAR
    SAMPLES: ClassVar = (
        *(
            Sample((tensor_type([3, 5], d),), {"axis": IntAttr(1), "combine": StringAttr("add")})
            for d in (*NUMBERS[:6], F32)
        ),
        *(Sample((tensor_type([3, 5], F32),), {"axis": IntAttr(0), "combine": StringAttr(c)}) for c in SCAN_COMBINERS),
        Sample((tensor_type([0], F32),), {"axis": IntAttr(0), "combine": StringAttr("add")}),
        Sample((tensor_type([3], F32),), {"axis": IntAttr(0), "combine": StringAttr("sub")}, error="combine"),
        Sample((tensor_type([3], I1),), {"axis": IntAttr(0), "combine": StringAttr("add")}, error="element type"),
    )

    operand = operand_def(TensorType)
    axis = prop_def(IntAttr)
    combine = prop_def(StringAttr)
    result = result_def(TensorType)
    traits = traits_def(Pure())

    @classmethod
    def infer(cls, operands: Sequence[TensorType], properties: Mapping[str, Attribute]) -> tuple[TensorType, ...]:
        require_operands(operands, 1)
        require_dtype(operands[0], NUMBERS, "the element type")
        axis_property(properties, operands[0].rank)
        combine = properties.get("combine")
        known = isinstance(combine, StringAttr) and combine.data in SCAN_COMBINERS
        require(known, f"combine must be one of {' '.join(SCAN_COMBINERS)}")
        if combine == StringAttr("log_add_exp"):
            require_dtype(operands[0], FLOATS, "the element type of log_add_exp")
        return (operands[0],)

    def reference(self, inputs: Sequence[Array], env: Environment) -> tuple[Array, ...]:
        dtype = self.result_type.dtype
        with np.errstate(all="ignore"):
            wide = inputs[0].astype(dtype.compute.numpy, copy=False)
            value = SCAN_COMBINERS[self.combine.data].accumulate(wide, axis=self.axis.data)
            return (cast_array(value, dtype),)


@irdl_op_definition
class SortOp(TensorOp):
    """Stable sort along `axis`: the sorted values and, as i64, where each came from. NaN counts as larger than every
    number."""

    name = "hlir.sort"
    KIND: ClassVar[Kind] = Kind.IRREGULAR
    SAMPLES: ClassVar = (
        *(
            Sample((tensor_type([3, 5], d),), {"axis": IntAttr(1), "descending": BoolAttr.from_bool(down)})
            for d in (*NUMBERS[:6], *FLOATS[:4])
            for down in (False, True)
        ),
        Sample((tensor_type([3, 0], F32),), {"axis": IntAttr(1), "descending": BoolAttr.from_bool(False)}),
        Sample(
            (tensor_type([3], F32),),
            {"axis": IntAttr(1), "descending": BoolAttr.from_bool(False)},
            error="outside a tensor of rank 1",
        ),
    )

    operand = operand_def(TensorType)
    axis = prop_def(IntAttr)
    descending = prop_def(BoolAttr)
    values = result_def(TensorType)
    indices = result_def(TensorType)
    traits = traits_def(Pure())

    @classmethod
    def infer(cls, operands: Sequence[TensorType], properties: Mapping[str, Attribute]) -> tuple[TensorType, ...]:
        require_operands(operands, 1)
        axis_property(properties, operands[0].rank)
        require("descending" in properties, "needs the property 'descending'")
        return (operands[0], operands[0].with_dtype(I64))

    def reference(self, inputs: Sequence[Array], env: Environment) -> tuple[Array, ...]:
        order = stable_order(inputs[0], self.axis.data, descending=bool(self.descending.value.data))
        return np.take_along_axis(inputs[0], order, self.axis.data), order.astype(np.int64)


def stable_order(x: Array, axis: int, *, descending: bool) -> Array:
    """Where the elements of a stable sort come from; NaN counts as larger than every number."""
    keys = x.astype(np.float32) if x.dtype.kind == "V" else x
    if not descending:
        return np.argsort(keys, axis=axis, kind="stable")
    # A stable descending order is the reversal of a stable ascending order of the reversed axis.
    return np.flip(x.shape[axis] - 1 - np.argsort(np.flip(keys, axis), axis=axis, kind="stable"), axis)
