"""The tensors that a program is bound to, as it reads them: in the order in which their dims lie in memory."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

import torch

from ...runtime.errors import LayoutError
from .function import InputSlot
from .layout import inverse

Call = Callable[[list[Any]], tuple[Any, ...]]
"""Inputs of the program in, in order; its outputs out, in order."""
Bind = Callable[[Mapping[str, torch.Tensor]], Call]
"""The program's call on bound tensors in memory order."""


def lies_in_order(value: torch.Tensor, slot: InputSlot) -> bool:
    """Whether the tensor is dense with its dims in the order that the program takes them in."""
    return slot.dense and value.permute(slot.order).is_contiguous()


def in_memory_order(value: torch.Tensor, slot: InputSlot) -> torch.Tensor:
    """The tensor with its dims in the order of the slot: itself or a view where they lie so, else a copy."""
    if not lies_in_order(value, slot):
        return value.detach().permute(slot.order).contiguous()
    return value if list(slot.order) == list(range(len(slot.order))) else value.detach().permute(slot.order)


def copied_in_order(value: torch.Tensor, slot: InputSlot) -> torch.Tensor:
    """An aligned copy of an input of a call, whose dims keep their numbers and lie in the order of the slot."""
    turned = value.permute(slot.order)
    return torch.empty(turned.shape, dtype=value.dtype, device=value.device).copy_(turned).permute(inverse(slot.order))


class BoundTensors:
    """Tensors by argument name, in logical order, and what the program reads in their place.

    A program notices memory that moved under a tensor it was given. A tensor that it reads through another order of
    its dims is watched here, and bound again when it moved; one that is not dense is copied before each call, and
    after it where the program writes it.
    """

    def __init__(
        self, values: Mapping[str, torch.Tensor], slots: Mapping[str, InputSlot], written: Collection[str] = ()
    ):
        self.values = dict(values)
        self.slots = slots
        self.ordered = {name: in_memory_order(value, slots[name]) for name, value in values.items()}
        self._copied = [name for name, value in values.items() if not lies_in_order(value, slots[name])]
        self._written = [name for name in self._copied if name in written]

    def caller(self, bind: Bind) -> Call:
        """The program's call, which follows the tensors."""
        watched = [t for name, t in self.values.items() if name not in self._copied and self.ordered[name] is not t]
        call = bind(self.ordered)
        if watched:
            call = self._following(call, watched, bind)
        return self._copying(call) if self._copied else call

    def _following(self, call: Call, watched: list[torch.Tensor], bind: Bind) -> Call:
        pointer = torch.Tensor.data_ptr
        state = [(call, list(map(pointer, watched)))]

        def following(args: list[Any]) -> tuple[Any, ...]:
            call, addresses = state[0]
            found = list(map(pointer, watched))
            if found != addresses:
                call = bind({name: self._in_place(name, value) for name, value in self.values.items()})
                state[0] = (call, found)
            return call(args)

        return following

    def _in_place(self, name: str, value: torch.Tensor) -> torch.Tensor:
        if name in self._copied:
            return self.ordered[name]
        if not lies_in_order(value, self.slots[name]):
            raise LayoutError(f"{name!r} lies with strides {list(value.stride())}, which it did not before")
        return in_memory_order(value, self.slots[name])

    def _copying(self, call: Call) -> Call:
        def copying(args: list[Any]) -> tuple[Any, ...]:
            with torch.no_grad():
                for name in self._copied:
                    self.ordered[name].copy_(self.values[name].permute(self.slots[name].order))
                results = call(args)
                for name in self._written:
                    self.values[name].copy_(self.ordered[name].permute(inverse(self.slots[name].order)))
            return results

        return copying
