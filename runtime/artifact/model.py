"""What a compiled program is, as plain frozen data: the content of `program.json`, and what plan-memory's
host.program means.

Sizes, strides, offsets, grids and scalars are texts in the closed grammar of runtime/expression.py over the
program's symbols. Shapes and strides count elements, offsets and sizes of the arena count bytes. `check.py` states
the invariants.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Role = Literal["input", "scalar", "parameter", "buffer", "constant"]
"""input: given at every call; scalar: a Python int given at every call, known to the program as a symbol;
parameter: a weight, bound once and rebound when its memory moved; buffer: the same, and the program may write it;
constant: a value that the compiler relied on, so its digest must match."""

Mode = Literal["read", "write", "update", "scratch"]
"""How a step uses a buffer: reads it, overwrites all it reads later, reads and writes it, or uses it as workspace."""

Place = Literal["input", "output", "slice"]


@dataclass(frozen=True, slots=True)
class Symbol:
    """A size known at call time: minimum <= value <= maximum (None: unbounded) and value % multiple_of == 0.

    Its value solves `extent(dim of input input_index) == inputs[input_index].shape[dim]`, an expression linear in
    this symbol alone (`s`, `2*s`, `s + 1`). dim == -1: the input has role scalar and is the value itself.
    """

    name: str
    minimum: int
    maximum: int | None
    multiple_of: int
    input_index: int
    dim: int


@dataclass(frozen=True, slots=True)
class Guard:
    """What must hold of the symbols beside their ranges: the value of `expression` == 0, >= 0 or (since 1.2) != 0.

    The kernels rely on it, so a call that breaks it is refused. `message` says it in words that name the symbols:
    "s must equal t*2".
    """

    expression: str
    relation: Literal["==", ">=", "!="]
    message: str


@dataclass(frozen=True, slots=True)
class Input:
    """A tensor that the caller owns.

    `align` is what the kernels assume of its address, in bytes. `mutated`: the program writes it. `digest` is the
    sha256 of its contiguous bytes for roles bound from the weights of the artifact, else None. `name` is unique.
    """

    name: str
    dtype: str
    shape: tuple[str, ...]
    strides: tuple[str, ...]
    align: int = 1
    role: Role = "input"
    mutated: bool = False
    digest: str | None = None


@dataclass(frozen=True, slots=True)
class Output:
    """A tensor given back to the caller.

    alias None: fresh memory that the steps write, 16-byte aligned (256 on cuda). alias i: a view of input i with
    this shape, these strides and `offset` elements from its start; it takes a place in the output order but no
    memory (and NULL in C).
    """

    name: str
    dtype: str
    shape: tuple[str, ...]
    strides: tuple[str, ...]
    alias: int | None = None
    offset: str = "0"


@dataclass(frozen=True, slots=True)
class Slice:
    """A piece of the arena: `bytes` bytes from `offset`. Slices of one moment may not overlap; of different moments
    they may.
    """

    offset: str
    bytes: str


@dataclass(frozen=True, slots=True)
class Reference:
    """A place in memory: input, output or slice number `index`, `offset` bytes from its start."""

    place: Place
    index: int
    offset: str = "0"


@dataclass(frozen=True, slots=True)
class BufferArgument:
    """A pointer passed to a step, and how the step uses what it points to."""

    reference: Reference
    mode: Mode


@dataclass(frozen=True, slots=True)
class ScalarArgument:
    """A number passed to a kernel by value: an expression, as i32 or i64 (or a literal, as f32 or f64)."""

    value: str
    type: Literal["i32", "i64", "f32", "f64"]


Argument = BufferArgument | ScalarArgument


@dataclass(frozen=True, slots=True)
class Launch:
    """One kernel launch. A grid with a 0 in it launches nothing. `shared_bytes` is dynamic shared memory.

    pdl: the kernel waits for its predecessor itself (grid dependency), so it may start before that one has ended.
    """

    kernel: str
    grid: tuple[str, str, str]
    block: tuple[int, int, int]
    arguments: tuple[Argument, ...]
    shared_bytes: str = "0"
    pdl: bool = False
    location: str = ""


@dataclass(frozen=True, slots=True)
class LibraryCall:
    """One call of a library, e.g. "cublaslt.matmul"; `config` is sorted by key, and its values mean what the callee
    says.

    Arguments keep the order that the callee defines (runtime/devices/cublaslt.py for cublaslt.matmul).
    """

    callee: str
    config: tuple[tuple[str, str], ...]
    arguments: tuple[BufferArgument, ...]
    location: str = ""


@dataclass(frozen=True, slots=True)
class Copy:
    """`bytes` bytes from source to destination, which do not overlap."""

    source: Reference
    destination: Reference
    bytes: str
    location: str = ""


Step = Launch | LibraryCall | Copy


@dataclass(frozen=True, slots=True)
class Kernel:
    """A compiled kernel: the blob that holds it and the function's name in it.

    `binary` and `source` are sha256 of blobs, `portable` that of a PTX for other architectures (or None).
    `parameters` are the types of the function's parameters in order: "ptr", "i32", "i64", "f32", "f64".
    """

    name: str
    language: Literal["c", "cuda", "metal"]
    symbol: str
    parameters: tuple[str, ...]
    source: str
    binary: str | None = None
    portable: str | None = None


@dataclass(frozen=True, slots=True)
class Entry:
    """The one shared object of a program of target c, with the function of runtime/abi.py.

    `command` rebuilds it: the arguments with "{source}" and "{output}" for the two paths. `cpu_features` is what the
    binary needs of the machine, as `cpu_features()` names it; a machine that lacks one recompiles `source` or refuses.
    """

    symbol: str
    source: str
    binary: str
    command: tuple[str, ...]
    cpu_features: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class HostProgram:
    """One launchable program.

    Steps run as if one after another, in order; independent ones may overlap (decided from the modes). For target c
    the steps describe what `entry` does and are not executed one by one. `requires` lists the features a reader must
    know. `guards` are checked, with the ranges of the symbols, when a call has new sizes (since version 1.1; an earlier
    file has none).
    """

    target: Literal["c", "cuda", "metal"]
    arch: str
    symbols: tuple[Symbol, ...]
    inputs: tuple[Input, ...]
    outputs: tuple[Output, ...]
    arena_bytes: str
    slices: tuple[Slice, ...] = ()
    steps: tuple[Step, ...] = ()
    kernels: tuple[Kernel, ...] = ()
    entry: Entry | None = None
    requires: tuple[str, ...] = ()
    guards: tuple[Guard, ...] = ()

    def blob_names(self) -> dict[str, str]:
        """sha256 -> name of the zip member, for every blob that the program refers to."""
        names: dict[str, str] = {}
        if self.entry is not None:
            names[self.entry.binary] = f"kernels/{self.entry.binary}.so"
            names[self.entry.source] = f"source/{self.entry.source}.c"
        for kernel in self.kernels:
            text, binary = _EXTENSION[kernel.language]
            names[kernel.source] = f"source/{kernel.source}.{text}"
            if kernel.binary is not None:
                names[kernel.binary] = f"kernels/{kernel.binary}.{binary}"
            if kernel.portable is not None:
                names[kernel.portable] = f"kernels/{kernel.portable}.ptx"
        return names


_EXTENSION = {"c": ("c", "so"), "cuda": ("cu", "cubin"), "metal": ("metal", "metallib")}
