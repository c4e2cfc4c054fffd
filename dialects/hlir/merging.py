"""Runs along one axis that are sorted become longer ones: how a row too long for one group of threads is sorted."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np
from xdsl.dialects.builtin import BoolAttr, IntAttr
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, prop_def, result_def, traits_def
from xdsl.traits import Pure

from ..dtype import F32, FLOATS, I1, I64
from ..op import Array, Environment, Kind, Sample, TensorOp, require, require_operands
from .ordering import stable_order
from .pointwise import NUMBERS
from .properties import axis_property, int_property
from .types import TensorType, tensor_type


def _use(dims: Sequence[int], down: bool, run: int, to: int) -> Mapping[str, Attribute]:
    return {
        "axis": IntAttr(len(dims) - 1),
        "descending": BoolAttr.from_bool(down),
        "run": IntAttr(run),
        "to": IntAttr(to),
    }


@irdl_op_definition
class MergeRunsOp(TensorOp):
    """Elements along `axis` come in runs of `run`, of which each is sorted and the last may be shorter; they become
    runs of `to`. The places, i64, go where their elements go. Stable; NaN counts as larger than every number. Both
    lengths are powers of two. A sort is the merge from runs of one element."""

    name = "hlir.merge_runs"
    KIND: ClassVar[Kind] = Kind.IRREGULAR
    SAMPLES: ClassVar = (
        *(
            Sample((tensor_type([3, 11], d), tensor_type([3, 11], I64)), _use((3, 11), down, 1, to))
            for d in (I1, *NUMBERS[:6], *FLOATS[:4])
            for down, to in ((False, 16), (True, 4), (False, 2))
        ),
        Sample((tensor_type([3, 0], F32), tensor_type([3, 0], I64)), _use((3, 0), False, 1, 4)),
        Sample((tensor_type([0, 3], F32), tensor_type([0, 3], I64)), _use((0, 3), False, 1, 2)),
        Sample((tensor_type([3], F32), tensor_type([3], I64)), _use((3,), False, 1, 3), error="powers of two"),
        Sample((tensor_type([3], F32), tensor_type([3], I64)), _use((3,), False, 4, 4), error="longer"),
        Sample((tensor_type([3], F32), tensor_type([4], I64)), _use((3,), False, 1, 4), error="the shape"),
    )

    operand = operand_def(TensorType)
    places = operand_def(TensorType)
    axis = prop_def(IntAttr)
    descending = prop_def(BoolAttr)
    run = prop_def(IntAttr)
    to = prop_def(IntAttr)
    values = result_def(TensorType)
    indices = result_def(TensorType)
    traits = traits_def(Pure())

    @classmethod
    def infer(cls, operands: Sequence[TensorType], properties: Mapping[str, Attribute]) -> tuple[TensorType, ...]:
        require_operands(operands, 2)
        axis_property(properties, operands[0].rank)
        require("descending" in properties, "needs the property 'descending'")
        run, to = int_property(properties, "run"), int_property(properties, "to")
        whole = all(n > 0 and not n & (n - 1) for n in (run, to))
        require(whole, f"the lengths of runs are powers of two, found {run} and {to}")
        require(to > run, f"runs become longer, found {run} and {to}")
        expected = operands[0].with_dtype(I64)
        require(operands[1] == expected, f"the places have the shape of the values, {expected}, found {operands[1]}")
        return operands[0], operands[1]

    def reference(self, inputs: Sequence[Array], env: Environment) -> tuple[Array, ...]:
        axis, to = self.axis.data, self.to.data
        values, places = (np.empty_like(x) for x in inputs)
        for start in range(0, inputs[0].shape[axis], to):
            here = (slice(None),) * axis + (slice(start, start + to),)
            order = stable_order(inputs[0][here], axis, descending=bool(self.descending.value.data))
            values[here], places[here] = (np.take_along_axis(x[here], order, axis) for x in inputs)
        return values, places
