"""Writes a host.program down as the runtime's HostProgram."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, cast

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Attribute, SSAValue

from ...dialects.errors import LoweringError, location_text
from ...dialects.hlir.index_map import row_major_strides
from ...dialects.host import CallOp, CopyOp, InputOp, LaunchOp, OutputOp, ProgramOp, SourceOp
from ...dialects.host.steps import Step as StepOp
from ...dialects.host.types import BufferType
from ...dialects.sym.dialect import ExprAttr
from ...dialects.sym.expr import Expr
from ...runtime.artifact import (
    Argument,
    BufferArgument,
    Copy,
    Entry,
    HostProgram,
    Input,
    Kernel,
    Launch,
    LibraryCall,
    Mode,
    Output,
    Reference,
    Role,
    ScalarArgument,
    Slice,
    Step,
    Symbol,
    digest_of,
)
from .guards import guard_of

ONE = ("1", "1", "1")
Language = Literal["c", "cuda", "metal"]


def texts(exprs: Iterable[Expr]) -> tuple[str, ...]:
    """The expressions in the grammar of the artifact, which is that of the IR."""
    return tuple(map(str, exprs))


class ProgramWriter:
    """One program, and the sources that its launches name."""

    def __init__(self, program: ProgramOp, sources: Mapping[str, SourceOp]):
        self.op = program
        self.sources = sources
        self.places: dict[SSAValue, Reference] = {}
        for number, one in enumerate(program.inputs):
            self.places[one.buffer] = Reference("input", number)
        for number, one in enumerate(program.outputs):
            self.places[one.buffer] = Reference("output", number)
        for number, one in enumerate(program.slices):
            self.places[one.buffer] = Reference("slice", number)

    def program(self, target: str, arch: str, kernels: Sequence[Kernel]) -> HostProgram:
        """The program with these compiled kernels."""
        arena = self.op.arena
        return HostProgram(
            target=cast(Language, target),
            arch=arch,
            symbols=tuple(self._symbols()),
            inputs=tuple(map(self._input, self.op.inputs)),
            outputs=tuple(map(self._output, self.op.outputs)),
            arena_bytes=str(arena.size.data) if arena is not None else "0",
            slices=tuple(Slice(str(s.offset.data), str(_type(s.buffer).bytes)) for s in self.op.slices),
            steps=tuple(map(self._step, self.op.steps)),
            kernels=tuple(kernels),
            guards=tuple(map(guard_of, self.op.guards)),
        )

    def language(self, source: SourceOp) -> Language:
        """The language of a source."""
        return cast(Language, source.language.data)

    def kernels_of_entry(self, entry: Entry) -> list[Kernel]:
        """The kernels that the entry of a C program launches; they have no binary of their own."""
        found: dict[str, Kernel] = {}
        for step in self.op.steps:
            if isinstance(step, LaunchOp):
                name, count = step.kernel_name, len(step.buffers)
                found[name] = Kernel(name, "c", name, ("ptr",) * count, entry.source)
        return list(found.values())

    def _symbols(self) -> Iterable[Symbol]:
        for op in self.op.symbols:
            yield Symbol(
                name=op.symbol.data,
                minimum=op.minimum.data,
                maximum=op.range.high,
                multiple_of=op.multiple_of.data,
                input_index=self.places[op.input].index,
                dim=-1 if op.dim is None else op.dim.data,
            )

    def _input(self, op: InputOp) -> Input:
        type_ = _type(op.buffer)
        return Input(
            name=op.input_name.data,
            dtype=type_.dtype.name,
            shape=texts(type_.dims),
            strides=texts(row_major_strides(type_.dims)),
            align=op.align.data,
            role=cast(Role, op.role.data),
            mutated=op.mutated is not None,
            digest=digest_of(bytes.fromhex(op.data.data)) if op.data is not None else None,
        )

    def _output(self, op: OutputOp) -> Output:
        type_ = _type(op.buffer)
        name, dtype, shape = op.output_name.data, type_.dtype.name, texts(type_.dims)
        if op.alias is None or op.strides is None or op.offset is None:
            return Output(name, dtype, shape, texts(row_major_strides(type_.dims)))
        strides = texts(s.data for s in op.strides)
        return Output(name, dtype, shape, strides, alias=self.places[op.alias].index, offset=str(op.offset.data))

    def _step(self, op: StepOp) -> Step:
        location = location_text(op.location)
        if isinstance(op, CopyOp):
            size = str(_type(op.source).bytes)
            return Copy(self.places[op.source], self.places[op.destination], size, location)
        if isinstance(op, CallOp):
            config = tuple(sorted((key, _text(value, op)) for key, value in op.config.data.items()))
            return LibraryCall(op.callee.data, config, tuple(self._buffers(op)), location)
        return self._launch(op, location)

    def _buffers(self, op: LaunchOp | CallOp) -> list[BufferArgument]:
        return [BufferArgument(self.places[buffer], cast(Mode, mode)) for mode, buffer in op.uses]

    def _launch(self, op: LaunchOp, location: str) -> Launch:
        arguments: list[Argument] = list(self._buffers(op))
        source = self.sources.get(op.kernel_name)
        if source is None:
            # A program of target c: its entry passes what the kernel needs.
            return Launch(op.kernel_name, ONE, (1, 1, 1), tuple(arguments), location=location)
        scalars = [p.data for p in source.parameters][len(arguments) :]
        names = [s.data for s in source.symbols]
        if len(scalars) != len(names):
            raise LoweringError(f"@{op.kernel_name} takes {len(scalars)} numbers but names {len(names)}", op=op)
        for name, kind in zip(names, scalars, strict=True):
            arguments.append(ScalarArgument(name, cast(Literal["i32", "i64"], kind)))
        grid = texts(g.data for g in source.grid)
        block = tuple(b.data for b in source.block)
        return Launch(
            op.kernel_name,
            (grid[0], grid[1], grid[2]),
            (block[0], block[1], block[2]),
            tuple(arguments),
            shared_bytes=str(source.shared.data),
            location=location,
        )


def _text(value: Attribute, op: CallOp) -> str:
    if isinstance(value, ExprAttr):
        return str(value.data)
    if not isinstance(value, StringAttr):
        raise LoweringError(f"the configuration of a call is expressions and texts, found {value}", op=op)
    return value.data


def _type(buffer: SSAValue) -> BufferType:
    assert isinstance(buffer.type, BufferType)
    return buffer.type
