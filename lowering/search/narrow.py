"""Computes elementwise ops before a broadcast instead of after it: rsqrt once a row, not once an element."""

from __future__ import annotations

from xdsl.ir import Block, SSAValue

from ...dialects.hlir.creation import ConstantOp
from ...dialects.hlir.elementwise import Elementwise
from ...dialects.hlir.types import TensorType
from ...dialects.hlir.view import ViewOp
from ...dialects.op import tensor_of
from .cost import CostModel


def narrow_block(block: Block, model: CostModel) -> None:
    """Moves each elementwise op whose operands are constants and equal broadcasts in front of the broadcast."""
    for op in list(block.ops):
        for region in op.regions:
            for inner in region.blocks:
                narrow_block(inner, model)
        if isinstance(op, Elementwise):
            _narrow(op, block, model)


def _narrow(op: Elementwise, block: Block, model: CostModel) -> None:
    views = [o.owner for o in op.operands if isinstance(o.owner, ViewOp)]
    constants = [o.owner for o in op.operands if isinstance(o.owner, ConstantOp)]
    if not views or len(views) + len(constants) < len(op.operands):
        return
    first = views[0]
    source = tensor_of(first.source)
    same = all(v.map == first.map and tensor_of(v.source).shape == source.shape for v in views)
    if not same or model.elements(source) >= model.elements(tensor_of(first.result)):
        return
    operands = [_before(o, source, block, op) for o in op.operands]
    made = type(op).make(operands, dict(op.properties), location=op.location)
    block.insert_op_before(made, op)
    wide = ViewOp.make([made.results[0]], {"map": first.map, "shape": first.shape}, location=op.location)
    block.insert_op_before(wide, op)
    wide.result.name_hint = op.results[0].name_hint
    op.results[0].replace_all_uses_with(wide.result)
    block.erase_op(op)


def _before(operand: SSAValue, source: TensorType, block: Block, op: Elementwise) -> SSAValue:
    """The operand at the shape of what is broadcast."""
    owner = operand.owner
    if isinstance(owner, ViewOp):
        return owner.source
    assert isinstance(owner, ConstantOp)
    constant = ConstantOp.make([], {"value": owner.value, "shape": source.shape}, location=owner.location)
    block.insert_op_before(constant, op)
    return constant.result
