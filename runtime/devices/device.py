"""What the runtime asks of a device. A device of a third party implements `Device` and registers a factory
(registry.py).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, runtime_checkable

from ..artifact import Artifact, Entry

Memory = Callable[[int], tuple[object, int]]
"""bytes -> (owner, address): memory of the caller's allocator on the calling stream; lives as long as its owner."""

Run = Callable[..., None]
"""run(stream, *pointers): enqueue one call on a raw stream; `pointers` are those of the positions named to `bind`."""

Recompile = Callable[[Entry, bytes], bytes]
"""(entry, source) -> shared object for this machine; raises when there is no compiler."""


class Binding(Protocol):
    """A program with the addresses of its unchanging buffers."""

    def specialise(self, symbols: tuple[int, ...]) -> Run:
        """The call for these symbol values."""
        ...


class Executable(Protocol):
    """A program loaded on a device. Thread-safe."""

    def bind(self, pointers: Sequence[int], changing: Sequence[int], memory: Memory) -> Binding:
        """`pointers`: addresses of all inputs, then all outputs (0 where there is none); `changing`: the positions
        among them that every call gives anew. `memory` supplies the arena."""
        ...


@runtime_checkable
class Threaded(Protocol):
    """An executable whose calls use threads of the host."""

    def limit_threads(self, count: int) -> None:
        """Use at most `count` threads in a call from now on."""
        ...


@runtime_checkable
class Device(Protocol):
    """One device of this machine."""

    @property
    def name(self) -> str:
        """Like "cpu" or "cuda:0"."""
        ...

    @property
    def targets(self) -> tuple[str, ...]:
        """The targets of artifacts that it runs."""
        ...

    @property
    def dlpack(self) -> tuple[int, int]:
        """Device type and number in DLPack's numbering."""
        ...

    def load(self, artifact: Artifact, recompile: Recompile | None = None) -> Executable:
        """Load code; raises DeviceError or ArtifactError when this machine cannot run it."""
        ...

    def allocate(self, size: int, stream: int = 0) -> tuple[object, int]:
        """Fresh memory, 64-byte aligned at least; lives as long as the owner returned beside its address."""
        ...

    def upload(self, data: memoryview, address: int, stream: int = 0) -> None:
        """Copy host bytes to device memory; they may be dropped when this returns."""
        ...

    def download(self, address: int, size: int, stream: int = 0) -> bytearray:
        """Copy device memory to the host; waits for the stream."""
        ...

    def retain(self, stream: int, objects: Sequence[object]) -> None:
        """Keep the objects alive until the work that is now in the stream is done."""
        ...

    def hand_over(self, owner: object, before: int, after: int) -> None:
        """Work that enters stream `after` from now on waits for what is now in stream `before`; memory that
        `allocate` gave with this owner goes back only after what `after` will do with it."""
        ...

    def time(self, call: Callable[[int], Any], repeats: int) -> list[float]:
        """Seconds of device time of each of `repeats` calls of `call(stream)`, one after another."""
        ...
