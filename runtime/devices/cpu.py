"""The processor: loads the one shared object of a program of target c and calls its entry."""

from __future__ import annotations

import ctypes
import os
import tempfile
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..abi import ABI_VERSION, ARENA_ALIGNMENT, STATUS, STATUS_INDEX, STATUS_VALUE, Host
from ..abi import Entry as EntryFunction
from ..artifact import Artifact, Entry
from ..artifact.cpu import missing_features
from ..config import Configuration, configuration
from ..errors import ArtifactError, DeviceError, IndexRangeError, LaunchError, ValueRangeError
from ..expression import compile_expressions
from .device import Memory, Recompile, Run
from .openblas import find_gemm

Context = tuple[Any, int, int, object]
"""(array of buffer addresses, arena address, arena bytes, arena owner): what one running call has for itself."""


class CpuDevice:
    """The machine's processor as a device; streams do not exist, every call has ended when it returns."""

    name = "cpu"
    targets = ("c",)
    dlpack = (1, 0)

    def __init__(self, settings: Configuration | None = None) -> None:
        self._settings = settings or configuration()

    def load(self, artifact: Artifact, recompile: Recompile | None = None) -> CpuExecutable:
        """Load the program's shared object, rebuilding it where this processor lacks what it was compiled for."""
        entry = artifact.program.entry
        if entry is None:
            raise ArtifactError(f"a program of target {artifact.program.target} does not run on the cpu")
        function = _open(_binary(entry, artifact, recompile), entry.symbol)
        host = Host(version=ABI_VERSION, threads=self._settings.threads, gemm=find_gemm(self._settings.blas))
        return CpuExecutable(artifact, function, host)

    def allocate(self, size: int, stream: int = 0) -> tuple[object, int]:
        """Memory of numpy, aligned for the arena."""
        block = np.empty(size + ARENA_ALIGNMENT, np.uint8)
        return block, block.ctypes.data + -block.ctypes.data % ARENA_ALIGNMENT

    def upload(self, data: memoryview, address: int, stream: int = 0) -> None:
        """Copy bytes to an address."""
        source = np.frombuffer(data, np.uint8)
        ctypes.memmove(address, source.ctypes.data, source.nbytes)

    def download(self, address: int, size: int, stream: int = 0) -> bytearray:
        """Copy bytes from an address."""
        return bytearray(ctypes.string_at(address, size))

    def retain(self, stream: int, objects: Sequence[object]) -> None:
        """Nothing outlives a call here."""

    def hand_over(self, owner: object, before: int, after: int) -> None:
        """Everything is ordered already."""

    def time(self, call: Callable[[int], Any], repeats: int) -> list[float]:
        """Wall-clock seconds of each call."""
        seconds: list[float] = []
        for _ in range(repeats):
            start = time.perf_counter()
            call(0)
            seconds.append(time.perf_counter() - start)
        return seconds


def _binary(entry: Entry, artifact: Artifact, recompile: Recompile | None) -> bytes:
    missing = missing_features(entry.cpu_features)
    if not missing:
        return artifact.blobs[entry.binary]
    if recompile is None:
        raise DeviceError(
            f"the program was compiled for a processor with {', '.join(missing)}, which this machine lacks",
            hint="compile the model on this machine, or load it where a C compiler can rebuild it (recompile=)",
        )
    return recompile(entry, artifact.blobs[entry.source])


def _open(binary: bytes, symbol: str) -> Any:
    # The name must be new: the loader takes a path that it has seen for the library that it loaded from there. The
    # library stays loaded, since its thread pool may outlive every program that was loaded from it.
    descriptor, path = tempfile.mkstemp(prefix="albumen-", suffix=".so")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(binary)
        return ctypes.cast(getattr(ctypes.CDLL(path), symbol), EntryFunction)
    except (OSError, AttributeError) as error:
        raise ArtifactError(
            f"the program's shared object cannot be loaded: {error}",
            hint=f"compile the model again here; code must be allowed to run from {tempfile.gettempdir()}",
        ) from error
    finally:
        os.unlink(path)


class CpuExecutable:
    """A loaded program. Calls from several threads at once each have an arena of their own."""

    def __init__(self, artifact: Artifact, function: Any, host: Host) -> None:
        program = artifact.program
        self.function = function
        self.host = host
        names = [symbol.name for symbol in program.symbols]
        self.arena_bytes = compile_expressions([program.arena_bytes], names)

    def limit_threads(self, count: int) -> None:
        """See device.py."""
        self.host.threads = max(1, min(self.host.threads, count))

    def bind(self, pointers: Sequence[int], changing: Sequence[int], memory: Memory) -> CpuBinding:
        """See device.py."""
        return CpuBinding(self, tuple(pointers), tuple(changing), memory)


class CpuBinding:
    """A program whose unchanging buffers are known; keeps the contexts that no call uses now."""

    def __init__(
        self, owner: CpuExecutable, pointers: tuple[int, ...], changing: tuple[int, ...], memory: Memory
    ) -> None:
        self._owner = owner
        self._pointers = pointers
        self._changing = changing
        self._memory = memory
        self._free: list[Context] = []

    def specialise(self, symbols: tuple[int, ...]) -> Run:
        """A function of (stream, *pointers) made of straight-line code: no table is walked during a call."""
        need = self._owner.arena_bytes(*symbols)[0]
        names = [f"p{position}" for position in self._changing]
        stores = "".join(f"    array[{position}] = p{position}\n" for position in self._changing)
        source = (
            f"def run({', '.join(['stream', *names])}):\n"
            "    try:\n"
            "        context = free.pop()\n"
            "    except IndexError:\n"
            "        context = fresh(need)\n"
            "    if context[2] < need:\n"
            "        context = fresh(need)\n"
            "    array = context[0]\n"
            f"{stores}"
            "    code = entry(array, symbols, context[1], host)\n"
            "    free.append(context)\n"
            "    if code:\n"
            "        fail(code)\n"
        )
        scope: dict[str, Any] = {
            "free": self._free,
            "fresh": self._fresh,
            "need": need,
            "entry": self._owner.function,
            "symbols": (ctypes.c_int64 * max(1, len(symbols)))(*symbols),
            "host": ctypes.addressof(self._owner.host),
            "fail": _fail,
            "owner": self._owner,
        }
        exec(compile(source, "<albumen cpu call>", "exec"), scope)
        return scope.pop("run")

    def _fresh(self, need: int) -> Context:
        array = (ctypes.c_void_p * max(1, len(self._pointers)))(*self._pointers)
        owner, address = self._memory(need + ARENA_ALIGNMENT)
        return array, address + -address % ARENA_ALIGNMENT, need, owner


def _fail(code: int) -> None:
    meaning = STATUS[code][1] if code in STATUS else f"unknown status {code}"
    if code in (STATUS_INDEX, STATUS_VALUE):
        error = IndexRangeError if code == STATUS_INDEX else ValueRangeError
        hint = "check the tensors that hold indices, or of which the model asserts something"
        raise error(f"the program failed: {meaning}", hint=hint)
    raise LaunchError(f"the program failed: {meaning}", hint="check the memory and the limits of the machine")
