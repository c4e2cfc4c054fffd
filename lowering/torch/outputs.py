"""The values that a graph returns, from its arguments and the results of its program."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

from ...dialects.sym.expr import Expr
from .binding import evaluated
from .returned import OutputSlot
from .symbolic_float import Condition, FloatExpr

Symbols = Mapping[str, int]
Give = Callable[[Sequence[Any], Sequence[Any], Symbols], Any]
"""(values of the placeholders, results of the program, values of the symbols) -> one returned value."""
Source = Callable[[Sequence[Any]], torch.Tensor]
"""Values of the placeholders -> the tensor that an output shares memory with."""
Base = Callable[[Sequence[Any], Sequence[Any]], torch.Tensor]
"""(values of the placeholders, results of the program) -> the tensor that an output is a view of."""


def needs_symbols(slot: OutputSlot) -> bool:
    """Whether the value depends on a size that is known only when the graph is called."""
    sizes = [] if slot.geometry is None else [*slot.geometry[0], *slot.geometry[1], slot.geometry[2]]
    return isinstance(slot.size, FloatExpr | Condition) or any(
        size is not None and size.as_int() is None for size in (*sizes, slot.size)
    )


def output_function(slot: OutputSlot, source: Source | None) -> Give:
    """How one output is made; `source` finds the argument that it shares memory with, if any."""
    if slot.result < 0 and source is None:
        size, value = slot.size, slot.value
        if isinstance(size, FloatExpr | Condition):
            return lambda values, results, symbols: size.evaluate(symbols)
        if isinstance(size, Expr):
            return lambda values, results, symbols: evaluated([size], symbols)[0]
        return lambda values, results, symbols: value
    number = slot.result
    base: Base = (lambda values, results: results[number]) if source is None else (lambda values, _: source(values))
    if slot.geometry is None:
        return lambda values, results, symbols: base(values, results)
    if slot.apart:
        return _copy(base, *slot.geometry[:2])
    return _view(base, *slot.geometry)


def _copy(base: Base, sizes: Sequence[Expr], strides: Sequence[Expr]) -> Give:
    """A fresh tensor with these strides, which leave holes."""

    def copy(values: Sequence[Any], results: Sequence[Any], symbols: Symbols) -> torch.Tensor:
        result = base(values, results)
        shape = evaluated(sizes, symbols), evaluated(strides, symbols)
        with torch.no_grad():
            return torch.empty_strided(*shape, dtype=result.dtype, device=result.device).copy_(result)

    return copy


def _view(base: Base, sizes: Sequence[Expr], strides: Sequence[Expr], start: Expr) -> Give:
    """A view of a tensor, `start` elements after its own start."""

    def view(tensor: torch.Tensor, symbols: Symbols) -> torch.Tensor:
        (offset,) = evaluated([start], symbols)
        offset += tensor.storage_offset()
        return tensor.as_strided(evaluated(sizes, symbols), evaluated(strides, symbols), offset)

    if any(size.as_int() is None for size in (*sizes, *strides, start)):
        return lambda values, results, symbols: view(base(values, results), symbols)
    fixed_sizes, fixed_strides, (offset,) = evaluated(sizes, {}), evaluated(strides, {}), evaluated([start], {})

    def fixed(values: Sequence[Any], results: Sequence[Any], symbols: Symbols) -> torch.Tensor:
        tensor = base(values, results)
        return tensor.as_strided(fixed_sizes, fixed_strides, tensor.storage_offset() + offset)

    return fixed
