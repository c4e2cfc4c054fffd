"""simplify-positions: integers computed from indices become one iota, comparisons of them that ranges decide become
constants, and a gather at them becomes a view where they are known to lie in its axis."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass

from ..dialects.dtype import I32, I64
from ..dialects.hlir.arithmetic import NegOp, SubOp
from ..dialects.hlir.comparison import LessEqualOp, MinimumOp, NotEqualOp
from ..dialects.hlir.conversion import CastOp, SelectOp
from ..dialects.hlir.creation import ConstantOp, IotaOp
from ..dialects.hlir.elementwise import AddOp, EqualOp, FloorDivOp, LessThanOp, MaximumOp, MulOp
from ..dialects.hlir.index_map import IndexMap, canonical
from ..dialects.hlir.indexing import CheckIndexOp, GatherOp
from ..dialects.hlir.types import MapAttr, ScalarAttr, ShapeAttr
from ..dialects.hlir.view import ViewOp
from ..dialects.op import TensorOp, tensor_of
from ..dialects.sym.bounds import Bounds, Interval, interval, proves_nonnegative, simplify
from ..dialects.sym.dialect import declared_bounds
from ..dialects.sym.expr import Expr, constant, floordiv, index, maximum, minimum
from ..dialects.sym.substitute import substitute_indices


def _add(a: Expr, b: Expr) -> Expr:
    return a + b


def _subtract(a: Expr, b: Expr) -> Expr:
    return a - b


def _multiply(a: Expr, b: Expr) -> Expr:
    return a * b


MODULAR: Mapping[type[TensorOp], Callable[[Expr, Expr], Expr]] = MappingProxyType(
    {AddOp: _add, SubOp: _subtract, MulOp: _multiply}
)
"""Right even where the integers of the dtype wrap around, as the conversion of an iota does."""
ORDERED: Mapping[type[TensorOp], Callable[[Expr, Expr], Expr]] = MappingProxyType(
    {MaximumOp: maximum, MinimumOp: minimum}
)
"""Right where neither operand wraps around."""
COMPARISONS: tuple[type[TensorOp], ...] = (LessThanOp, LessEqualOp, EqualOp, NotEqualOp)


@dataclass(frozen=True)
class SimplifyPositionsPass(ModulePass):
    """Leaves no arithmetic on positions that one index expression says, and no gather at places known
    beforehand to lie inside."""

    name: ClassVar[str] = "simplify-positions"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        symbols = declared_bounds(op).symbols
        for inner in op.ops:
            for region in inner.regions:
                for block in region.blocks:
                    simplify_positions(block, symbols)


def simplify_positions(block: Block, symbols: Mapping[str, Interval]) -> None:
    """Simplifies one block and the blocks inside its ops."""
    positions: dict[SSAValue, Expr] = {}
    for op in list(block.ops):
        for region in op.regions:
            for inner in region.blocks:
                simplify_positions(inner, symbols)
        if isinstance(op, TensorOp) and len(op.results) == 1:
            _simplify(op, block, positions, symbols)


def _simplify(op: TensorOp, block: Block, positions: dict[SSAValue, Expr], symbols: Mapping[str, Interval]) -> None:
    result = op.results[0]
    bounds = Bounds(symbols, tensor_of(result).dims)
    if isinstance(op, GatherOp):
        if op.indices in positions and _is_inside(op, positions[op.indices], symbols):
            _replace(op, _as_view(op, positions[op.indices]), block)
        return
    if isinstance(op, COMPARISONS):
        a, b = op.operands
        if a in positions and b in positions and _fits(a, positions[a], bounds) and _fits(b, positions[b], bounds):
            decided = _decide(op, positions[a], positions[b], bounds)
            if decided is not None:
                _replace(op, _constant(op, decided), block)
        return
    if isinstance(op, SelectOp) and isinstance(op.condition.owner, ConstantOp):
        result.replace_all_uses_with(op.a if op.condition.owner.scalar.value else op.b)
        block.erase_op(op)
        return
    if tensor_of(result).dtype not in (I32, I64):
        return
    found = _position(op, positions, bounds)
    if found is None:
        return
    found = simplify(canonical(IndexMap(tensor_of(result).rank, (found,)), bounds.extents).exprs[0], bounds)
    positions[result] = found
    if not isinstance(op, ConstantOp | ViewOp) and not (isinstance(op, IotaOp) and found.as_int() is None):
        known = found.as_int()
        made = _as_iota(op, found) if known is None or not _fits(result, found, bounds) else _constant(op, known)
        _replace(op, made, block)
        positions[made.results[0]] = found


def _position(op: TensorOp, positions: Mapping[SSAValue, Expr], bounds: Bounds) -> Expr | None:
    """The value of each element as an expression of its indices, or None if it is not known to be one."""
    if isinstance(op, IotaOp):
        return op.expression.exprs[0]
    if isinstance(op, ConstantOp):
        return constant(int(op.scalar.value))
    if not op.operands or not all(o in positions for o in op.operands):
        return None
    args = [positions[o] for o in op.operands]
    if isinstance(op, ViewOp):
        return substitute_indices(args[0], dict(enumerate(op.map.data.exprs)))
    if isinstance(op, NegOp):
        return -args[0]
    if type(op) in MODULAR:
        return MODULAR[type(op)](args[0], args[1])
    if isinstance(op, CheckIndexOp):
        inside = proves_nonnegative(args[0], bounds) and proves_nonnegative(args[1] - args[0], bounds)
        return args[0] if inside else None
    if not all(_fits(o, a, bounds) for o, a in zip(op.operands, args, strict=True)):
        return None
    if type(op) in ORDERED:
        return ORDERED[type(op)](args[0], args[1])
    if isinstance(op, FloorDivOp):
        divisor = args[1].as_int()
        return floordiv(args[0], args[1]) if divisor is not None and divisor > 0 else None
    return args[0] if isinstance(op, CastOp) else None


def _fits(value: SSAValue, position: Expr, bounds: Bounds) -> bool:
    """Whether no element leaves the range of the dtype, so that the expression is the number itself."""
    limits = np.iinfo(tensor_of(value).dtype.numpy)
    if tensor_of(value).dtype == I64:
        return True
    span = interval(position, bounds)
    return span.low is not None and span.high is not None and limits.min <= span.low and span.high <= limits.max


def _is_inside(op: GatherOp, position: Expr, symbols: Mapping[str, Interval]) -> bool:
    """Whether every place lies in the gathered axis: a gather is checked when it runs, a view is not."""
    bounds = Bounds(symbols, tensor_of(op.indices).dims)
    last = tensor_of(op.source).dims[op.axis.data] - 1
    return proves_nonnegative(position, bounds) and proves_nonnegative(last - position, bounds)


def _decide(op: TensorOp, a: Expr, b: Expr, bounds: Bounds) -> bool | None:
    """The outcome of a comparison that is the same for all elements and all values of the symbols."""
    if isinstance(op, EqualOp | NotEqualOp):
        same = isinstance(op, EqualOp)
        if a == b:
            return same
        apart = proves_nonnegative(a - b - 1, bounds) or proves_nonnegative(b - a - 1, bounds)
        return not same if apart else None
    strict = 1 if isinstance(op, LessThanOp) else 0
    if proves_nonnegative(b - a - strict, bounds):
        return True
    return False if proves_nonnegative(a - b - (1 - strict), bounds) else None


def _constant(op: TensorOp, value: int | bool) -> TensorOp:
    type_ = tensor_of(op.results[0])
    return ConstantOp.make([], {"value": ScalarAttr.get(value, type_.dtype), "shape": type_.shape})


def _as_iota(op: TensorOp, position: Expr) -> TensorOp:
    type_ = tensor_of(op.results[0])
    properties = {"value": MapAttr(IndexMap(type_.rank, (position,))), "shape": type_.shape, "dtype": type_.element}
    return IotaOp.make([], properties)


def _as_view(op: GatherOp, position: Expr) -> TensorOp:
    """The source read at the indices of the result, with the position in place of the gathered axis."""
    axis, rank = op.axis.data, tensor_of(op.indices).rank
    type_ = tensor_of(op.result)
    inside = {i: index(axis + i) for i in range(rank)}
    exprs: list[Expr] = [index(i) for i in range(axis)]
    exprs.append(substitute_indices(position, inside))
    exprs += [index(i) for i in range(axis + rank, type_.rank)]
    index_map = canonical(IndexMap(type_.rank, tuple(exprs)), type_.dims)
    return ViewOp.make([op.source], {"map": MapAttr(index_map), "shape": ShapeAttr.get(type_.dims)})


def _replace(op: TensorOp, made: Operation, block: Block) -> None:
    made.location = op.location
    block.insert_op_before(made, op)
    made.results[0].name_hint = op.results[0].name_hint
    op.results[0].replace_all_uses_with(made.results[0])
    block.erase_op(op)
