"""From a module of source texts to an artifact: compiles the texts, and writes the program down as the runtime reads
it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ModuleOp

from ..dialects.errors import LoweringError, OptionError
from ..dialects.host import InputOp, ProgramOp, SourceOp, programs, sources
from ..dialects.host.types import BufferType
from ..runtime.artifact import Artifact, Entry, HostProgram, Kernel, Weight, check_program, cpu_features, digest_of
from .artifact.program import ProgramWriter
from .options import CompileOptions
from .toolchain.cc import compile_c, find_c_compiler

if TYPE_CHECKING:
    from .artifact.alternatives import Alternatives
    from .toolchain.nvrtc import CudaBinary
    from .toolchain.object_cache import ObjectCache

METAL_ARCH = "metal3"
"""The Metal feature set that sources are written for; the device compiles them."""


def build_artifact(
    module: ModuleOp,
    options: CompileOptions,
    cache: ObjectCache | None = None,
    alternatives: Alternatives | None = None,
) -> Artifact:
    """The artifact of a module with one host.program and the sources of its kernels.

    For target c the one source of the program becomes a shared object; for cuda each source becomes a cubin of
    `options.arch`, and one that spills registers is replaced by another of the `alternatives` of its kernel; for metal
    the sources travel as they are. Constants that the compiler made are in the weights.

    Raises:
        ToolchainError: a compiler is missing or refuses a text.
    """
    found = list(programs(module))
    if len(found) != 1:
        raise LoweringError(f"an artifact holds one program, the module has {len(found)}", stage="compile")
    program = found[0]
    texts = {op.sym_name.data: op for op in sources(module)}
    weights = _weights(program)
    if options.target == "c":
        written, blobs, report = _compile_c(program, texts, options, cache)
    elif options.target == "cuda":
        written, blobs, report = _compile_cuda(program, texts, options, cache, alternatives)
    else:
        written, blobs, report = _write_gpu(program, texts, {}, "metal", options.arch or METAL_ARCH)
    check_program(written)
    arena = program.arena
    if arena is not None:
        report = {**report, "arena_bytes": str(arena.size.data), "arena_lower_bound": str(arena.bound.data)}
    return Artifact(written, blobs, mlir=f"{program}\n", report=report, weights=weights or None)


Compiled = tuple[HostProgram, dict[str, bytes], dict[str, str]]


def _compile_c(
    program: ProgramOp, texts: Mapping[str, SourceOp], options: CompileOptions, cache: ObjectCache | None
) -> Compiled:
    if len(texts) != 1:
        raise LoweringError(f"a program of target c has one source, found {len(texts)}", stage="compile")
    machine = cpu_features()[1]
    if options.arch not in ("", machine):
        message = f"target c compiles for this machine, whose arch is {machine}; found arch {options.arch!r}"
        raise OptionError(message, stage="compile", hint="leave arch out: a program loaded elsewhere is rebuilt")
    writer = ProgramWriter(program, texts)
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
    written = writer.program("c", machine, writer.kernels_of_entry(entry))
    return replace(written, entry=entry), blobs, {"compiler": made.compiler}


def _compile_cuda(
    program: ProgramOp,
    texts: Mapping[str, SourceOp],
    options: CompileOptions,
    cache: ObjectCache | None,
    alternatives: Alternatives | None,
) -> Compiled:
    from .artifact.cubins import compile_kernels
    from .toolchain.nvrtc import DEFAULT_ARCH, compile_cuda

    arch = options.arch or DEFAULT_ARCH

    def compile_text(text: str) -> CudaBinary:
        return compile_cuda(text, arch=arch, cache=cache, reject=False)

    made = compile_kernels(texts, alternatives, arch, compile_text)
    used = {name: cubin.source for name, cubin in made.items()}
    codes = {name: cubin.binary.code for name, cubin in made.items()}
    written, blobs, _ = _write_gpu(program, used, codes, "cuda", arch)
    return written, blobs, {f"kernel {name}": cubin.report for name, cubin in made.items() if cubin.report}


def _write_gpu(
    program: ProgramOp, texts: Mapping[str, SourceOp], codes: Mapping[str, bytes], target: str, arch: str
) -> Compiled:
    writer = ProgramWriter(program, texts)
    binaries = {name: digest_of(code) for name, code in codes.items()}
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
    blobs = {digest_of(op.text.data.encode()): op.text.data.encode() for op in texts.values()}
    blobs |= {binaries[name]: code for name, code in codes.items()}
    return writer.program(target, arch, kernels), blobs, {}


def _weights(program: ProgramOp) -> dict[str, Weight]:
    return {op.input_name.data: _weight(op, op.data.data) for op in program.inputs if op.data is not None}


def _weight(op: InputOp, data: str) -> Weight:
    type_ = op.buffer.type
    assert isinstance(type_, BufferType)
    shape = tuple(extent.as_int() or 0 for extent in type_.dims)
    return Weight(type_.dtype.name, shape, bytes.fromhex(data))
