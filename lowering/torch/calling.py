"""Calls of a loaded program with torch tensors: placeholders in, the values that the graph returns out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from operator import itemgetter
from typing import Any

import torch
from torch.autograd import profiler

from ...runtime.artifact import Artifact
from ...runtime.config import configuration
from ...runtime.errors import ShapeError
from ...runtime.program import Program
from ..recompile import recompile
from .adapter import TorchAdapter
from .artifact_layout import with_logical_layouts
from .binding import SymbolBinding
from .function import ImportedGraph, InputSlot
from .input_memory import with_copies
from .outputs import Give, Source, needs_symbols, output_function
from .returned import OutputSlot
from .weight_memory import BoundTensors, Call

_PROFILER: Any = profiler  # its flag is private and changes

Take = Callable[[list[Any]], list[Any]]
"""Values of the placeholders in, inputs of the program out."""
Run = Callable[[list[Any]], Sequence[Any]]
"""Values of the placeholders in, in order; the returned values out, in order."""


class LoadedGraph:
    """A compiled graph as a function of its placeholders' values.

    `weights` are bound once, by argument name, in logical order. The first `offset` placeholders, all bound, are not
    passed. The profiler shows calls under `name`.
    """

    def __init__(
        self,
        imported: ImportedGraph,
        artifact: Artifact,
        device: torch.device,
        weights: Mapping[str, torch.Tensor],
        offset: int = 0,
        name: str = "albumen",
    ):
        self.imported = imported
        slots = {slot.name: slot for slot in imported.inputs}
        constants = {s.name: s.constant.to(device) for s in imported.inputs if s.constant is not None}
        self._slots = slots
        self._bound = BoundTensors({**constants, **weights}, slots, self._written_names())
        self.artifact = with_logical_layouts(artifact, imported, self._bound.ordered)
        self.program = Program(self.artifact, str(device), recompile=partial(recompile, compiler=configuration().cc))
        self.program.limit_threads(torch.get_num_threads())
        self._given = [slot for slot in imported.inputs if slot.name not in self._bound.values]
        self._offset = offset
        self._name = name
        self._device = device
        self._binding = SymbolBinding(imported, offset)
        self._call = self._caller()

    def rebind(self, weights: Mapping[str, torch.Tensor]) -> None:
        """Use these weights from now on. Runners made before keep the old ones."""
        self._bound = BoundTensors({**self._bound.values, **weights}, self._slots, self._written_names())
        self._call = self._caller()

    def _written_names(self) -> set[str]:
        return {self.imported.inputs[index].name for index in self.imported.mutated}

    def _caller(self) -> Call:
        call = self._bound.caller(lambda tensors: self.program.caller(TorchAdapter(), tensors))
        viewed = {slot.alias for slot in self.imported.outputs if slot.geometry is not None}
        names = {self.imported.inputs[index].name for index in viewed if index is not None}
        written = [at for at, slot in enumerate(self._given) if slot.name in self._written_names()]
        return with_copies(call, self._given, written, [at for at, s in enumerate(self._given) if s.name in names])

    def runner(self) -> Run:
        """The function, with as little Python around the program's call as the graph needs."""
        run, name = self._plain_runner(), self._name

        def profiled(values: list[Any]) -> Sequence[Any]:
            if not _PROFILER._is_profiler_enabled:
                return run(values)
            with profiler.record_function(name):
                return run(values)

        return profiled

    def _plain_runner(self) -> Run:
        take, give, call = self._take(), self._give(), self._call
        copied = self._copied_positions()
        if copied and take is not None:
            call, take = _copying_back(call, take, copied), None
        if give is None:
            return call if take is None else lambda values: call(take(values))
        if take is None:
            return lambda values: give(values, call(values))
        return lambda values: give(values, call(take(values)))

    def _copied_positions(self) -> list[tuple[int, int]]:
        """(number among the inputs of a call, place among the values) of what is written into a copy."""
        written, offset = self._written_names(), self._offset
        slots = [
            (at, slot) for at, slot in enumerate(self._given) if slot.name in written and not self._is_direct(slot)
        ]
        return [(at, slot.placeholder - offset) for at, slot in slots]

    def _take(self) -> Take | None:
        """Placeholder values -> program inputs; None where they are the same list."""
        slots, offset = self._given, self._offset
        if any(slot.draw is not None for slot in slots):
            return self._take_and_draw(slots)
        if all(slot.dense and slot.divisor == 1 and not self._lies_elsewhere(slot) for slot in slots):
            positions = [slot.placeholder - offset for slot in slots]
            if positions == list(range(self.imported.placeholders - offset)):
                return None
            if len(positions) > 1:
                pick = itemgetter(*positions)
                return lambda values: list(pick(values))
        return lambda values: [self._value(slot, values[slot.placeholder - offset]) for slot in slots]

    def _take_and_draw(self, slots: Sequence[InputSlot]) -> Take:
        """The same where some inputs are drawn: in the order of the slots, which is that of the graph."""
        offset, binding = self._offset, self._binding
        dynamic = any(slot.draw is not None and slot.draw.needs_symbols for slot in slots)

        def take(values: list[Any]) -> list[Any]:
            symbols: Mapping[str, int] = binding.symbols(values) if dynamic else {}
            taken: list[Any] = []
            for slot in slots:
                if slot.draw is None:
                    taken.append(self._value(slot, values[slot.placeholder - offset]))
                else:
                    state = None if slot.draw.state is None else values[slot.draw.state - offset]
                    taken.append(slot.draw.make(symbols, state).to(self._device))
            return taken

        return take

    def _lies_elsewhere(self, slot: InputSlot | OutputSlot) -> bool:
        return slot.device is not None and slot.device.type != self._device.type

    def _is_direct(self, slot: InputSlot) -> bool:
        return slot.dense and not self._lies_elsewhere(slot)

    def _value(self, slot: InputSlot, value: Any) -> Any:
        if slot.role == "scalar":
            quotient, rest = divmod(int(value), slot.divisor)
            if rest:
                hint = "pass such a number, or compile the model for numbers like this one"
                raise ShapeError(f"input {slot.name!r} is {value}, expected a multiple of {slot.divisor}", hint=hint)
            return quotient
        value = value.to(self._device) if self._lies_elsewhere(slot) else value
        return value if slot.dense else value.contiguous()

    def _output(self, slot: OutputSlot) -> Give:
        """How one output is made, on the device where torch says it lies."""
        give = output_function(slot, self._source(slot.alias))
        if slot.alias is not None or not self._lies_elsewhere(slot):
            return give
        return lambda values, results, symbols: give(values, results, symbols).to(slot.device)

    def _give(self) -> Callable[[list[Any], tuple[Any, ...]], Sequence[Any]] | None:
        """Program outputs -> returned values; None where they are the same tuple."""
        slots, binding = self.imported.outputs, self._binding
        if all(self._is_result(slot, number) for number, slot in enumerate(slots)):
            return None
        functions = [self._output(slot) for slot in slots]
        if any(needs_symbols(slot) for slot in slots):

            def give(values: list[Any], results: tuple[Any, ...]) -> Sequence[Any]:
                symbols = binding.symbols(values)
                return [function(values, results, symbols) for function in functions]

            return give
        return lambda values, results: [function(values, results, {}) for function in functions]

    def _is_result(self, slot: OutputSlot, number: int) -> bool:
        whole = slot.alias is None and slot.geometry is None
        return whole and slot.result == number and not self._lies_elsewhere(slot)

    def _source(self, argument: int | None) -> Source | None:
        """Where the tensor of an argument is found in a call: bound, or among the values."""
        if argument is None:
            return None
        slot = self.imported.inputs[argument]
        if slot.name in self._bound.values:
            tensor = self._bound.values[slot.name]
            return lambda values: tensor
        position = slot.placeholder - self._offset
        return lambda values: values[position]


def _copying_back(call: Call, take: Take, copied: Sequence[tuple[int, int]]) -> Call:
    """The call on values, of which some are copied because of where or how they lie, and written."""

    def copying(values: list[Any]) -> tuple[Any, ...]:
        args = take(values)
        results = call(args)
        with torch.no_grad():
            for at, place in copied:
                if values[place] is not args[at]:
                    values[place].copy_(args[at])
        return results

    return copying
