"""From the steps of a program, with expressions and references, to calls with numbers: for symbol values and
addresses.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from ..artifact import BufferArgument, Copy, HostProgram, Launch, LibraryCall, Reference, ScalarArgument, Step
from ..errors import DeviceError
from ..expression import compile_expressions
from .driver import Call, CopyCall, Driver, KernelCall, LibraryInvocation, ParameterBlock
from .order import Edges, accesses, order_steps

_MAXIMUM_SIZES = 64
_STATIC_SHARED = 48 << 10
"""Dynamic shared memory that a kernel may use without being allowed to."""


class Library(Protocol):
    """A library that programs may call."""

    def prepare(
        self, config: Mapping[str, str], sizes: Callable[[str], int], pointers: Sequence[int]
    ) -> LibraryInvocation:
        """The call for known sizes: `sizes(key)` is the value of the expression `config[key]`."""
        ...

    def expressions(self, config: Mapping[str, str]) -> tuple[str, ...]:
        """The keys of `config` whose values are size expressions."""
        ...


@dataclass(frozen=True, slots=True)
class Sizes:
    """Everything that depends on the symbols alone."""

    symbols: tuple[int, ...]
    arena_bytes: int
    slices: tuple[tuple[int, int], ...]
    numbers: tuple[tuple[int, ...], ...]
    """For every step the values of its expressions, in the order of `_step_texts`."""
    edges: Edges


class Resolver:
    """One program on one device."""

    def __init__(
        self, program: HostProgram, functions: Mapping[str, Any], libraries: Mapping[str, Library], driver: Driver
    ) -> None:
        self.program = program
        self._functions = functions
        self._libraries = libraries
        self._driver = driver
        self._kernels = {kernel.name: kernel for kernel in program.kernels}
        self._blocks = [
            ParameterBlock(self._kernels[step.kernel].parameters) if isinstance(step, Launch) else None
            for step in program.steps
        ]
        self._allowed: dict[str, int] = {}
        names = [symbol.name for symbol in program.symbols]
        self._layout = compile_expressions(
            [program.arena_bytes, *(text for piece in program.slices for text in (piece.offset, piece.bytes))], names
        )
        self._step_numbers = [compile_expressions(self._step_texts(step), names) for step in program.steps]
        self._known: dict[tuple[int, ...], Sizes] = {}

    def sizes(self, symbols: tuple[int, ...]) -> Sizes:
        """What depends on the symbols alone; the last ones are kept."""
        found = self._known.get(symbols)
        if found is None:
            while len(self._known) >= _MAXIMUM_SIZES:
                del self._known[next(iter(self._known))]
            found = self._known[symbols] = self._sizes(symbols)
        return found

    def users(self) -> list[tuple[int, ...]]:
        """For every address position (inputs, outputs, then the arena) the steps that depend on it."""
        inputs, outputs = len(self.program.inputs), len(self.program.outputs)
        users: list[list[int]] = [[] for _ in range(inputs + outputs + 1)]
        for number, step in enumerate(self.program.steps):
            for position in sorted({self._position(reference) for reference, _ in accesses(step)}):
                users[position].append(number)
        return [tuple(steps) for steps in users]

    def _position(self, reference: Reference) -> int:
        inputs = len(self.program.inputs)
        starts = {"input": reference.index, "output": inputs + reference.index}
        return starts.get(reference.place, inputs + len(self.program.outputs))

    def _step_texts(self, step: Step) -> list[str]:
        if isinstance(step, Launch):
            scalars = [item.value for item in step.arguments if isinstance(item, ScalarArgument) and _is_size(item)]
            return [*step.grid, step.shared_bytes, *scalars, *_offsets(step)]
        if isinstance(step, LibraryCall):
            config = dict(step.config)
            return [*(config[key] for key in self._library(step).expressions(config)), *_offsets(step)]
        return [step.bytes, *_offsets(step)]

    def _library(self, step: LibraryCall) -> Library:
        library = self._libraries.get(step.callee)
        if library is None:
            raise DeviceError(
                f"the program calls the library function {step.callee!r}, which is not there",
                hint="install nvmath-python and cuBLAS, or compile the model without library calls",
            )
        return library

    def _sizes(self, symbols: tuple[int, ...]) -> Sizes:
        arena, *places = self._layout(*symbols)
        slices = tuple((begin, begin + size) for begin, size in zip(places[::2], places[1::2], strict=True))
        numbers = tuple(function(*symbols) for function in self._step_numbers)
        empty = [_is_empty(step, values) for step, values in zip(self.program.steps, numbers, strict=True)]
        return Sizes(symbols, arena, slices, numbers, order_steps(self.program, slices, empty))

    def calls(self, sizes: Sizes, addresses: Sequence[int], steps: Sequence[int] | None = None) -> list[Call]:
        """The calls of all steps, or of some; `addresses` are those of inputs, outputs and the arena."""
        chosen = range(len(self.program.steps)) if steps is None else steps
        return [self._call(number, sizes, addresses) for number in chosen]

    def _call(self, number: int, sizes: Sizes, addresses: Sequence[int]) -> Call:
        step = self.program.steps[number]
        numbers = sizes.numbers[number]
        references = [reference for reference, _ in accesses(step)]
        offsets = numbers[len(numbers) - len(references) :]
        pointers = [self._address(ref, off, sizes, addresses) for ref, off in zip(references, offsets, strict=True)]
        if isinstance(step, Copy):
            return CopyCall(destination=pointers[1], source=pointers[0], size=numbers[0])
        if isinstance(step, LibraryCall):
            config = dict(step.config)
            library = self._library(step)
            values = dict(zip(library.expressions(config), numbers, strict=False))
            return library.prepare(config, values.__getitem__, pointers)
        return self._launch(number, step, numbers, pointers)

    def _launch(self, number: int, step: Launch, numbers: Sequence[int], pointers: Sequence[int]) -> KernelCall:
        block = self._blocks[number]
        assert block is not None
        scalars, places = iter(numbers[4:]), iter(pointers)
        values = tuple(
            next(places) if isinstance(item, BufferArgument) else next(scalars) if _is_size(item) else float(item.value)
            for item in step.arguments
        )
        function, shared = self._functions[step.kernel], numbers[3]
        if shared > self._allowed.get(step.kernel, _STATIC_SHARED):
            self._driver.allow_shared(function, shared)
            self._allowed[step.kernel] = shared
        grid = (numbers[0], numbers[1], numbers[2])
        return KernelCall(function, grid, step.block, shared, values, step.pdl, block)

    def _address(self, reference: Reference, offset: int, sizes: Sizes, addresses: Sequence[int]) -> int:
        start = addresses[self._position(reference)]
        return start + offset + (sizes.slices[reference.index][0] if reference.place == "slice" else 0)


def _is_size(argument: ScalarArgument) -> bool:
    return argument.type in ("i32", "i64")


def _offsets(step: Step) -> list[str]:
    return [reference.offset for reference, _ in accesses(step)]


def _is_empty(step: Step, numbers: Sequence[int]) -> bool:
    if isinstance(step, Launch):
        return 0 in numbers[:3]
    return isinstance(step, Copy) and numbers[0] == 0
