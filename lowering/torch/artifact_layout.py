"""Declares the inputs and outputs of an artifact with torch's sizes and strides, where the program knew their memory
order."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import TypeVar

from ...runtime.artifact import Artifact, Input, Output, Symbol
from .function import ImportedGraph

Tensor = TypeVar("Tensor", Input, Output)


def with_logical_layouts(artifact: Artifact, imported: ImportedGraph, bound: Collection[str] = ()) -> Artifact:
    """The artifact as its callers see it: dim order[m] of a tensor is dim m of the program. Bound inputs keep memory
    order."""
    program = artifact.program
    orders = {slot.name: slot.order for slot in imported.inputs if slot.name not in bound}
    inputs = tuple(_reordered(item, orders.get(item.name, ())) for item in program.inputs)
    outputs = tuple(
        _reordered(item, order) for item, order in zip(program.outputs, imported.result_orders, strict=True)
    )
    symbols = tuple(_moved(symbol, program.inputs, orders) for symbol in program.symbols)
    return replace(artifact, program=replace(program, inputs=inputs, outputs=outputs, symbols=symbols))


def _is_plain(order: Sequence[int]) -> bool:
    return list(order) == sorted(order)


def _reordered(item: Tensor, order: Sequence[int]) -> Tensor:
    if _is_plain(order):
        return item
    back = [order.index(i) for i in range(len(order))]
    shape, strides = (tuple(texts[m] for m in back) for texts in (item.shape, item.strides))
    return replace(item, shape=shape, strides=strides)


def _moved(symbol: Symbol, inputs: Sequence[Input], orders: dict[str, tuple[int, ...]]) -> Symbol:
    order = orders.get(inputs[symbol.input_index].name, ())
    return symbol if symbol.dim < 0 or _is_plain(order) else replace(symbol, dim=order[symbol.dim])
