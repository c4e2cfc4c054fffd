"""CUDA text to machine code (cubin) or portable PTX with NVRTC, and the resources of each kernel. Needs no GPU."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass

from ...dialects.errors import ToolchainError
from .cc import CompilerReport
from .command import refused
from .cuda_headers import directories_for, header_contents
from .nvrtc_library import Form, NvrtcLibrary
from .object_cache import ObjectCache, content_key
from .ptxas_report import KernelResources, parse_ptxas_log

DEFAULT_ARCH = "sm_90a"
OLDEST = 80
"""The first compute capability with what the emitted text uses: cp.async, and matrix units for bf16 and tf32."""
PORTABLE_ARCH = f"compute_{OLDEST}"

SOURCE_NAME = "kernel.cu"
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
    """A text and what to make of it."""

    source: str
    arch: str = DEFAULT_ARCH
    form: Form = "cubin"

    @property
    def key(self) -> str:
        """The key of its binary in a cache."""
        parts = (self.source, self.arch, self.form, *OPTIONS, nvrtc_version(), *header_contents(self.source))
        return content_key("nvrtc", parts)


def compile_cuda(
    source: str,
    *,
    arch: str = DEFAULT_ARCH,
    form: Form = "cubin",
    cache: ObjectCache | None = None,
    reject: bool = True,
) -> CudaBinary:
    """Compile `source` for `arch`: `sm_90a` for a cubin, `compute_80` for PTX. ToolchainError if it is refused;
    ResourceError if a kernel has problems and `reject` is set."""
    job = CudaJob(source, arch, form)
    binary = cached_binary(job, cache)
    if binary is None:
        binary = _compile(job)
        store_binary(job, binary, cache)
    if reject and binary.problems:
        raise ResourceError(
            "; ".join(binary.problems),
            command=f"nvrtc -arch={arch}",
            hint="use a smaller tile or fewer stages for this kernel",
        )
    return binary


def compile_ptx(source: str, *, arch: str = PORTABLE_ARCH, cache: ObjectCache | None = None) -> CudaBinary:
    """Compile `source` to PTX that the drivers of `arch` and all later ones can load."""
    return compile_cuda(source, arch=arch, form="ptx", cache=cache)


def cached_binary(job: CudaJob, cache: ObjectCache | None) -> CudaBinary | None:
    """What an earlier compile of the same text stored."""
    stored = cache.get(job.key) if cache is not None else None
    return _unpack(stored) if stored is not None else None


def store_binary(job: CudaJob, binary: CudaBinary, cache: ObjectCache | None) -> None:
    """Keep a result, kernels with problems included: the next search need not compile them to reject them."""
    if cache is not None:
        cache.put(job.key, _pack(binary))


def nvrtc_version() -> str:
    """The version of the NVRTC library, as `13.0`."""
    return NvrtcLibrary().version()


def nvrtc_report() -> CompilerReport:
    """NVRTC as a line of `albumen targets`."""
    try:
        library = NvrtcLibrary()
        version, architectures = library.version(), _architectures(library)
    except ToolchainError as error:
        return CompilerReport(False, "NVRTC", error.message, error.hint)
    return CompilerReport(True, "NVRTC", f"version {version}, sm_{architectures[0]} to sm_{architectures[-1]}")


def _architectures(library: NvrtcLibrary) -> tuple[int, ...]:
    """Compute capabilities that the library compiles for and the emitted text runs on, ascending."""
    return tuple(number for number in library.architectures() if number >= OLDEST)


def _compile(job: CudaJob) -> CudaBinary:
    includes = (f"-I{directory}" for directory in directories_for(job.source))
    options = [f"--gpu-architecture={job.arch}", *OPTIONS, *includes]
    library = NvrtcLibrary()
    known = _architectures(library)
    named = re.fullmatch(r"(?:sm|compute)_(\d+)[a-z]?", job.arch)
    if named is None or int(named[1]) not in known:
        hint = f"use one of: {', '.join(f'sm_{number}' for number in known)}"
        raise ToolchainError(f"there is no target architecture {job.arch!r} with NVRTC {library.version()}", hint=hint)
    code, log = library.compile(job.source, SOURCE_NAME, options, job.form)
    if code is None:
        raise refused("NVRTC", job.source, SOURCE_NAME, ["nvrtc", *options, SOURCE_NAME], log)
    return CudaBinary(code, job.form, job.arch, parse_ptxas_log(log), log)


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
