"""A CUDA device: chooses and loads the binaries of a program and runs it as a graph. Touches no device at import."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from ..artifact import Artifact, HostProgram, Kernel, LibraryCall
from ..errors import ArtifactError, DeviceError
from .cublaslt import CublasltMatmul
from .device import Recompile
from .driver_api import CudaDriver, load_bindings
from .graph import GraphExecutable
from .memory_api import CudaMemory, StreamMemory
from .resolve import Library, Resolver


class CudaDevice:
    """One GPU."""

    targets = ("cuda",)

    def __init__(self, driver: CudaDriver, number: int) -> None:
        self.name = f"cuda:{number}"
        self.dlpack = (2, number)
        self._driver = driver
        self._memory = CudaMemory(driver)
        self._timing_stream = 0
        self.capability = driver.capability()

    @classmethod
    def open(cls, number: int) -> CudaDevice:
        """The GPU of that number; raises DeviceError without bindings, driver or device."""
        return cls(CudaDriver(load_bindings(), number), number)

    def describe(self) -> str:
        """Product name and architecture."""
        return f"{self._driver.name()}, sm_{self.capability[0]}{self.capability[1]}"

    def load(self, artifact: Artifact, recompile: Recompile | None = None) -> GraphExecutable:
        """Load every kernel now, so that nothing is loaded inside a capture."""
        program = artifact.program
        if program.target != "cuda":
            raise ArtifactError(f"a program of target {program.target} does not run on {self.name}")
        return self._memory.inside(lambda: self._load(artifact, program))

    def _load(self, artifact: Artifact, program: HostProgram) -> GraphExecutable:
        modules: dict[str, Any] = {}
        functions: dict[str, Any] = {}
        for kernel in program.kernels:
            digest, ending = choose_binary(kernel, program.arch, self.capability)
            if digest not in modules:
                modules[digest] = self._driver.load_module(artifact.blobs[digest] + ending)
            functions[kernel.name] = self._driver.function(modules[digest], kernel.symbol)
        callees = {step.callee for step in program.steps if isinstance(step, LibraryCall)}
        libraries: dict[str, Library] = {}
        if "cublaslt.matmul" in callees:
            libraries["cublaslt.matmul"] = CublasltMatmul.open()
        return GraphExecutable(Resolver(program, functions, libraries, self._driver), self._driver)

    def allocate(self, size: int, stream: int = 0) -> tuple[StreamMemory, int]:
        """Memory in stream order."""
        memory = StreamMemory(self._memory, size, stream)
        return memory, memory.address

    def upload(self, data: memoryview, address: int, stream: int = 0) -> None:
        """See Device."""
        self._memory.upload(data, address, stream)

    def download(self, address: int, size: int, stream: int = 0) -> bytearray:
        """See Device."""
        return self._memory.download(address, size, stream)

    def retain(self, stream: int, objects: Sequence[object]) -> None:
        """See Device."""
        self._memory.retain(stream, objects)

    def hand_over(self, owner: object, before: int, after: int) -> None:
        """See Device."""
        self._memory.wait_for(before, after)
        if isinstance(owner, StreamMemory):
            owner.used_on(after)

    def time(self, call: Callable[[int], Any], repeats: int) -> list[float]:
        """Seconds on a private stream, by events."""
        if not self._timing_stream:
            self._timing_stream = self._memory.inside(self._driver.create_stream)
        return self._memory.time(call, self._timing_stream, repeats)


def choose_binary(kernel: Kernel, arch: str, capability: tuple[int, int]) -> tuple[str, bytes]:
    """(sha256, bytes to append) of the kernel's cubin where the device can run it, else of its portable PTX.

    A cubin of sm_XY runs on its major version from minor Y on; one of sm_XYa on exactly X.Y.
    """
    match = re.fullmatch(r"sm_(\d+)(\d)([af]?)", arch)
    if match is None:
        raise ArtifactError(f"unknown CUDA architecture {arch!r}", hint="compile the model again")
    built = (int(match[1]), int(match[2]))
    fits = built == capability if match[3] == "a" else built[0] == capability[0] and built[1] <= capability[1]
    if kernel.binary is not None and fits:
        return kernel.binary, b""
    if kernel.portable is not None:
        return kernel.portable, b"\0"
    raise DeviceError(
        f"kernel {kernel.name!r} is compiled for {arch}, the device is sm_{capability[0]}{capability[1]}",
        hint=f"compile the model for arch sm_{capability[0]}{capability[1]}",
    )
