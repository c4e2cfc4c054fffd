"""Inputs of a call that lie otherwise than the program takes them, and inputs that lie in the same memory."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

import torch

from ...runtime.errors import LaunchError, LayoutError
from .function import InputSlot
from .weight_memory import Call, copied_in_order, lies_in_order

ALIGNMENT = 16
"""What every program can rely on of an address, in bytes."""


def with_copies(call: Call, slots: Sequence[InputSlot], written: Collection[int], viewed: Collection[int]) -> Call:
    """The call, which copies inputs that the program refuses as they lie, and copies back what it wrote (`written`).

    Outputs that are views are made of the inputs themselves, with the strides of the compiled ones: where an input with
    such a view (`viewed`) lies in another order, the call is refused. One that starts elsewhere is not.
    """

    def copying(args: list[Any]) -> tuple[Any, ...]:
        try:
            return call(args)
        except LayoutError:
            taken = [_laid_out(slot, value) for slot, value in zip(slots, args, strict=True)]
            changed = [at for at, value in enumerate(taken) if value is not args[at]]
            if not changed or any(at in viewed and not lies_in_order(args[at], slots[at]) for at in changed):
                raise
        results = call(taken)
        with torch.no_grad():
            for at in changed:
                if at in written:
                    args[at].copy_(taken[at])
        return results

    return copying


def _laid_out(slot: InputSlot, value: Any) -> Any:
    """The input itself if the program takes it as it lies, else a copy."""
    if not isinstance(value, torch.Tensor) or value.dim() != len(slot.order):
        return value
    return value if lies_in_order(value, slot) and value.data_ptr() % ALIGNMENT == 0 else copied_in_order(value, slot)


def refusing_overlap(slots: Sequence[tuple[int, InputSlot]], written: Collection[str]) -> Callable[[list[Any]], None]:
    """A check of a call's values: no tensor that the program writes shares memory with another input.

    Raises:
        LaunchError: it does. The program would read what eager has overwritten, or the other way round.
    """

    def check(values: list[Any]) -> None:
        spans = sorted(
            (*_span(values[position]), slot.name)
            for position, slot in slots
            if isinstance(values[position], torch.Tensor) and values[position].numel()
        )
        reach, holder, holds_written = 0, "", False
        for start, end, name in spans:
            if start < reach and (holds_written or name in written):
                message = f"inputs {holder!r} and {name!r} share memory, and the model writes into one of them"
                raise LaunchError(message, hint="pass a copy of one, or use torch.compile(backend='albumen')")
            if end > reach:
                reach, holder = end, name
            holds_written = name in written if start >= reach else holds_written or name in written

    return check


def _span(tensor: torch.Tensor) -> tuple[int, int]:
    """Addresses of the first byte and of the one after the last."""
    reach = 1 + sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride(), strict=True))
    return tensor.data_ptr(), tensor.data_ptr() + reach * tensor.element_size()
