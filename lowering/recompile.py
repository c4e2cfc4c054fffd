"""Rebuilds the C program of an artifact for this machine, when it was compiled for a processor with other features."""

from __future__ import annotations

from ..runtime.artifact import Entry
from .toolchain.cc import compile_c, find_c_compiler


def recompile(entry: Entry, source: bytes, compiler: str | None) -> bytes:
    """The shared object. `compiler` is the configured C compiler, or None for the one on PATH.

    Raises:
        ToolchainError: there is no compiler, or it refuses the text.
    """
    return compile_c(source.decode(), compiler=find_c_compiler(None, compiler), name=f"{entry.symbol}.c").code
