"""What torch.export assumed about sizes: its guards as sympy conditions, also of programs that were loaded from a
file."""

from __future__ import annotations

import ast
import operator
from collections.abc import Mapping
from typing import Any

import sympy
import torch
from torch.export import ExportedProgram
from torch.export.graph_signature import InputKind
from torch.utils._sympy.functions import FloorDiv, PythonMod

from .function import placeholders_of
from .fx import shape_environment, sympy_of, traced
from .unsupported import UnsupportedNodeError

_COMPARISONS: dict[type[ast.cmpop], Any] = {
    ast.Eq: sympy.Eq,
    ast.NotEq: sympy.Ne,
    ast.Lt: sympy.Lt,
    ast.LtE: sympy.Le,
    ast.Gt: sympy.Gt,
    ast.GtE: sympy.Ge,
}
_ARITHMETIC: dict[type[ast.operator], Any] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: FloorDiv,
    ast.Mod: PythonMod,
}


def guards_of(program: ExportedProgram) -> list[Any]:
    """The guards of the trace. A saved file keeps them only as text over the inputs, which is read back."""
    environment = shape_environment(placeholders_of(program.graph))
    texts: list[str] = list(getattr(program, "_guards_code", None) or [])
    guards = [environment.replace(guard.expr) for guard in environment.guards] if environment is not None else []
    if len(guards) >= len(texts):
        return guards
    sizes = _sizes(program)
    return [*guards, *(_condition(text, sizes) for text in texts)]


def _sizes(program: ExportedProgram) -> Mapping[str, torch.Tensor]:
    """The traced tensors of the inputs by name."""
    nodes = placeholders_of(program.graph)
    specs = program.graph_signature.input_specs
    return {n.name: traced(n) for n, s in zip(nodes, specs, strict=True) if s.kind is InputKind.USER_INPUT}


def _condition(text: str, sizes: Mapping[str, torch.Tensor]) -> Any:
    tree = ast.parse(text, mode="eval").body
    if not isinstance(tree, ast.Compare) or len(tree.ops) != 1 or type(tree.ops[0]) not in _COMPARISONS:
        raise UnsupportedNodeError(f"assume {text}, which is no comparison")
    left, right = (_value(part, text, sizes) for part in (tree.left, tree.comparators[0]))
    return _COMPARISONS[type(tree.ops[0])](left, right)


def _value(tree: ast.expr, text: str, sizes: Mapping[str, torch.Tensor]) -> Any:
    if isinstance(tree, ast.Constant) and isinstance(tree.value, int):
        return sympy.Integer(tree.value)
    if isinstance(tree, ast.BinOp) and type(tree.op) in _ARITHMETIC:
        return _ARITHMETIC[type(tree.op)](_value(tree.left, text, sizes), _value(tree.right, text, sizes))
    if isinstance(tree, ast.UnaryOp) and isinstance(tree.op, ast.USub):
        return -_value(tree.operand, text, sizes)
    size = _size(tree, sizes)
    if size is None:
        raise UnsupportedNodeError(f"assume {text}, which names no size of an input")
    return sympy_of(size) if isinstance(size, torch.SymInt) else sympy.Integer(size)


def _size(tree: ast.expr, sizes: Mapping[str, torch.Tensor]) -> Any:
    """L['x'].size()[1], or with a nested input L['x'][0].size()[1], whose placeholder is x_0."""
    match tree:
        case ast.Subscript(
            value=ast.Call(func=ast.Attribute(value=source, attr="size")), slice=ast.Constant(value=int(dim))
        ):
            name = _name(source)
            return sizes[name].shape[dim] if name in sizes else None
        case _:
            return None


def _name(tree: ast.expr) -> str:
    match tree:
        case ast.Subscript(value=ast.Name(id="L"), slice=ast.Constant(value=str(name))):
            return name
        case ast.Subscript(value=inner, slice=ast.Constant(value=key)):
            return f"{_name(inner)}_{key}"
        case _:
            return ""
