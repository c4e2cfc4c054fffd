"""From the ops of a block to terms: values become node numbers, ops with a region are named by their position."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from xdsl.dialects.builtin import LocationAttr
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.traits import IsTerminator

from ...dialects.errors import ContractError
from ...dialects.hlir.creation import IotaOp, LiteralOp
from ...dialects.hlir.elementwise import Elementwise
from ...dialects.hlir.types import TensorType
from ...dialects.hlir.view import ViewOp
from ...dialects.op import TensorOp, tensor_of
from .egraph import EGraph
from .signature import OP_CLASSES, form_of


@dataclass
class Encoded:
    """What became of a block: the nodes of what its terminator returns, its ops with regions, and locations of
    nodes."""

    roots: list[int] = field(default_factory=list[int])
    regions: dict[str, Operation] = field(default_factory=dict[str, Operation])
    locations: dict[int, LocationAttr] = field(default_factory=dict[int, LocationAttr])


def is_typed_by_rules(op_class: type[TensorOp]) -> bool:
    """Whether rules of the e-graph say the type of such an op."""
    return issubclass(op_class, Elementwise | ViewOp | IotaOp | LiteralOp)


def add_op(
    egraph: EGraph,
    op_class: type[TensorOp],
    properties: Mapping[str, Attribute],
    operands: Sequence[Any],
    types: Sequence[TensorType],
) -> list[int]:
    """Adds a term of an op on operand terms; the nodes of its results."""
    form = form_of(op_class)
    term = egraph.term(form.constructor(len(operands)), egraph.texts.texts(form, properties), operands)
    if form.results > 1:
        nodes = [egraph.add(egraph.result(term, i)) for i in range(form.results)]
    else:
        nodes = [egraph.add(term)]
    if not is_typed_by_rules(op_class):
        for node, type_ in zip(nodes, types, strict=True):
            egraph.set_type(node, type_)
    return nodes


def encode(block: Block, egraph: EGraph) -> Encoded:
    """Adds every op of the block.

    Raises:
        ContractError: an op has no term.
    """
    encoded = Encoded()
    nodes: dict[SSAValue, int] = {}
    for number, argument in enumerate(block.args):
        nodes[argument] = egraph.add(egraph.argument(number))
        egraph.set_type(nodes[argument], tensor_of(argument))
    for op in block.ops:
        if op.has_trait(IsTerminator):
            encoded.roots = [nodes[o] for o in op.operands]
            break
        operands = [egraph.reference(nodes[o]) for o in op.operands]
        for result, node in zip(op.results, _add(op, operands, egraph, encoded), strict=True):
            nodes[result] = node
            encoded.locations[node] = op.location
    return encoded


def _add(op: Operation, operands: Sequence[Any], egraph: EGraph, encoded: Encoded) -> list[int]:
    types = [tensor_of(result) for result in op.results]
    if isinstance(op, TensorOp) and type(op) in OP_CLASSES:
        _intern(op, egraph)
        return add_op(egraph, type(op), op.properties, operands, types)
    if not op.regions:
        raise ContractError(
            "the op has no form in an e-graph", op=op, stage="eqsat", hint="run eqsat on graph-level IR"
        )
    key = f"{op.name} {len(encoded.regions)}"
    encoded.regions[key] = op
    nodes = [egraph.add(egraph.result(egraph.region(key, operands), i)) for i in range(len(op.results))]
    for node, type_ in zip(nodes, types, strict=True):
        egraph.set_type(node, type_)
    return nodes


def _intern(op: TensorOp, egraph: EGraph) -> None:
    """Gives texts to the parts of types that rules may state by themselves."""
    for result in op.results:
        type_ = tensor_of(result)
        egraph.texts.text(type_.shape)
        egraph.texts.text(type_.element)
