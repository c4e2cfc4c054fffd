"""The CUDA driver as the runtime needs it: the few calls of graphs, launches and memory, with errors decoded.

`Driver` is the contract (tests give a recording one), `driver_api.py` implements it on cuda.bindings. Streams are
raw handles (integers); functions, graphs, nodes and executables are the implementation's own objects.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

_FORMATS = {"ptr": "Q", "i32": "i4x", "i64": "q", "f32": "f4x", "f64": "d"}


class ParameterBlock:
    """The parameters of one kernel in one persistent buffer; the driver copies from it at every call that takes it."""

    def __init__(self, kinds: Sequence[str]) -> None:
        count = max(1, len(kinds))
        self._format = struct.Struct("<" + "".join(_FORMATS[kind] for kind in kinds))
        self._values = (ctypes.c_uint64 * count)()
        start = ctypes.addressof(self._values)
        self._slots = (ctypes.c_void_p * count)(*(start + 8 * slot for slot in range(count)))
        self.address = ctypes.addressof(self._slots)
        """Address of the array of addresses that the driver calls kernelParams."""

    def pack(self, values: Sequence[int | float]) -> int:
        """Write the values and return `address`."""
        self._format.pack_into(self._values, 0, *values)
        return self.address


@dataclass(frozen=True, slots=True)
class KernelCall:
    """One launch with everything known; equal calls need no update. `block_of_parameters` packs `values`."""

    function: Any
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared_bytes: int
    values: tuple[int | float, ...]
    pdl: bool = False
    parameters: ParameterBlock = field(compare=False, repr=False, default_factory=lambda: ParameterBlock(()))

    @property
    def empty(self) -> bool:
        """Whether it launches no block at all."""
        return 0 in self.grid


@dataclass(frozen=True, slots=True)
class CopyCall:
    """One copy between two places of device memory."""

    destination: int
    source: int
    size: int

    @property
    def empty(self) -> bool:
        """Whether it copies nothing."""
        return self.size == 0


@dataclass(frozen=True, slots=True)
class LibraryInvocation:
    """One call of a library with everything known; `enqueue(stream)` issues it."""

    callee: str
    config: tuple[tuple[str, int | float | str], ...]
    pointers: tuple[int, ...]
    enqueue: Callable[[int], None] = field(compare=False, repr=False)
    empty: bool = False


Call = KernelCall | CopyCall | LibraryInvocation


class Driver(Protocol):
    """What the runtime calls. Every method raises DeviceError with the driver's own words when the driver refuses."""

    def enter(self) -> bool:
        """Make the device's primary context current for this thread; whether `leave` has to undo it."""
        ...

    def leave(self) -> None:
        """Undo one `enter` that returned True."""
        ...

    def is_capturing(self, stream: int) -> bool:
        """Whether the stream is being captured."""
        ...

    def launch_kernel(self, call: KernelCall, stream: int, after_kernel: bool) -> None:
        """Launch; with `after_kernel` (and `call.pdl`) the kernel may start before its predecessor has ended."""
        ...

    def copy(self, call: CopyCall, stream: int) -> None:
        """Enqueue a copy."""
        ...

    def capture(self, stream: int, enqueue: Callable[[int], None]) -> Any:
        """The graph of what `enqueue(stream)` does, captured in thread-local mode."""
        ...

    def create_graph(self) -> Any:
        """An empty graph."""
        ...

    def destroy_graph(self, graph: Any) -> None:
        """Free a graph."""
        ...

    def add_kernel(self, graph: Any, after: Sequence[Any], call: KernelCall, programmatic: bool) -> Any:
        """A kernel node; `programmatic`: its one predecessor is a kernel that it waits for itself."""
        ...

    def add_copy(self, graph: Any, after: Sequence[Any], call: CopyCall) -> Any:
        """A copy node."""
        ...

    def add_child(self, graph: Any, after: Sequence[Any], child: Any) -> Any:
        """A node that runs a captured graph."""
        ...

    def add_empty(self, graph: Any, after: Sequence[Any]) -> Any:
        """A node that does nothing but keep the order."""
        ...

    def instantiate(self, graph: Any) -> Any:
        """An executable of the graph."""
        ...

    def destroy_executable(self, executable: Any) -> None:
        """Free an executable, after its running launches."""
        ...

    def set_kernel(self, executable: Any, node: Any, call: KernelCall) -> None:
        """Repoint a kernel node for later launches."""
        ...

    def set_copy(self, executable: Any, node: Any, call: CopyCall) -> None:
        """Repoint a copy node for later launches."""
        ...

    def set_child(self, executable: Any, node: Any, child: Any) -> bool:
        """Replace a captured graph; False when its topology differs and the executable must be made again."""
        ...

    def launch_graph(self, executable: Any, stream: int) -> None:
        """Enqueue one run of an executable."""
        ...

    def allow_shared(self, function: Any, size: int) -> None:
        """Let launches of the function use `size` bytes of dynamic shared memory."""
        ...

    def create_stream(self) -> int:
        """A private stream that synchronises with no other."""
        ...
