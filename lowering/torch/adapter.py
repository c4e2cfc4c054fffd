"""torch tensors for the runtime's fast path: raw addresses, fresh outputs, the current stream. CPU and CUDA."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import partial
from operator import itemgetter
from typing import Any

import torch

from ...runtime.adapter import contiguous_strides, no_stream
from ...runtime.errors import LaunchError
from .element_types import DTYPE_OF_TORCH, TORCH_OF_NAME

Tensor = torch.Tensor

_NAMES = {dtype: element.name for dtype, element in DTYPE_OF_TORCH.items()}


def _private(path: str) -> Any:
    """A function of torch that is faster than its public form, or None in a build without it."""
    value: Any = torch
    for part in path.split("."):
        value = getattr(value, part, None)
    return value


_EMPTY: dict[str, Any] = {
    "cpu": _private("_C._dynamo.guards._empty_strided_cpu"),
    "cuda": _private("_C._dynamo.guards._empty_strided_cuda"),
}
_POINTERS_EQUAL: Any = _private("_C._tensors_data_ptrs_at_indices_equal")
_RAW_STREAM: Any = _private("_C._cuda_getCurrentRawStream")


class TorchAdapter:
    """See runtime.adapter.TensorAdapter."""

    def __init__(self) -> None:
        # The unbound method itself: no frame of Python between the caller and torch.
        self.pointer: Callable[[Tensor], int] = torch.Tensor.data_ptr

    def pointers(self, tensors: Sequence[Tensor]) -> list[int]:
        """See TensorAdapter."""
        return list(map(torch.Tensor.data_ptr, tensors))

    def signature(self, tensor: Tensor) -> Hashable:
        """See TensorAdapter."""
        return (tensor.shape, tensor.stride(), tensor.dtype, tensor.device)

    def shape(self, tensor: Tensor) -> tuple[int, ...]:
        """See TensorAdapter."""
        return tuple(tensor.shape)

    def strides(self, tensor: Tensor) -> tuple[int, ...]:
        """See TensorAdapter."""
        return tuple(tensor.stride())

    def dtype(self, tensor: Tensor) -> str | None:
        """See TensorAdapter."""
        return _NAMES.get(tensor.dtype)

    def device(self, tensor: Tensor) -> str:
        """See TensorAdapter."""
        return str(tensor.device)

    def remember(self, tensors: Sequence[Tensor], indices: Sequence[int]) -> Callable[[Sequence[Tensor]], bool]:
        """See TensorAdapter. `detach` makes an alias that holds the storage, which `p.data = q` cannot take away."""
        aliases = [tensors[index].detach() for index in indices]
        addresses = list(map(torch.Tensor.data_ptr, aliases))
        positions = list(indices)
        # The aliases are default arguments: they live as long as the predicate, and reading them costs nothing.
        if _POINTERS_EQUAL is not None:
            equal = _POINTERS_EQUAL
            # torch reads the addresses at the same positions as the tensors.
            expected = [0] * (max(positions) + 1)
            for position, address in zip(positions, addresses, strict=True):
                expected[position] = address
            return lambda others, _held=aliases: equal(others, expected, positions)
        if len(positions) == 1:
            first, address = positions[0], addresses[0]
            return lambda others, _held=aliases: others[first].data_ptr() == address
        pointer = torch.Tensor.data_ptr
        if positions == list(range(len(tensors))):
            return lambda others, _held=aliases: list(map(pointer, others)) == addresses
        pick = itemgetter(*positions)
        return lambda others, _held=aliases: list(map(pointer, pick(others))) == addresses

    def allocator(
        self, shape: tuple[int, ...], strides: tuple[int, ...], dtype: str, device: str
    ) -> Callable[[], Tensor]:
        """See TensorAdapter."""
        place = torch.device(device)
        fast, element = _EMPTY.get(place.type), TORCH_OF_NAME[dtype]
        if fast is not None and place.index in (None, _current_index(place)):
            return partial(fast, shape, strides, element)
        if strides == contiguous_strides(shape):
            return partial(torch.empty, shape, dtype=element, device=place)
        return partial(torch.empty_strided, shape, strides, dtype=element, device=place)

    def viewer(self, shape: tuple[int, ...], strides: tuple[int, ...], offset: int) -> Callable[[Tensor], Tensor]:
        """See TensorAdapter."""
        return lambda tensor: tensor.as_strided(shape, strides, tensor.storage_offset() + offset)

    def stream_source(self, device: str) -> Callable[[], int]:
        """See TensorAdapter."""
        place = torch.device(device)
        if place.type == "cpu":
            return no_stream
        if place.type != "cuda":
            raise LaunchError(f"torch tensors on {device} cannot be passed to a program", hint="use cpu or cuda")
        index = place.index if ":" in device else torch.cuda.current_device()
        if _RAW_STREAM is not None:
            return partial(_RAW_STREAM, index)
        return lambda: torch.cuda.current_stream(place).cuda_stream


def _current_index(place: torch.device) -> int | None:
    return torch.cuda.current_device() if place.type == "cuda" else None
