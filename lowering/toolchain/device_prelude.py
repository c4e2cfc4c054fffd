"""The texts that lie beside this package: the CUDA prelude of the `nv` dialect, and the headers of the CPU shim."""

from __future__ import annotations

import functools
from pathlib import Path

SHIM_DIRECTORY = Path(__file__).resolve().parent / "shim"


@functools.cache
def device_prelude() -> str:
    """The device functions of `nv` ops and streaming accesses; a CUDA text that uses one of them begins with this."""
    return (SHIM_DIRECTORY / "albumen_nv.h").read_text()


@functools.cache
def shim_headers() -> bytes:
    """Names and contents of all headers of the shim, in order; part of the key of every object built with them."""
    files = sorted(path for path in SHIM_DIRECTORY.iterdir() if path.is_file())
    return b"".join(path.name.encode() + b"\0" + path.read_bytes() for path in files)
