"""Expansions of composites as lists of steps that can be added to any e-graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xdsl.ir import Attribute, Block, SSAValue

from ...dialects.hlir.builder import GraphBuilder
from ...dialects.hlir.types import TensorType
from ...dialects.op import TensorOp, tensor_of
from .rule import Expansion


@dataclass(frozen=True)
class Step:
    """One op of an expansion. Operand number i below the count of the composite's operands is that operand, else the
    result of step i - count."""

    op_class: type[TensorOp]
    properties: Mapping[str, Attribute]
    operands: tuple[int, ...]
    type: TensorType


@dataclass(frozen=True)
class Template:
    """The steps of an expansion and the number of its result, counted as operands are."""

    steps: tuple[Step, ...]
    result: int


def template(
    op_class: type[TensorOp],
    properties: Mapping[str, Attribute],
    operand_types: Sequence[TensorType],
    variant: Expansion | None = None,
) -> Template:
    """The expansion of an op with one result, or a variant of it, for operands of these types."""
    block = Block(arg_types=operand_types)
    op = op_class.make(list(block.args), properties)
    b = GraphBuilder(block)
    (result,) = op.expand(b) if variant is None else variant(op, b)
    numbers: dict[SSAValue, int] = {argument: i for i, argument in enumerate(block.args)}
    steps: list[Step] = []
    for inner in block.ops:
        assert isinstance(inner, TensorOp)
        operands = tuple(numbers[o] for o in inner.operands)
        numbers[inner.results[0]] = len(numbers)
        steps.append(Step(type(inner), dict(inner.properties), operands, tensor_of(inner.results[0])))
    return Template(tuple(steps), numbers[result])
