"""Where the symbols of a module get their values when the program is called, and what is checked of them then."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Attribute, SSAValue

from ...dialects.errors import LoweringError
from ...dialects.hlir.index_map import linear_coefficients
from ...dialects.host import GuardOp, InputOp, SymbolOp
from ...dialects.host.types import BufferType
from ...dialects.sym.dialect import GuardOp as FactOp
from ...dialects.sym.dialect import SymbolOp as DeclarationOp
from ...dialects.sym.expr import Expr, index, symbol
from ...dialects.sym.substitute import substitute_symbols, symbol_names


def bind(module: ModuleOp, inputs: Sequence[InputOp], given: Sequence[dict[str, Attribute]]) -> list[SymbolOp]:
    """A host.symbol for each declared symbol that an input gives, with its range and multiple: from a scalar first,
    then from a whole dim, then from one linear in it. The other dims are compared with what follows from it.

    `given` are the attributes of the function's arguments; a scalar names its symbol in `hlir.symbol`.
    """
    bound: list[SymbolOp] = []
    for op in module.ops:
        if isinstance(op, DeclarationOp):
            place = _find(op.sym_name.data, inputs, given)
            if place is not None:
                range_ = op.range
                bound.append(
                    SymbolOp(
                        op.sym_name.data,
                        *place,
                        minimum=max(range_.low or 0, 0),
                        maximum=range_.high,
                        multiple_of=op.multiple_of.data,
                    )
                )
    return bound


def guards(module: ModuleOp) -> list[GuardOp]:
    """A host.guard for each fact on several symbols that the module relies on."""
    made: list[GuardOp] = []
    for op in module.ops:
        if isinstance(op, FactOp):
            made.append(GuardOp(op.expr.data, op.relation.data))
            made[-1].location = op.location
    return made


def _find(
    name: str, inputs: Sequence[InputOp], given: Sequence[dict[str, Attribute]]
) -> tuple[SSAValue, int | None] | None:
    """The input and the dim that give the symbol; dim None is a scalar."""
    for op, attributes in zip(inputs, given, strict=False):
        scalar = attributes.get("hlir.symbol")
        if isinstance(scalar, StringAttr) and scalar.data == name:
            return op.buffer, None
    places = [(op, i, dim) for op in inputs for i, dim in enumerate(_dims(op))]
    for op, i, dim in places:
        if dim is symbol(name):
            return op.buffer, i
    for op, i, dim in places:
        if symbol_names(dim) == [name] and _is_solvable(dim, name):
            return op.buffer, i
    return None


def _dims(op: InputOp) -> tuple[Expr, ...]:
    assert isinstance(op.buffer.type, BufferType)
    return op.buffer.type.dims


def _is_solvable(dim: Expr, name: str) -> bool:
    """Whether the dim is a * s + b for a number a that is not 0."""
    linear = linear_coefficients(substitute_symbols(dim, {name: index(0)}), 1)
    if linear is None:
        return False
    (slope,), rest = linear
    return bool(slope.as_int()) and rest.as_int() is not None


def check_bound(used: Iterable[Expr], bound: Sequence[SymbolOp]) -> None:
    """Raises LoweringError if an expression or a guard of the program needs a symbol that no input gives."""
    known = {op.symbol.data for op in bound}
    missing = sorted({name for e in used for name in symbol_names(e)} - known)
    if missing:
        raise LoweringError(
            f"the symbol {missing[0]!r} is needed, but no input has it as a dim by itself",
            stage="plan-memory",
            hint="give the program an input with that dim, or the size as a scalar input",
        )
