"""The machine code of a program's kernels: for one that the device cannot run well another schedule is tried."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from ...dialects.host import SourceOp
from ..toolchain.nvrtc import CudaBinary
from .alternatives import Alternatives


@dataclass(frozen=True)
class Cubin:
    """A kernel's code and the source that it was made of; `report` says what did not go as planned, or nothing."""

    source: SourceOp
    binary: CudaBinary
    report: str = ""


def compile_kernels(
    sources: Mapping[str, SourceOp],
    alternatives: Alternatives | None,
    arch: str,
    compile_text: Callable[[str], CudaBinary],
) -> dict[str, Cubin]:
    """The code of every kernel.

    A kernel that spills registers takes the next of its alternatives that does not. Without any it keeps its first
    code, which is slow but right.

    Raises:
        ToolchainError: the compiler refuses a text.
    """
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        binaries = list(pool.map(compile_text, (source.text.data for source in sources.values())))
    made: dict[str, Cubin] = {}
    for (name, source), binary in zip(sources.items(), binaries, strict=True):
        made[name] = Cubin(source, binary)
        if binary.problems:
            made[name] = _replaced(made[name], alternatives, arch, compile_text)
    return made


def _replaced(
    first: Cubin, alternatives: Alternatives | None, arch: str, compile_text: Callable[[str], CudaBinary]
) -> Cubin:
    name, language = first.source.sym_name.data, first.source.language.data
    found = "; ".join(first.binary.problems)
    others = alternatives.sources(name, language, arch) if alternatives is not None else ()
    for schedule, source in others:
        binary = compile_text(source.text.data)
        if not binary.problems:
            return Cubin(source, binary, f"{found}; schedule {schedule} in its place")
    return Cubin(first.source, first.binary, f"{found}; no schedule does better")
