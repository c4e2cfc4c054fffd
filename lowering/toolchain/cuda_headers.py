"""Where NVIDIA's headers lie: for NVRTC, and for the CPU shim, where their half and bfloat16 are host code."""

from __future__ import annotations

import functools
import re
from pathlib import Path

from ...dialects.errors import ToolchainError

_INCLUDE = re.compile(r"^[ \t]*#[ \t]*include[ \t]*<([^>]+)>", re.MULTILINE)
_HINT = "pip install nvidia-cuda-runtime nvidia-cuda-crt nvidia-cuda-cccl, in the CUDA version of NVRTC"


def included_headers(source: str) -> tuple[str, ...]:
    """Names in the `#include <...>` lines of `source`, each once, in order."""
    return tuple(dict.fromkeys(_INCLUDE.findall(source)))


@functools.cache
def cuda_include_directories() -> tuple[Path, ...]:
    """The folders of the CUDA headers: runtime first, then CCCL where it is installed."""
    try:
        from cuda import pathfinder
    except ImportError as error:
        raise ToolchainError("no CUDA headers: the package cuda-bindings is not installed", hint=_HINT) from error
    runtime = pathfinder.find_nvidia_header_directory("cudart")
    if runtime is None:
        raise ToolchainError("the CUDA headers (cuda_fp16.h, cuda_bf16.h) are not installed", hint=_HINT)
    libraries = pathfinder.find_nvidia_header_directory("cccl")
    return (Path(runtime), *((Path(libraries),) if libraries is not None else ()))


def directories_for(source: str) -> tuple[Path, ...]:
    """The include folders that `source` needs: none if it includes nothing."""
    return cuda_include_directories() if included_headers(source) else ()


@functools.cache
def _header(name: str) -> bytes:
    for directory in cuda_include_directories():
        path = directory / name
        if path.is_file():
            return path.read_bytes()
    return b""


def header_contents(source: str) -> tuple[bytes, ...]:
    """Contents of the headers that `source` includes, for the key of a cached object."""
    return tuple(_header(name) for name in included_headers(source))
