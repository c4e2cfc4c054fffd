"""From a module of source texts to an artifact: compiles the texts, and writes the program down as the runtime reads
it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ModuleOp

from ..dialects.errors import LoweringError
from ..dialects.host import InputOp, ProgramOp, SourceOp, programs, sources
from ..dialects.host.types import BufferType
from ..runtime.artifact import Artifact, Entry, HostProgram, Kernel, Weight, check_program, cpu_features, digest_of
from .artifact.program import ProgramWriter
from .options import CompileOptions
from .toolchain.cc import compile_c, find_c_compiler

if TYPE_CHECKING:
    from .toolchain.object_cache import ObjectCache

METAL_ARCH = "metal3"
"""The Metal feature set that sources are written for; the device compiles them."""


def build_artifact(module: ModuleOp, options: CompileOptions, cache: ObjectCache | None = None) -> Artifact:
    """The artifact of a module with one host.program and the sources of its kernels.

    For target c the one source of the program becomes a shared object; for cuda each source becomes a cubin of
    `options.arch`; for metal the sources travel as they are. Constants that the compiler made are in the weights.

    Raises:
        ToolchainError: a compiler is missing or refuses a text.
    """
    found = list(programs(module))
    if len(found) != 1:
        raise LoweringError(f"an artifact holds one program, the module has {len(found)}", stage="compile")
    program = found[0]
    texts = {op.sym_name.data: op for op in sources(module)}
    weights = _weights(program)
    writer = ProgramWriter(program, texts)
    if options.target == "c":
        written, blobs, report = _compile_c(writer, texts, options, cache)
    else:
        written, blobs, report = _compile_gpu(writer, texts, options, cache)
    check_program(written)
    arena = program.arena
    if arena is not None:
        report = {**report, "arena_bytes": str(arena.size.data), "arena_lower_bound": str(arena.bound.data)}
    return Artifact(written, blobs, mlir=f"{program}\n", report=report, weights=weights or None)


Compiled = tuple[HostProgram, dict[str, bytes], dict[str, str]]


def _compile_c(
    writer: ProgramWriter, texts: Mapping[str, SourceOp], options: CompileOptions, cache: ObjectCache | None
) -> Compiled:
    if len(texts) != 1:
        raise LoweringError(f"a program of target c has one source, found {len(texts)}", stage="compile")
    (source,) = texts.values()
    text = source.text.data
    made = compile_c(text, compiler=find_c_compiler(options.compiler or None), cache=cache)
    blobs = {digest_of(text.encode()): text.encode(), digest_of(made.code): made.code}
    entry = Entry(
        symbol=source.entry.data,
        source=digest_of(text.encode()),
        binary=digest_of(made.code),
        command=made.command,
        cpu_features=made.cpu_features,
    )
    written = writer.program("c", options.arch or cpu_features()[1], writer.kernels_of_entry(entry))
    return replace(written, entry=entry), blobs, {"compiler": made.compiler}


def _compile_gpu(
    writer: ProgramWriter, texts: Mapping[str, SourceOp], options: CompileOptions, cache: ObjectCache | None
) -> Compiled:
    from .toolchain.nvrtc import DEFAULT_ARCH, compile_cuda

    arch = options.arch or (DEFAULT_ARCH if options.target == "cuda" else METAL_ARCH)
    blobs = {digest_of(op.text.data.encode()): op.text.data.encode() for op in texts.values()}
    binaries: dict[str, str] = {}

    def cubin(source: SourceOp) -> bytes:
        return compile_cuda(source.text.data, arch=arch, cache=cache).code

    if options.target == "cuda":
        with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            made = pool.map(cubin, texts.values())
            for name, code in zip(texts, made, strict=True):
                binaries[name] = digest_of(code)
                blobs[binaries[name]] = code
    kernels = [
        Kernel(
            name=name,
            language=writer.language(source),
            symbol=source.entry.data,
            parameters=tuple(p.data for p in source.parameters),
            source=digest_of(source.text.data.encode()),
            binary=binaries.get(name),
        )
        for name, source in texts.items()
    ]
    return writer.program(options.target, arch, kernels), blobs, {}


def _weights(program: ProgramOp) -> dict[str, Weight]:
    return {op.input_name.data: _weight(op, op.data.data) for op in program.inputs if op.data is not None}


def _weight(op: InputOp, data: str) -> Weight:
    type_ = op.buffer.type
    assert isinstance(type_, BufferType)
    shape = tuple(extent.as_int() or 0 for extent in type_.dims)
    return Weight(type_.dtype.name, shape, bytes.fromhex(data))
