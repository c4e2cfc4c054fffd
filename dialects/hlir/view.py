"""The only way to change a shape: a view reads its source through an index map."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, prop_def, result_def, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure

from ..dtype import DTYPES, F32
from ..errors import EvaluationError
from ..op import Array, Environment, Kind, Sample, TensorOp, require, require_operands
from ..sym.expr import index, symbol
from ..sym.substitute import evaluate
from .index_map import IndexMap, canonical
from .types import MapAttr, ShapeAttr, TensorType, parse_map, tensor_type


def apply_map(x: Array, index_map: IndexMap, shape: tuple[int, ...], env: Environment) -> Array:
    """x[exprs] over all indices of `shape`.

    Raises:
        EvaluationError: an index falls outside x.
    """
    if 0 in shape:
        return np.empty(shape, x.dtype)
    axes = {i: np.arange(n).reshape([-1 if j == i else 1 for j in range(len(shape))]) for i, n in enumerate(shape)}
    positions = [np.asarray(evaluate(e, env.symbols, axes)) for e in index_map.exprs]
    for dim, position in enumerate(positions):
        if position.size and (position.min() < 0 or position.max() >= x.shape[dim]):
            raise EvaluationError(
                f"view reads index {position.min()}..{position.max()} of dimension {dim} of extent {x.shape[dim]}"
            )
    return np.broadcast_to(x[tuple(positions)], shape) if positions else np.broadcast_to(x, shape)


@irdl_op_definition
class ViewOp(TensorOp):
    """result[d0, ...] = source[map(d0, ...)]: permute, expand, reshape, slice, flip, unfold. The map is canonical for
    `shape`.

    `hlir.view %x (d0, d1) -> (d1, d0) : (!hlir.tensor<[2, 3], f32>) -> !hlir.tensor<[3, 2], f32>`
    """

    name = "hlir.view"
    KIND: ClassVar[Kind] = Kind.VIEW
    SAMPLES: ClassVar = (
        *(
            Sample(
                (tensor_type([2, 3], d),), {"map": MapAttr.get(2, [index(1), index(0)]), "shape": ShapeAttr.get([3, 2])}
            )
            for d in DTYPES
        ),
        Sample((tensor_type([3], F32),), {"map": MapAttr.get(2, [index(1)]), "shape": ShapeAttr.get([4, 3])}),
        Sample((tensor_type([], F32),), {"map": MapAttr.get(1, []), "shape": ShapeAttr.get([5])}),
        Sample((tensor_type([0], F32),), {"map": MapAttr.get(1, [index(0)]), "shape": ShapeAttr.get([0])}),
        Sample(
            (tensor_type([7], F32),), {"map": MapAttr.get(2, [index(0) * 2 + index(1)]), "shape": ShapeAttr.get([3, 3])}
        ),
        Sample((tensor_type([3], F32),), {"map": MapAttr.get(1, [-index(0) + 2]), "shape": ShapeAttr.get([3])}),
        Sample(
            (tensor_type([3], F32),), {"map": MapAttr.get(2, [index(1)]), "shape": ShapeAttr.get([3])}, error="indices"
        ),
        Sample(
            (tensor_type([3, 1], F32),),
            {"map": MapAttr.get(1, [index(0)]), "shape": ShapeAttr.get([3])},
            error="source of rank 2",
        ),
        Sample(
            (tensor_type([3], F32),),
            {"map": MapAttr.get(1, [index(0)]), "shape": ShapeAttr.get([1])},
            error="not canonical",
        ),
        Sample((tensor_type([symbol("s")], F32),), {"map": MapAttr.get(1, [index(0)])}, error="needs the properties"),
    )

    source = operand_def(TensorType)
    map = prop_def(MapAttr)
    shape = prop_def(ShapeAttr)
    result = result_def(TensorType)
    traits = traits_def(Pure())

    @classmethod
    def infer(cls, operands: Sequence[TensorType], properties: Mapping[str, Attribute]) -> tuple[TensorType, ...]:
        require_operands(operands, 1)
        index_map, shape = properties.get("map"), properties.get("shape")
        require(
            isinstance(index_map, MapAttr) and isinstance(shape, ShapeAttr), "needs the properties 'map' and 'shape'"
        )
        assert isinstance(index_map, MapAttr) and isinstance(shape, ShapeAttr)
        check_map(index_map.data, operands[0], shape)
        return (operands[0].with_dims(shape.data),)

    def reference(self, inputs: Sequence[Array], env: Environment) -> tuple[Array, ...]:
        return (apply_map(inputs[0], self.map.data, env.shape(self.shape), env),)

    @classmethod
    def parse_properties(cls, parser: Parser) -> dict[str, Attribute]:
        return {"map": MapAttr(parse_map(parser))}

    def print_properties(self, printer: Printer) -> None:
        printer.print_string(f" {self.map.data}")

    @classmethod
    def parse(cls, parser: Parser) -> "ViewOp":
        op = super().parse(parser)
        type_ = op.results[0].type
        if not isinstance(type_, TensorType):
            parser.raise_error(f"the result of a view is a tensor, found {type_}")
        op.properties["shape"] = type_.shape
        return op


def check_map(index_map: IndexMap, source: TensorType, shape: ShapeAttr, what: str = "map") -> None:
    """Raises TypeRuleError unless the map takes indices of `shape` to indices of `source`, in canonical form."""
    require(index_map.rank == shape.rank, f"the {what} has {index_map.rank} indices for a result of rank {shape.rank}")
    require(
        len(index_map.exprs) == source.rank,
        f"the {what} gives {len(index_map.exprs)} indices for a source of rank {source.rank}",
    )
    right = canonical(index_map, shape.data)
    require(right == index_map, f"the {what} {index_map} is not canonical for {list(shape.data)}, expected {right}")
