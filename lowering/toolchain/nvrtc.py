"""CUDA text to machine code (cubin) or portable PTX with NVRTC, and the resources of each kernel. Needs no GPU."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import asdict, dataclass
from multiprocessing import get_context

from ...dialects.errors import ToolchainError
from .cc import CompilerReport
from .command import refused
from .cuda_headers import directories_for, header_contents
from .nvrtc_library import Form, NvrtcLibrary
from .object_cache import ObjectCache, content_key
from .ptxas_report import KernelResources, parse_ptxas_log

DEFAULT_ARCH = "sm_90a"
PORTABLE_ARCH = "compute_80"  # the oldest with cp.async, bf16 and tf32 matrix units

# No contraction: a fused multiply-add exists only where the IR says so.
OPTIONS = ("-std=c++17", "--fmad=false", "--ptxas-options=-v")


class ResourceError(ToolchainError):
    """A kernel that compiles but must not be used: it spills registers, or ptxas had to repair it."""


@dataclass(frozen=True)
class CudaBinary:
    """Compiled CUDA text. PTX has no resource records: registers are assigned when a driver loads it."""

    code: bytes
    form: Form
    arch: str
    kernels: tuple[KernelResources, ...]
    log: str

    @property
    def problems(self) -> tuple[str, ...]:
        """Why these kernels must not be used."""
        return tuple(problem for kernel in self.kernels for problem in kernel.problems)

    def resources(self, kernel: str) -> KernelResources:
        """The record of one kernel; KeyError if the text does not define it."""
        return {found.name: found for found in self.kernels}[kernel]


@dataclass(frozen=True)
class CudaJob:
    """One text of a batch."""

    source: str
    arch: str = DEFAULT_ARCH
    form: Form = "cubin"


def compile_cuda(
    source: str,
    *,
    arch: str = DEFAULT_ARCH,
    form: Form = "cubin",
    options: Sequence[str] = (),
    cache: ObjectCache | None = None,
    name: str = "kernel.cu",
    reject: bool = True,
) -> CudaBinary:
    """Compile `source` for `arch`: `sm_90a` for a cubin, `compute_80` for PTX. ToolchainError if it is refused;
    ResourceError if a kernel has problems and `reject` is set."""
    full = (*OPTIONS, *options)
    key = content_key("nvrtc", [source, name, arch, form, *full, nvrtc_version(), *header_contents(source)])
    stored = cache.get(key) if cache is not None else None
    if stored is not None:
        binary = _unpack(stored)
    else:
        binary = _compile(source, arch, form, full, name)
        if cache is not None:
            cache.put(key, _pack(binary))
    if reject and binary.problems:
        raise ResourceError(
            "; ".join(binary.problems),
            command=f"nvrtc -arch={arch}",
            hint="use a smaller tile or fewer stages for this kernel",
        )
    return binary


def compile_ptx(
    source: str, *, arch: str = PORTABLE_ARCH, cache: ObjectCache | None = None, name: str = "kernel.cu"
) -> CudaBinary:
    """Compile `source` to PTX that the drivers of `arch` and all later ones can load."""
    return compile_cuda(source, arch=arch, form="ptx", cache=cache, name=name)


def _attempt(job: CudaJob) -> CudaBinary | ToolchainError:
    try:
        return compile_cuda(job.source, arch=job.arch, form=job.form, reject=False)
    except ToolchainError as error:
        # An exception with keyword arguments does not survive pickling by itself.
        return ToolchainError(error.message, hint=error.hint)


def compile_cuda_batch(jobs: Iterable[CudaJob], workers: int | None = None) -> list[CudaBinary | ToolchainError]:
    """Compile many texts in worker processes. A text that is refused, or that kills the compiler, gives its error in
    place of a binary; kernels with problems are kept (see `CudaBinary.problems`)."""
    listed = list(jobs)
    count = min(workers or os.cpu_count() or 1, len(listed)) or 1
    results: list[CudaBinary | ToolchainError | None] = [None] * len(listed)
    pending = list(range(len(listed)))
    while pending:
        with ProcessPoolExecutor(count, mp_context=get_context("spawn")) as pool:
            futures = {index: pool.submit(_attempt, listed[index]) for index in pending}
            for index, future in futures.items():
                try:
                    results[index] = future.result()
                except BrokenProcessPool:
                    continue
        lost = [index for index in pending if results[index] is None]
        if lost and (count == 1 or len(lost) == 1):
            # One worker runs the jobs in order, so the first one without a result is the one that broke it.
            results[lost.pop(0)] = ToolchainError("NVRTC crashed on this text", hint="report it with the source")
        pending, count = lost, 1
    return [result for result in results if result is not None]


def nvrtc_version() -> str:
    """The version of the NVRTC library, as `13.0`."""
    return NvrtcLibrary().version()


def nvrtc_report() -> CompilerReport:
    """NVRTC as a line of `albumen targets`."""
    try:
        library = NvrtcLibrary()
        version, architectures = library.version(), library.architectures()
    except ToolchainError as error:
        return CompilerReport(False, "NVRTC", error.message, error.hint)
    return CompilerReport(True, "NVRTC", f"version {version}, sm_{architectures[0]} to sm_{architectures[-1]}")


def _compile(source: str, arch: str, form: Form, options: tuple[str, ...], name: str) -> CudaBinary:
    full = [f"--gpu-architecture={arch}", *options, *(f"-I{directory}" for directory in directories_for(source))]
    code, log = NvrtcLibrary().compile(source, name, full, form)
    if code is None:
        raise refused("NVRTC", source, name, ["nvrtc", *full, name], log)
    return CudaBinary(code, form, arch, parse_ptxas_log(log), log)


def _pack(binary: CudaBinary) -> bytes:
    header = {
        "form": binary.form,
        "arch": binary.arch,
        "log": binary.log,
        "kernels": [asdict(kernel) for kernel in binary.kernels],
    }
    text = json.dumps(header, sort_keys=True).encode()
    return len(text).to_bytes(8, "little") + text + binary.code


def _unpack(data: bytes) -> CudaBinary:
    size = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + size])
    kernels = tuple(KernelResources(**kernel) for kernel in header["kernels"])
    return CudaBinary(data[8 + size :], header["form"], header["arch"], kernels, header["log"])
