"""Calls of a loaded program with torch tensors: placeholders in, the values that the graph returns out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from operator import itemgetter
from typing import Any

import torch

from ...dialects.errors import UnsupportedError
from ...runtime.artifact import Artifact
from ...runtime.config import configuration
from ...runtime.errors import ShapeError
from ...runtime.program import Program
from ..recompile import recompile
from .adapter import TorchAdapter
from .artifact_layout import with_logical_layouts
from .binding import SymbolBinding
from .function import ImportedGraph, InputSlot
from .outputs import Source, needs_symbols, output_function

Run = Callable[[list[Any]], Sequence[Any]]
"""Values of the placeholders in, in order; the returned values out, in order."""
Call = Callable[[list[Any]], tuple[Any, ...]]
"""Inputs of the program in, in order; its outputs out, in order."""


class LoadedGraph:
    """A compiled graph as a function of its placeholders' values.

    `weights` are bound once, by argument name, in logical order. The first `offset` placeholders, all bound, are not
    passed.
    """

    def __init__(
        self,
        imported: ImportedGraph,
        artifact: Artifact,
        device: torch.device,
        weights: Mapping[str, torch.Tensor],
        offset: int = 0,
    ):
        self.imported = imported
        slots = {slot.name: slot for slot in imported.inputs}
        constants = {s.name: s.constant.to(device) for s in imported.inputs if s.constant is not None}
        bound = {name: in_memory_order(value, slots[name]) for name, value in {**constants, **weights}.items()}
        self.artifact = with_logical_layouts(artifact, imported, bound)
        self.program = Program(self.artifact, str(device), recompile=partial(recompile, compiler=configuration().cc))
        self.program.limit_threads(torch.get_num_threads())
        self._bound, self._slots = {**constants, **weights}, slots
        self._call = self._caller(bound)
        self._given = [slot for slot in imported.inputs if slot.name not in bound]
        self._offset = offset
        self._binding = SymbolBinding(imported, offset)
        self._check_mutations(bound)

    def _caller(self, bound: Mapping[str, torch.Tensor]) -> Call:
        """The program's call on the bound tensors. The program itself notices memory that moved under a tensor it was
        given; a
        tensor read through another order of its dims is watched here, and bound again when it moved."""
        call = self.program.caller(TorchAdapter(), bound)
        watched = [tensor for name, tensor in self._bound.items() if bound[name] is not tensor]
        if not watched:
            return call
        pointer = torch.Tensor.data_ptr
        state = [(call, list(map(pointer, watched)))]

        def checked(values: list[Any]) -> tuple[Any, ...]:
            call, addresses = state[0]
            found = list(map(pointer, watched))
            if found != addresses:
                fresh = {name: in_memory_order(value, self._slots[name]) for name, value in self._bound.items()}
                call = self.program.caller(TorchAdapter(), fresh)
                state[0] = (call, found)
            return call(values)

        return checked

    def _check_mutations(self, bound: Mapping[str, Any]) -> None:
        copied = [self.imported.inputs[i].name for i in self.imported.mutated if not self.imported.inputs[i].dense]
        if any(name in bound for name in copied):
            hint = "make it contiguous before compiling"
            raise UnsupportedError("the model writes into tensors that are not dense", copied, hint=hint)

    def runner(self) -> Run:
        """The function, with as little Python around the program's call as the graph needs."""
        run = self._plain_runner()
        for index in self.imported.mutated:
            if not self.imported.inputs[index].dense:
                run = _copying_back(run, self.imported.inputs[index].placeholder - self._offset)
        return run

    def _plain_runner(self) -> Run:
        take, give, call = self._take(), self._give(), self._call
        if give is None:
            return call if take is None else lambda values: call(take(values))
        if take is None:
            return lambda values: give(values, call(values))
        return lambda values: give(values, call(take(values)))

    def _take(self) -> Callable[[list[Any]], list[Any]] | None:
        """Placeholder values -> program inputs; None where they are the same list."""
        slots, offset = self._given, self._offset
        if any(slot.draw is not None for slot in slots):
            return self._take_and_draw(slots)
        if all(slot.dense and slot.divisor == 1 for slot in slots):
            positions = [slot.placeholder - offset for slot in slots]
            if positions == list(range(self.imported.placeholders - offset)):
                return None
            if len(positions) > 1:
                pick = itemgetter(*positions)
                return lambda values: list(pick(values))
        return lambda values: [_value(slot, values[slot.placeholder - offset]) for slot in slots]

    def _take_and_draw(self, slots: Sequence[InputSlot]) -> Callable[[list[Any]], list[Any]]:
        """The same where some inputs are drawn: in the order of the slots, which is that of the graph."""
        offset, binding = self._offset, self._binding
        dynamic = any(slot.draw is not None and slot.draw.needs_symbols for slot in slots)

        def take(values: list[Any]) -> list[Any]:
            symbols: Mapping[str, int] = binding.symbols(values) if dynamic else {}
            taken: list[Any] = []
            for slot in slots:
                if slot.draw is None:
                    taken.append(_value(slot, values[slot.placeholder - offset]))
                else:
                    state = None if slot.draw.state is None else values[slot.draw.state - offset]
                    taken.append(slot.draw.make(symbols, state))
            return taken

        return take

    def _give(self) -> Callable[[list[Any], tuple[Any, ...]], Sequence[Any]] | None:
        """Program outputs -> returned values; None where they are the same tuple."""
        slots, binding = self.imported.outputs, self._binding
        if all(slot.result == i and slot.alias is None and slot.geometry is None for i, slot in enumerate(slots)):
            return None
        functions = [output_function(slot, self._source(slot.alias)) for slot in slots]
        if any(needs_symbols(slot) for slot in slots):

            def give(values: list[Any], results: tuple[Any, ...]) -> Sequence[Any]:
                symbols = binding.symbols(values)
                return [function(values, results, symbols) for function in functions]

            return give
        return lambda values, results: [function(values, results, {}) for function in functions]

    def _source(self, argument: int | None) -> Source | None:
        """Where the tensor of an argument is found in a call: bound, or among the values."""
        if argument is None:
            return None
        slot = self.imported.inputs[argument]
        if slot.name in self._bound:
            tensor = self._bound[slot.name]
            return lambda values: tensor
        position = slot.placeholder - self._offset
        return lambda values: values[position]


def in_memory_order(value: torch.Tensor, slot: InputSlot) -> torch.Tensor:
    """The tensor with its dims in the order in which they lie in memory: itself where they do; a copy only of what is
    not
    dense."""
    if slot.dense and list(slot.order) == list(range(len(slot.order))):
        return value
    return value.detach().permute(slot.order) if slot.dense else value.detach().contiguous()


def _copying_back(run: Run, position: int) -> Run:
    """For an input that is not dense but written: the program writes a copy, which is copied back."""

    def copying(values: list[Any]) -> Sequence[Any]:
        original = values[position]
        values[position] = original.contiguous()
        results = run(values)
        original.copy_(values[position])
        return results

    return copying


def _value(slot: InputSlot, value: Any) -> Any:
    if slot.role == "scalar":
        quotient, rest = divmod(int(value), slot.divisor)
        if rest:
            hint = "pass such a number, or compile the model for numbers like this one"
            raise ShapeError(f"input {slot.name!r} is {value}, expected a multiple of {slot.divisor}", hint=hint)
        return quotient
    return value if slot.dense else value.contiguous()
