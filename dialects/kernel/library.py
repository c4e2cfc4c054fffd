"""kernel.call_matmul: a library matrix product with an epilogue from a closed set, on tensors."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import ClassVar

import numpy as np
from xdsl.dialects.builtin import DenseArrayBase, StringAttr
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def, prop_def, result_def, traits_def, var_operand_def
from xdsl.traits import Pure

from ..dtype import F32, FLOATS, DType, dtype_of
from ..hlir.activation import GeluOp, ReluOp
from ..hlir.builder import GraphBuilder
from ..hlir.contraction import ContractOp, contract_arrays, contraction_properties, infer_contraction
from ..hlir.conversion import cast_array
from ..hlir.elementwise import AddOp, Elementwise
from ..hlir.index_map import IndexMap
from ..hlir.types import MapAttr, ShapeAttr, TensorType, axes_of, tensor_type
from ..op import Array, Environment, Kind, Sample, TensorOp, require, require_dtype, tensor_of
from ..sym.expr import index

EPILOGUES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "none": (),
        "bias": ("bias",),
        "bias_relu": ("bias", "relu"),
        "bias_gelu": ("bias", "gelu"),
        "relu": ("relu",),
        "gelu": ("gelu",),
        "gelu_tanh": ("gelu_tanh",),
        "bias_gelu_tanh": ("bias", "gelu_tanh"),
        "add": ("add",),
        "bias_add": ("bias", "add"),
    }
)
"""Name of an epilogue -> its steps. `bias` and `add` take the next extra operand."""

ACTIVATIONS: Mapping[str, tuple[type[Elementwise], Mapping[str, Attribute]]] = MappingProxyType(
    {
        "relu": (ReluOp, {}),
        "gelu": (GeluOp, {"approximate": StringAttr("none")}),
        "gelu_tanh": (GeluOp, {"approximate": StringAttr("tanh")}),
    }
)
"""Steps of an epilogue without an operand: the op and its properties."""


def _extras(steps: Sequence[str]) -> list[str]:
    return [step for step in steps if step not in ACTIVATIONS]


_SPACE = ShapeAttr.get([3, 4, 5])
_MAPS = (IndexMap(3, (index(0), index(2))), IndexMap(3, (index(1), index(2))))


def _sample(epilogue: str, *extras: Sequence[int], dtype: DType = F32, error: str = "") -> Sample:
    shapes = [(3, 5), (4, 5), *extras]
    properties = {**contraction_properties(_SPACE, *_MAPS, [2]), "epilogue": StringAttr(epilogue)}
    return Sample(tuple(tensor_type(shape, dtype) for shape in shapes), properties, error=error)


@irdl_op_definition
class CallMatmulOp(TensorOp):
    """epilogue(sum over `axes` of lhs[lhs_map] * rhs[rhs_map] over `space`), by a library; maps, space and axes as in
    `hlir.contract`.

    Extra operands, in the order of the epilogue's steps: `bias` is [n] for the last dim n of the result, `add` has the
    type of the result. Products, sums and the epilogue are in `accumulate` (default f32 for narrow floats), rounded
    once.
    """

    name = "kernel.call_matmul"
    KIND: ClassVar[Kind] = Kind.LIBRARY
    ABSOLUTE: ClassVar[float] = 64.0
    """Bound of the difference to the expansion in units of eps times the largest magnitude involved."""
    SAMPLES: ClassVar = (
        *(_sample("none", dtype=d) for d in FLOATS[:3]),
        _sample("bias", (4,)),
        _sample("bias_relu", (4,)),
        _sample("bias_gelu", (4,), dtype=FLOATS[1]),
        _sample("bias_gelu_tanh", (4,)),
        _sample("gelu_tanh"),
        _sample("add", (3, 4)),
        _sample("bias_add", (4,), (3, 4)),
        _sample("bias_tanh", (4,), error="epilogue must be one of"),
        _sample("bias", error="takes 3 operands"),
        _sample("bias", (3,), error="bias must be"),
        _sample("add", (4,), error="add must be"),
    )

    lhs = operand_def(TensorType)
    rhs = operand_def(TensorType)
    extras = var_operand_def(TensorType)
    lhs_map = prop_def(MapAttr)
    rhs_map = prop_def(MapAttr)
    axes = prop_def(DenseArrayBase)
    space = prop_def(ShapeAttr)
    accumulate = opt_prop_def()
    epilogue = prop_def(StringAttr)
    result = result_def(TensorType)
    traits = traits_def(Pure())

    @classmethod
    def infer(cls, operands: Sequence[TensorType], properties: Mapping[str, Attribute]) -> tuple[TensorType, ...]:
        epilogue = properties.get("epilogue")
        known = isinstance(epilogue, StringAttr) and epilogue.data in EPILOGUES
        require(known, f"epilogue must be one of {' '.join(EPILOGUES)}")
        assert isinstance(epilogue, StringAttr)
        extras = _extras(EPILOGUES[epilogue.data])
        require(len(operands) == 2 + len(extras), f"takes {2 + len(extras)} operands, found {len(operands)}")
        result = infer_contraction(operands[:2], properties)
        require_dtype(result, FLOATS, "the element type")
        for step, extra in zip(extras, operands[2:], strict=True):
            wanted = result.with_dims(result.dims[-1:]) if step == "bias" else result
            require(extra == wanted, f"{step} must be {wanted}, found {extra}")
        return (result,)

    @property
    def steps(self) -> tuple[str, ...]:
        """The steps of the epilogue in order."""
        return EPILOGUES[self.epilogue.data]

    @property
    def axis_numbers(self) -> tuple[int, ...]:
        return axes_of(self.axes)

    @property
    def accumulator(self) -> DType:
        """The dtype of products, sums and the epilogue."""
        return dtype_of(self.accumulate) if self.accumulate is not None else self.operand_types[0].dtype.compute

    def reference(self, inputs: Sequence[Array], env: Environment) -> tuple[Array, ...]:
        dtype = self.accumulator
        lhs, rhs, *extras = (x.astype(dtype.numpy, copy=False) for x in inputs)
        maps = (self.lhs_map.data, self.rhs_map.data)
        with np.errstate(all="ignore"):
            y = np.asarray(contract_arrays(lhs, rhs, *maps, self.axis_numbers, env.shape(self.space), env))
            for step in self.steps:
                y = y + extras.pop(0) if step not in ACTIVATIONS else self._activate(step, y)
            return (cast_array(y, self.result_type.dtype),)

    def _activate(self, step: str, y: Array) -> Array:
        op_class, properties = ACTIVATIONS[step]
        return op_class.create(properties=dict(properties)).function(y)

    def expand(self, b: GraphBuilder) -> tuple[SSAValue, ...]:
        dtype = self.accumulator
        lhs, rhs, *extras = (b.cast(o, dtype) for o in self.operands)
        properties = contraction_properties(self.space, self.lhs_map.data, self.rhs_map.data, self.axis_numbers)
        y = b.emit(ContractOp, [lhs, rhs], **properties)
        for step in self.steps:
            if step in ACTIVATIONS:
                op_class, activation = ACTIVATIONS[step]
                y = b.emit(op_class, [y], **activation)
            else:
                y = b.emit(AddOp, [y, b.broadcast(extras.pop(0), tensor_of(y).dims)])
        return (b.cast(y, self.result_type.dtype),)
