"""Values of a program's symbols from the tensors and sizes it is called with, for what is computed outside the
program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from xdsl.dialects.builtin import StringAttr
from xdsl.dialects.func import FuncOp

from ...dialects.hlir.types import TensorType
from ...dialects.sym.expr import Expr
from ...dialects.sym.substitute import evaluate_int
from .function import ImportedGraph
from .linear_form import linear_form


@dataclass(frozen=True)
class _Source:
    """symbol = (tensor placeholder's size at `dim` - offset) / scale; dim -1 is the placeholder's own value."""

    symbol: str
    placeholder: int
    dim: int
    scale: int
    offset: int


class SymbolBinding:
    """Finds the symbols of an imported graph in the values of its placeholders, of which the first `offset` are not
    given."""

    def __init__(self, imported: ImportedGraph, offset: int = 0):
        self.sources: list[_Source] = []
        (function,) = (op for op in imported.module.ops if isinstance(op, FuncOp))
        assert function.arg_attrs is not None
        found: set[str] = set()
        for slot, argument, attributes in zip(
            imported.inputs, function.body.block.args, function.arg_attrs.data, strict=True
        ):
            if slot.placeholder < offset or not isinstance(argument.type, TensorType):
                continue
            declared = attributes.data.get("hlir.symbol")
            if isinstance(declared, StringAttr):
                self._add(_Source(declared.data, slot.placeholder - offset, -1, slot.divisor, 0), found)
            for extent, dim in zip(argument.type.dims, slot.order, strict=False):
                form = linear_form(extent)
                if form is not None:
                    self._add(_Source(form[0], slot.placeholder - offset, dim, form[1], form[2]), found)

    def _add(self, source: _Source, found: set[str]) -> None:
        if source.symbol not in found:
            found.add(source.symbol)
            self.sources.append(source)

    def symbols(self, values: Sequence[Any]) -> Mapping[str, int]:
        """The symbols for the values of all placeholders."""
        return {s.symbol: (self._size(s, values) - s.offset) // s.scale for s in self.sources}

    @staticmethod
    def _size(source: _Source, values: Sequence[Any]) -> int:
        value = values[source.placeholder]
        return int(value) if source.dim < 0 else int(value.shape[source.dim])


def evaluated(sizes: Sequence[Expr], symbols: Mapping[str, int]) -> tuple[int, ...]:
    """Sizes as integers."""
    return tuple(evaluate_int(size, symbols) for size in sizes)
