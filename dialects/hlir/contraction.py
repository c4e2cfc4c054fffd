"""The only contraction: a sum of products over an index space, each operand read through a map."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np
from xdsl.dialects.builtin import DenseArrayBase
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def, prop_def, result_def, traits_def
from xdsl.traits import Pure

from ..dtype import BF16, F32, FLOATS, I1, DType, dtype_of
from ..op import Array, Environment, Kind, Sample, TensorOp, require, require_dtype, require_operands
from ..sym.expr import index
from ..sym.substitute import index_numbers, substitute_indices
from .builder import GraphBuilder
from .conversion import CastOp, cast_array
from .elementwise import MulOp
from .index_map import IndexMap
from .pointwise import NUMBERS
from .reduction import SumOp, check_accumulator, check_axes
from .types import MapAttr, ShapeAttr, TensorType, axes_attr, axes_of, tensor_type
from .view import ViewOp, apply_map, check_map


def contraction_properties(
    space: ShapeAttr, lhs: IndexMap, rhs: IndexMap, axes: Sequence[int], accumulate: DType | None = None
) -> dict[str, Attribute]:
    """The properties of a `hlir.contract`."""
    properties: dict[str, Attribute] = {
        "lhs_map": MapAttr(lhs),
        "rhs_map": MapAttr(rhs),
        "axes": axes_attr(axes),
        "space": space,
    }
    if accumulate is not None:
        properties["accumulate"] = accumulate.attr
    return properties


def infer_contraction(operands: Sequence[TensorType], properties: Mapping[str, Attribute]) -> TensorType:
    """The result of the contraction: the space without its axes, in the operands' dtype.

    Raises:
        TypeRuleError: the maps, axes or dtypes do not fit.
    """
    lhs, rhs = operands[0], operands[1]
    space, lhs_map, rhs_map = properties.get("space"), properties.get("lhs_map"), properties.get("rhs_map")
    complete = isinstance(space, ShapeAttr) and isinstance(lhs_map, MapAttr) and isinstance(rhs_map, MapAttr)
    require(complete and "axes" in properties, "needs the properties 'space', 'lhs_map', 'rhs_map' and 'axes'")
    assert isinstance(space, ShapeAttr) and isinstance(lhs_map, MapAttr) and isinstance(rhs_map, MapAttr)
    require(lhs.dtype == rhs.dtype, f"element types differ: {lhs.dtype.name} and {rhs.dtype.name}")
    require_dtype(lhs, NUMBERS, "the element type")
    check_map(lhs_map.data, lhs, space, "lhs_map")
    check_map(rhs_map.data, rhs, space, "rhs_map")
    axes = axes_of(properties["axes"])
    check_axes(axes, space.rank)
    check_accumulator(properties, lhs.dtype)
    return lhs.with_dims(d for i, d in enumerate(space.data) if i not in axes)


def contract_arrays(
    lhs: Array,
    rhs: Array,
    lhs_map: IndexMap,
    rhs_map: IndexMap,
    axes: tuple[int, ...],
    space: tuple[int, ...],
    env: Environment,
) -> Array:
    """sum over `axes` of lhs[lhs_map] * rhs[rhs_map] for all indices of `space`, in the dtype of the arrays."""
    out = [i for i in range(len(space)) if i not in axes]
    a, a_indices = _narrow(lhs, lhs_map, space, env)
    b, b_indices = _narrow(rhs, rhs_map, space, env)
    missing = [i for i in range(len(space)) if i not in a_indices and i not in b_indices]
    ones = np.ones([space[i] for i in missing], lhs.dtype)
    return np.einsum(a, a_indices, b, b_indices, ones, missing, out, optimize=True)


def _narrow(x: Array, index_map: IndexMap, space: tuple[int, ...], env: Environment) -> tuple[Array, list[int]]:
    """x read through the map over only the indices that the map uses."""
    used = sorted({n for e in index_map.exprs for n in index_numbers(e)})
    renumbered = {n: index(i) for i, n in enumerate(used)}
    exprs = tuple(substitute_indices(e, renumbered) for e in index_map.exprs)
    return apply_map(x, IndexMap(len(used), exprs), tuple(space[n] for n in used), env), used


@irdl_op_definition
class ContractOp(TensorOp):
    """result = sum over `axes` of lhs[lhs_map] * rhs[rhs_map] over `space`. Products and sums are in `accumulate`
    (default f32
    for narrow floats, else the dtype itself), rounded once to the operands' dtype."""

    name = "hlir.contract"
    KIND: ClassVar[Kind] = Kind.CONTRACTION
    ABSOLUTE: ClassVar = 64.0
    SAMPLES: ClassVar = (
        *(
            Sample(
                (tensor_type([3, 5], d), tensor_type([4, 5], d)),
                contraction_properties(
                    ShapeAttr.get([3, 4, 5]), IndexMap(3, (index(0), index(2))), IndexMap(3, (index(1), index(2))), [2]
                ),
            )
            for d in (*NUMBERS[4:6], *FLOATS[:4])
        ),
        Sample(
            (tensor_type([2, 0], F32), tensor_type([0, 3], F32)),
            contraction_properties(
                ShapeAttr.get([2, 3, 0]), IndexMap(3, (index(0), index(2))), IndexMap(3, (index(2), index(1))), [2]
            ),
        ),
        Sample((tensor_type([2], F32), tensor_type([2], F32)), {}, error="needs the properties"),
        Sample(
            (tensor_type([2], I1), tensor_type([2], F32)),
            contraction_properties(ShapeAttr.get([2]), IndexMap(1, (index(0),)), IndexMap(1, (index(0),)), [0]),
            error="element types differ",
        ),
        Sample(
            (tensor_type([2], F32), tensor_type([2], F32)),
            contraction_properties(ShapeAttr.get([2]), IndexMap(1, (index(0),)), IndexMap(1, (index(0),)), [1]),
            error="outside a tensor of rank 1",
        ),
        Sample(
            (tensor_type([2], BF16), tensor_type([2], BF16)),
            contraction_properties(ShapeAttr.get([2]), IndexMap(1, (index(0),)), IndexMap(1, (index(0),)), [0], BF16),
            error="cannot accumulate",
        ),
    )

    lhs = operand_def(TensorType)
    rhs = operand_def(TensorType)
    lhs_map = prop_def(MapAttr)
    rhs_map = prop_def(MapAttr)
    axes = prop_def(DenseArrayBase)
    space = prop_def(ShapeAttr)
    accumulate = opt_prop_def()
    result = result_def(TensorType)
    traits = traits_def(Pure())

    @classmethod
    def infer(cls, operands: Sequence[TensorType], properties: Mapping[str, Attribute]) -> tuple[TensorType, ...]:
        require_operands(operands, 2)
        return (infer_contraction(operands, properties),)

    @property
    def axis_numbers(self) -> tuple[int, ...]:
        return axes_of(self.axes)

    @property
    def accumulator(self) -> DType:
        """The dtype of products and partial sums."""
        return dtype_of(self.accumulate) if self.accumulate is not None else self.operand_types[0].dtype.compute

    def reference(self, inputs: Sequence[Array], env: Environment) -> tuple[Array, ...]:
        accumulator = self.accumulator
        lhs, rhs = (x.astype(accumulator.numpy, copy=False) for x in inputs)
        maps = (self.lhs_map.data, self.rhs_map.data)
        with np.errstate(all="ignore"):
            value = contract_arrays(lhs, rhs, *maps, self.axis_numbers, env.shape(self.space), env)
            return (cast_array(np.asarray(value), self.result_type.dtype),)

    def expand(self, b: GraphBuilder) -> tuple[SSAValue, ...]:
        dtype, accumulator = self.operand_types[0].dtype, self.accumulator
        factors: list[SSAValue] = []
        for operand, index_map in ((self.lhs, self.lhs_map), (self.rhs, self.rhs_map)):
            wide = operand if accumulator == dtype else b.emit(CastOp, [operand], dtype=accumulator.attr)
            factors.append(b.emit(ViewOp, [wide], map=index_map, shape=self.space))
        total = b.emit(SumOp, [b.emit(MulOp, factors)], axes=self.axes)
        return (total if accumulator == dtype else b.emit(CastOp, [total], dtype=dtype.attr),)
