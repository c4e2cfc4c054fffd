"""How a program handles the tensors of a library: reads their addresses and facts, makes new ones, finds the current
stream.

Adapters are asked for *functions* (`remember`, `allocator`, `viewer`, `stream_source`) once, and these run at every
call.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import partial
from operator import attrgetter, is_, itemgetter
from typing import Any, Protocol, TypeVar

import numpy as np

from .numpy_dtype import dtype_name, numpy_dtype

T = TypeVar("T")
ReadT = TypeVar("ReadT", contravariant=True)
Array = np.ndarray[Any, np.dtype[Any]]


class TensorFacts(Protocol[ReadT]):
    """What is read from the tensors of one library."""

    def pointer(self, tensor: ReadT, /) -> int:
        """Address of the first element."""
        ...

    def pointers(self, tensors: Sequence[ReadT], /) -> list[int]:
        """Addresses of many tensors."""
        ...

    def signature(self, tensor: ReadT, /) -> Hashable:
        """A value that is equal for tensors of equal shape, strides, dtype and device; cheap."""
        ...

    def shape(self, tensor: ReadT, /) -> tuple[int, ...]:
        """Extents."""
        ...

    def strides(self, tensor: ReadT, /) -> tuple[int, ...]:
        """Strides in elements; raises ValueError when they are no whole elements."""
        ...

    def dtype(self, tensor: ReadT, /) -> str | None:
        """The runtime's name of the element type, None for one that programs do not have."""
        ...

    def device(self, tensor: ReadT, /) -> str:
        """Name of the device that holds it, like "cpu" or "cuda:0"."""
        ...


class TensorAdapter(TensorFacts[T], Protocol[T]):
    """One tensor library."""

    def remember(self, tensors: Sequence[T], indices: Sequence[int]) -> Callable[[Sequence[T]], bool]:
        """A predicate: do the tensors at `indices` of another list lie where those of `tensors` lie now?

        The predicate keeps the memory of those tensors alive (not only the tensor objects, whose storage may be
        swapped).
        """
        ...

    def allocator(self, shape: tuple[int, ...], strides: tuple[int, ...], dtype: str, device: str) -> Callable[[], T]:
        """A function that makes one fresh tensor that owns its memory, at least 16-byte aligned."""
        ...

    def viewer(self, shape: tuple[int, ...], strides: tuple[int, ...], offset: int) -> Callable[[T], T]:
        """A function from a tensor to a view of it, `offset` elements from its start."""
        ...

    def stream_source(self, device: str) -> Callable[[], int]:
        """A function that returns the raw handle of the stream that is current for the caller."""
        ...


def contiguous_strides(shape: Sequence[int]) -> tuple[int, ...]:
    """Row-major strides in elements."""
    strides: list[int] = []
    step = 1
    for extent in reversed(shape):
        strides.append(step)
        step *= max(1, extent)
    return tuple(reversed(strides))


def span(shape: Sequence[int], strides: Sequence[int]) -> int:
    """Elements from the first to the last one of a tensor with non-negative strides; 0 for an empty one."""
    if 0 in shape:
        return 0
    return 1 + sum((extent - 1) * stride for extent, stride in zip(shape, strides, strict=True))


def no_stream() -> int:
    """The stream of devices that have none."""
    return 0


class NumpyAdapter:
    """numpy arrays. An array object that is alive does not move, so `remember` compares objects, which is faster."""

    signature = staticmethod(attrgetter("shape", "strides", "dtype"))

    def pointer(self, tensor: Array) -> int:
        """See TensorAdapter."""
        return tensor.ctypes.data

    def pointers(self, tensors: Sequence[Array]) -> list[int]:
        """See TensorAdapter."""
        return [tensor.ctypes.data for tensor in tensors]

    def shape(self, tensor: Array) -> tuple[int, ...]:
        """See TensorAdapter."""
        return tensor.shape

    def strides(self, tensor: Array) -> tuple[int, ...]:
        """See TensorAdapter."""
        size = tensor.dtype.itemsize
        if any(stride % size for stride in tensor.strides):
            raise ValueError(f"strides of {tensor.strides} bytes are no multiples of {size}")
        return tuple(stride // size for stride in tensor.strides)

    def dtype(self, tensor: Array) -> str | None:
        """See TensorAdapter."""
        return dtype_name(tensor.dtype)

    def device(self, tensor: Array) -> str:
        """See TensorAdapter."""
        return "cpu"

    def remember(self, tensors: Sequence[Array], indices: Sequence[int]) -> Callable[[Sequence[Array]], bool]:
        """See TensorAdapter."""
        kept = tuple(tensors[index] for index in indices)
        if not kept:
            return lambda _: True
        if len(kept) == 1:
            first, only = indices[0], kept[0]
            return lambda others: others[first] is only
        pick = itemgetter(*indices)
        return lambda others: all(map(is_, pick(others), kept))

    def allocator(
        self, shape: tuple[int, ...], strides: tuple[int, ...], dtype: str, device: str
    ) -> Callable[[], Array]:
        """See TensorAdapter."""
        element = numpy_dtype(dtype)
        if strides == contiguous_strides(shape) or 0 in shape:
            return partial(np.empty, shape, element)
        steps = tuple(stride * element.itemsize for stride in strides)
        base = partial(np.empty, span(shape, strides), element)
        return lambda: np.lib.stride_tricks.as_strided(base(), shape, steps)

    def viewer(self, shape: tuple[int, ...], strides: tuple[int, ...], offset: int) -> Callable[[Array], Array]:
        """See TensorAdapter."""

        def view(tensor: Array) -> Array:
            size = tensor.dtype.itemsize
            steps = tuple(stride * size for stride in strides)
            holder = np.lib.stride_tricks.as_strided(tensor, (span(shape, strides) + offset,), (size,))
            return np.lib.stride_tricks.as_strided(holder[offset:], shape, steps)

        return view

    def stream_source(self, device: str) -> Callable[[], int]:
        """See TensorAdapter."""
        return no_stream
