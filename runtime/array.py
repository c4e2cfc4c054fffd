"""An array that belongs to no library: an address with shape, strides and dtype on a device, and what keeps it
alive.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .adapter import Array, NumpyAdapter, contiguous_strides, span
from .devices.device import Device
from .dtype import item_bytes
from .numpy_dtype import numpy_dtype


@dataclass(frozen=True, slots=True)
class DeviceArray:
    """`owner` keeps the memory; strides count elements."""

    pointer: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: str
    device: str
    owner: object


def wrap_numpy(array: Array, dtype: str) -> DeviceArray:
    """A numpy array as it lies; `dtype` names its elements (raw integers may stand for narrow floats)."""
    return DeviceArray(array.ctypes.data, array.shape, NumpyAdapter().strides(array), dtype, "cpu", array)


class _Interface:
    """What numpy reads an array from; numpy keeps it, and it keeps the owner of the memory."""

    def __init__(self, array: DeviceArray) -> None:
        size = item_bytes(array.dtype)
        self.owner = array.owner
        self.__array_interface__ = {
            "version": 3,
            "shape": array.shape,
            "strides": tuple(stride * size for stride in array.strides),
            "typestr": f"|u{size}" if size == 1 else f"<u{size}",
            "data": (array.pointer, False),
        }


def as_numpy(array: DeviceArray) -> Array:
    """An array in host memory as a numpy array over the same memory."""
    return np.asarray(_Interface(array)).view(numpy_dtype(array.dtype))


def upload(array: Array, dtype: str, device: Device, stream: int = 0) -> DeviceArray:
    """A row-major copy of a numpy array on a device."""
    dense = np.ascontiguousarray(array)
    owner, address = device.allocate(max(1, dense.nbytes), stream)
    if dense.nbytes:
        device.upload(dense.reshape(-1).view(np.uint8).data, address, stream)
    return DeviceArray(address, array.shape, contiguous_strides(array.shape), dtype, device.name, owner)


def download(array: DeviceArray, device: Device, stream: int = 0) -> Array:
    """The array as numpy memory of its own; waits for the stream."""
    element = numpy_dtype(array.dtype)
    size = span(array.shape, array.strides)
    raw = device.download(array.pointer, size * element.itemsize, stream) if size else bytearray()
    flat = np.frombuffer(raw, np.uint8).view(element)
    steps = tuple(stride * element.itemsize for stride in array.strides)
    return np.lib.stride_tricks.as_strided(flat, array.shape, steps)


class ArrayFacts:
    """What a TensorAdapter reads from DeviceArrays, on any device."""

    def pointer(self, tensor: DeviceArray) -> int:
        """See TensorAdapter."""
        return tensor.pointer

    def pointers(self, tensors: Sequence[DeviceArray]) -> list[int]:
        """See TensorAdapter."""
        return [tensor.pointer for tensor in tensors]

    def signature(self, tensor: DeviceArray) -> tuple[Any, ...]:
        """See TensorAdapter."""
        return tensor.shape, tensor.strides, tensor.dtype, tensor.device

    def shape(self, tensor: DeviceArray) -> tuple[int, ...]:
        """See TensorAdapter."""
        return tensor.shape

    def strides(self, tensor: DeviceArray) -> tuple[int, ...]:
        """See TensorAdapter."""
        return tensor.strides

    def dtype(self, tensor: DeviceArray) -> str | None:
        """See TensorAdapter."""
        return tensor.dtype

    def device(self, tensor: DeviceArray) -> str:
        """See TensorAdapter."""
        return tensor.device


class ArrayAdapter(ArrayFacts):
    """DeviceArrays on one device; `stream` is the raw handle that their work goes to."""

    def __init__(self, device: Device, stream: int = 0) -> None:
        self._device = device
        self._stream = stream

    def remember(
        self, tensors: Sequence[DeviceArray], indices: Sequence[int]
    ) -> Callable[[Sequence[DeviceArray]], bool]:
        """See TensorAdapter."""
        kept = [(index, tensors[index]) for index in indices]
        return lambda others: all(others[index].pointer == tensor.pointer for index, tensor in kept)

    def allocator(
        self, shape: tuple[int, ...], strides: tuple[int, ...], dtype: str, device: str
    ) -> Callable[[], DeviceArray]:
        """See TensorAdapter."""
        size = max(1, span(shape, strides) * item_bytes(dtype))

        def make() -> DeviceArray:
            owner, address = self._device.allocate(size, self._stream)
            return DeviceArray(address, shape, strides, dtype, device, owner)

        return make

    def viewer(
        self, shape: tuple[int, ...], strides: tuple[int, ...], offset: int
    ) -> Callable[[DeviceArray], DeviceArray]:
        """See TensorAdapter."""

        def view(tensor: DeviceArray) -> DeviceArray:
            start = tensor.pointer + offset * item_bytes(tensor.dtype)
            return replace(tensor, pointer=start, shape=shape, strides=strides, owner=tensor)

        return view

    def stream_source(self, device: str) -> Callable[[], int]:
        """See TensorAdapter."""
        return lambda: self._stream
