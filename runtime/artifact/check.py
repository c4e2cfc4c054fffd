"""The invariants of a HostProgram, checked before it is written and after it is read: nothing later has to doubt
them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ..dtype import ITEM_BYTES
from ..errors import ArtifactError, ExpressionError
from ..expression import linear_form, parse_expression
from .model import Argument, BufferArgument, HostProgram, Launch, LibraryCall, Reference, Step

FEATURES = frozenset(("scalar-input", "output-view", "library-call", "grid-dependency"))
"""What this reader can do beyond plain launches; a program that requires another word is refused by that name."""

_DIGEST = re.compile(r"[0-9a-f]{64}")
_NUMBER = re.compile(r"-?(\d+(\.\d*)?([eE][-+]?\d+)?|inf|nan)")


def required_features(program: HostProgram) -> tuple[str, ...]:
    """The words that a reader must know to run the program."""
    words = set(program.requires)
    if any(item.role == "scalar" for item in program.inputs):
        words.add("scalar-input")
    if any(item.alias is not None for item in program.outputs):
        words.add("output-view")
    if any(isinstance(step, LibraryCall) for step in program.steps):
        words.add("library-call")
    if any(isinstance(step, Launch) and step.pdl for step in program.steps):
        words.add("grid-dependency")
    return tuple(sorted(words))


def check_features(words: Iterable[str], source: str) -> None:
    """Refuse a program that needs something this reader does not know."""
    unknown = sorted(set(words) - FEATURES)
    if unknown:
        raise ArtifactError(
            f"{source}: needs the feature {unknown[0]!r}, which this version of Albumen does not have",
            hint="upgrade albumen, or compile the model again with this version",
        )


def check_program(program: HostProgram) -> None:
    """Raise ArtifactError at the first broken invariant, with the path of the field."""
    checker = _Checker(program)
    for path, text in checker.expressions():
        checker.expression(path, text)
    checker.names()
    checker.symbols()
    checker.tensors()
    checker.kernels()
    for index, step in enumerate(program.steps):
        checker.step(f"steps[{index}]", step)


class _Checker:
    def __init__(self, program: HostProgram) -> None:
        self.program = program
        self.symbol_names = frozenset(symbol.name for symbol in program.symbols)
        self.kernel_by_name = {kernel.name: kernel for kernel in program.kernels}
        self.counts = {"input": len(program.inputs), "output": len(program.outputs), "slice": len(program.slices)}

    def need(self, holds: bool, path: str, message: str) -> None:
        if not holds:
            raise ArtifactError(f"program: {path}: {message}", hint="this is a bug in what built the program")

    def expressions(self) -> Iterator[tuple[str, str]]:
        yield "arena_bytes", self.program.arena_bytes
        for place, tensors in (("inputs", self.program.inputs), ("outputs", self.program.outputs)):
            for index, tensor in enumerate(tensors):
                for text in (*tensor.shape, *tensor.strides):
                    yield f"{place}[{index}]", text
        for index, output in enumerate(self.program.outputs):
            yield f"outputs[{index}].offset", output.offset
        for index, piece in enumerate(self.program.slices):
            yield f"slices[{index}].offset", piece.offset
            yield f"slices[{index}].bytes", piece.bytes
        for index, guard in enumerate(self.program.guards):
            yield f"guards[{index}]", guard.expression

    def expression(self, path: str, text: str) -> None:
        try:
            names = parse_expression(text).names()
        except ExpressionError as error:
            raise ArtifactError(f"program: {path}: {error.message}", hint=error.hint) from error
        unknown = sorted(names - self.symbol_names)
        self.need(not unknown, path, f"{text!r} uses the undeclared symbol {unknown[:1]}")

    def names(self) -> None:
        program = self.program
        lists = {"symbols": program.symbols, "inputs": program.inputs, "outputs": program.outputs}
        for kind, items in {**lists, "kernels": program.kernels}.items():
            found = [item.name for item in items]
            doubled = sorted({name for name in found if found.count(name) > 1}) if len(set(found)) < len(found) else []
            self.need(not doubled, kind, f"the name {doubled[:1]} is given twice")

    def symbols(self) -> None:
        for index, symbol in enumerate(self.program.symbols):
            path = f"symbols[{index}]"
            self.need(symbol.name.isidentifier(), path, f"{symbol.name!r} is no name")
            least, most = symbol.minimum, symbol.maximum
            self.need(least >= 0 and (most is None or least <= most), path, f"range {least}..{most}")
            self.need(symbol.multiple_of >= 1, path, f"multiple_of {symbol.multiple_of}")
            self.need(0 <= symbol.input_index < len(self.program.inputs), path, f"no input {symbol.input_index}")
            source = self.program.inputs[symbol.input_index]
            if symbol.dim == -1:
                self.need(source.role == "scalar", path, f"dim -1 of input {source.name!r}, which is no scalar")
                continue
            self.need(0 <= symbol.dim < len(source.shape), path, f"input {source.name!r} has no dim {symbol.dim}")
            extent = source.shape[symbol.dim]
            self.need(linear_form(extent, symbol.name) is not None, path, f"not solvable from {extent!r}")
        for index, guard in enumerate(self.program.guards):
            self.need(guard.relation in ("==", ">=", "!="), f"guards[{index}]", f"relation {guard.relation!r}")
            self.need(bool(guard.message), f"guards[{index}]", "has no message")

    def tensors(self) -> None:
        for index, item in enumerate(self.program.inputs):
            path = f"inputs[{index}]"
            self.tensor(path, item.dtype, item.shape, item.strides)
            self.need(
                item.align >= 1 and item.align & (item.align - 1) == 0, path, f"align {item.align} is no power of 2"
            )
            self.need(item.role != "scalar" or (not item.shape and item.dtype == "i64"), path, "a scalar is one i64")
            if item.digest is not None:
                self.digest(f"{path}.digest", item.digest)
        for index, output in enumerate(self.program.outputs):
            path = f"outputs[{index}]"
            self.tensor(path, output.dtype, output.shape, output.strides)
            if output.alias is not None:
                self.need(0 <= output.alias < len(self.program.inputs), path, f"alias of input {output.alias}")
                self.need(self.program.inputs[output.alias].role != "scalar", path, "a view of a scalar")

    def tensor(self, path: str, dtype: str, shape: tuple[str, ...], strides: tuple[str, ...]) -> None:
        self.need(dtype in ITEM_BYTES, path, f"unknown dtype {dtype!r}")
        self.need(len(shape) == len(strides), path, f"{len(shape)} extents and {len(strides)} strides")

    def digest(self, path: str, text: str) -> None:
        self.need(_DIGEST.fullmatch(text) is not None, path, f"{text!r} is no sha256")

    def kernels(self) -> None:
        program = self.program
        self.need(
            (program.entry is not None) == (program.target == "c"), "entry", "exactly a program of target c has one"
        )
        for sha in program.blob_names():
            self.digest("blobs", sha)
        for index, kernel in enumerate(program.kernels):
            for kind in kernel.parameters:
                self.need(kind in ("ptr", "i32", "i64", "f32", "f64"), f"kernels[{index}]", f"parameter type {kind!r}")

    def step(self, path: str, step: Step) -> None:
        if isinstance(step, Launch):
            self.launch(path, step)
        elif isinstance(step, LibraryCall):
            keys = [key for key, _ in step.config]
            self.need(keys == sorted(set(keys)), path, "config is not sorted by distinct keys")
            self.arguments(path, step.arguments)
        else:
            self.expression(f"{path}.bytes", step.bytes)
            self.reference(f"{path}.source", step.source)
            self.reference(f"{path}.destination", step.destination)

    def launch(self, path: str, step: Launch) -> None:
        kernel = self.kernel_by_name.get(step.kernel)
        if kernel is None:
            raise ArtifactError(
                f"program: {path}: no kernel {step.kernel!r}", hint="this is a bug in what built the program"
            )
        for text in (*step.grid, step.shared_bytes):
            self.expression(path, text)
        self.need(all(extent >= 1 for extent in step.block), path, f"block {step.block}")
        given = tuple("ptr" if isinstance(item, BufferArgument) else item.type for item in step.arguments)
        self.need(given == kernel.parameters, path, f"arguments {given} for parameters {kernel.parameters}")
        self.arguments(path, step.arguments)

    def arguments(self, path: str, arguments: Iterable[Argument]) -> None:
        for index, argument in enumerate(arguments):
            where = f"{path}.arguments[{index}]"
            if isinstance(argument, BufferArgument):
                self.reference(where, argument.reference)
            elif argument.type in ("i32", "i64"):
                self.expression(where, argument.value)
            else:
                self.need(_NUMBER.fullmatch(argument.value) is not None, where, f"{argument.value!r} is no number")

    def reference(self, path: str, reference: Reference) -> None:
        count = self.counts[reference.place]
        self.need(0 <= reference.index < count, path, f"{reference.place} {reference.index} of {count}")
        self.expression(path, reference.offset)
        if reference.place == "output":
            self.need(self.program.outputs[reference.index].alias is None, path, "a view of an input has no memory")
