"""The values that a graph returns, from its arguments and the results of its program."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

from ...dialects.sym.expr import Expr
from .binding import evaluated
from .function import OutputSlot

Symbols = Mapping[str, int]
Give = Callable[[Sequence[Any], Sequence[Any], Symbols], Any]
"""(values of the placeholders, results of the program, values of the symbols) -> one returned value."""
Source = Callable[[Sequence[Any]], torch.Tensor]
"""Values of the placeholders -> the tensor that an output shares memory with."""


def needs_symbols(slot: OutputSlot) -> bool:
    """Whether the value depends on a size that is known only when the graph is called."""
    sizes = [] if slot.geometry is None else [*slot.geometry[0], *slot.geometry[1], slot.geometry[2]]
    return any(size is not None and size.as_int() is None for size in (*sizes, slot.size))


def output_function(slot: OutputSlot, source: Source | None) -> Give:
    """How one output is made; `source` finds what it shares memory with, if anything."""
    if source is not None:
        return _argument(source) if slot.geometry is None else _view(source, *slot.geometry)
    if slot.result >= 0:
        number = slot.result
        return lambda values, results, symbols: results[number]
    size, value = slot.size, slot.value
    if isinstance(size, Expr):
        return lambda values, results, symbols: evaluated([size], symbols)[0]
    return lambda values, results, symbols: value


def _argument(source: Source) -> Give:
    return lambda values, results, symbols: source(values)


def _view(source: Source, sizes: Sequence[Expr], strides: Sequence[Expr], start: Expr) -> Give:
    """A view of the source, `start` elements after its own start."""

    def give(values: Sequence[Any], results: Sequence[Any], symbols: Symbols) -> torch.Tensor:
        base = source(values)
        (offset,) = evaluated([start], symbols)
        return base.as_strided(evaluated(sizes, symbols), evaluated(strides, symbols), base.storage_offset() + offset)

    return give
