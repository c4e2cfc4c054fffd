"""simplify-dims: what is known of the symbols applied to every type, map and shape of the module at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, cast

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FunctionType, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from ..dialects.hlir.index_map import IndexMap, canonical
from ..dialects.hlir.types import MapAttr, ShapeAttr, TensorType, tensor_type
from ..dialects.hlir.view import ViewOp
from ..dialects.op import TensorOp
from ..dialects.sym.dialect import ExprAttr, GuardOp, SymbolOp
from ..dialects.sym.expr import Expr, index
from .symbol_facts import SymbolFacts, facts_of

SYMBOL_OF_ARGUMENT = "hlir.symbol"
"""Argument attribute that names the symbol whose value the argument gives; such a symbol stays."""


@dataclass(frozen=True)
class SimplifyDimsPass(ModulePass):
    """Leaves no expression that the declared ranges and multiples decide, and no symbol that an equation gives.

    The range of a solved symbol stays as guards of its value. One expression has one spelling afterwards everywhere in
    the module, so equal dims are equal attributes as far as simplification can tell.
    """

    name: ClassVar[str] = "simplify-dims"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        facts = facts_of(op, _pinned(op))
        _DimRewriter(facts).rewrite_regions(op)
        _declare(op, facts)


def _pinned(module: ModuleOp) -> list[str]:
    names: list[str] = []
    for op in module.ops:
        if isinstance(op, FuncOp) and op.arg_attrs is not None:
            values = [attributes.data.get(SYMBOL_OF_ARGUMENT) for attributes in op.arg_attrs.data]
            names += [value.data for value in values if isinstance(value, StringAttr)]
    return names


def _declare(module: ModuleOp, facts: SymbolFacts) -> None:
    """Replace the declarations and guards by those of the facts."""
    block = module.body.block
    locations = {op.sym_name.data: op.location for op in block.ops if isinstance(op, SymbolOp)}
    for op in [op for op in block.ops if isinstance(op, SymbolOp | GuardOp)]:
        block.erase_op(op)
    declarations: list[Operation] = []
    for name, range_ in facts.ranges.items():
        declaration = SymbolOp(name, range_.low or 0, range_.high, facts.multiples[name])
        declaration.location = locations[name]
        declarations.append(declaration)
    declarations += [GuardOp(guard.expr, guard.relation) for guard in facts.guards]
    if block.first_op is not None:
        block.insert_ops_before(declarations, block.first_op)
    else:
        block.add_ops(declarations)


class _DimRewriter:
    """Rewrites attributes and the types of values; results are remembered."""

    def __init__(self, facts: SymbolFacts):
        self.facts = facts
        self.known: dict[Attribute, Attribute] = {}

    def rewrite_regions(self, op: Operation) -> None:
        for region in op.regions:
            for block in region.blocks:
                for argument in tuple(block.args):
                    _retype(argument, self.attribute(argument.type))
                for inner in list(block.ops):
                    self.rewrite_op(inner, block)

    def rewrite_op(self, op: Operation, block: Block) -> None:
        self.rewrite_regions(op)
        shape = op.properties.get("shape", op.properties.get("space"))
        extents = self._shape(shape).data if isinstance(shape, ShapeAttr) else ()
        for name, attribute in op.properties.items():
            if isinstance(attribute, MapAttr):
                op.properties[name] = self._map(attribute, extents)
            else:
                op.properties[name] = self.attribute(attribute)
        for name, attribute in op.attributes.items():
            op.attributes[name] = self.attribute(attribute)
        wanted = [self.attribute(result.type) for result in op.results]
        inferred = op.infer(op.operand_types, op.properties) if isinstance(op, TensorOp) else wanted
        for result, type_, other in zip(tuple(op.results), inferred, wanted, strict=True):
            value = _retype(result, type_)
            if type_ != other:
                _restate(value, cast(TensorType, other), block, op)

    def attribute(self, attribute: Attribute) -> Attribute:
        """The attribute with every expression in it simplified."""
        known = self.known.get(attribute)
        if known is None:
            known = self.known[attribute] = self._compute(attribute)
        return known

    def _compute(self, attribute: Attribute) -> Attribute:
        if isinstance(attribute, TensorType):
            return tensor_type(self._shape(attribute.shape).data, attribute.dtype)
        if isinstance(attribute, ShapeAttr):
            return self._shape(attribute)
        if isinstance(attribute, ExprAttr):
            return ExprAttr(self.facts.simplify(attribute.data))
        if isinstance(attribute, FunctionType):
            inputs, outputs = ([self.attribute(t) for t in types] for types in (attribute.inputs, attribute.outputs))
            return FunctionType.from_lists(inputs, outputs)
        if isinstance(attribute, ArrayAttr):
            return ArrayAttr([self.attribute(a) for a in cast(ArrayAttr[Attribute], attribute).data])
        if isinstance(attribute, DictionaryAttr):
            return DictionaryAttr({key: self.attribute(value) for key, value in attribute.data.items()})
        return attribute

    def _shape(self, shape: ShapeAttr) -> ShapeAttr:
        return ShapeAttr.get(self.facts.simplify(dim) for dim in shape.data)

    def _map(self, attribute: MapAttr, extents: Sequence[Expr]) -> MapAttr:
        exprs = tuple(self.facts.simplify(e, extents) for e in attribute.data.exprs)
        return MapAttr(canonical(IndexMap(attribute.data.rank, exprs), tuple(extents)))


def _retype(value: SSAValue, type_: Attribute) -> SSAValue:
    return value if value.type == type_ else Rewriter.replace_value_with_new_type(value, type_)


def _restate(value: SSAValue, type_: TensorType, block: Block, op: Operation) -> None:
    """Read `value` at dims that are equal to its own only by the facts of the symbols.

    The type rule of an op may build an expression that the facts simplify further than its own properties show.
    """
    same = canonical(IndexMap(type_.rank, tuple(index(i) for i in range(type_.rank))), type_.dims)
    view = ViewOp.make([value], {"map": MapAttr(same), "shape": type_.shape}, location=op.location)
    block.insert_op_after(view, op)
    value.replace_uses_with_if(view.result, lambda use: use.operation is not view)
