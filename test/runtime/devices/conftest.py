"""A recording driver, and programs for it: x -> k0 -> arena -> k1 (with w) -> arena -> k2 -> y."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from albumen.runtime.artifact import (
    BufferArgument,
    Copy,
    HostProgram,
    Input,
    Kernel,
    Launch,
    LibraryCall,
    Mode,
    Output,
    Place,
    Reference,
    ScalarArgument,
    Slice,
    Symbol,
)
from albumen.runtime.devices.driver import CopyCall, KernelCall, LibraryInvocation
from albumen.runtime.devices.graph import GraphBinding, GraphExecutable
from albumen.runtime.devices.resolve import Resolver
from albumen.runtime.errors import DeviceError

DIGEST = "0" * 64
X, W, Y = 0x1000, 0x2000, 0x3000


class FakeDriver:
    """Executes nothing; `log` holds what was asked, `ran` what launches did (with the values the nodes have then)."""

    def __init__(self) -> None:
        self.log: list[tuple[Any, ...]] = []
        self.ran: list[tuple[Any, ...]] = []
        self.capturing: set[int] = set()
        self.same_topology = True
        self.fail = ""
        self.graphs: dict[int, list[list[Any]]] = {}
        self.executables: dict[int, list[list[Any]]] = {}
        self.edges: dict[int, list[tuple[int, ...]]] = {}
        self.entered = 0
        self._numbers = iter(range(1, 100_000))

    def names(self) -> list[str]:
        return [entry[0] for entry in self.log]

    def note(self, name: str, *facts: Any) -> None:
        if self.fail == name:
            raise DeviceError(f"{name}: CUDA_ERROR_INVALID_VALUE: invalid argument", call=name)
        self.log.append((name, *facts))

    def enter(self) -> bool:
        self.entered += 1
        return True

    def leave(self) -> None:
        self.entered -= 1

    def is_capturing(self, stream: int) -> bool:
        return stream in self.capturing

    def launch_kernel(self, call: KernelCall, stream: int, after_kernel: bool) -> None:
        self.note("launch_kernel", call.function, stream, call.pdl and after_kernel)
        self.ran.append((call.function, call.grid, call.values))

    def copy(self, call: CopyCall, stream: int) -> None:
        self.note("copy", stream)
        self.ran.append(("copy", call.destination, call.source, call.size))

    def capture(self, stream: int, enqueue: Callable[[int], None]) -> Any:
        self.note("capture", stream)
        before = len(self.ran)
        enqueue(stream)
        content = self.ran[before:]
        del self.ran[before:]
        return tuple(content)

    def create_graph(self) -> Any:
        graph = next(self._numbers)
        self.note("create_graph", graph)
        self.graphs[graph], self.edges[graph] = [], []
        return graph

    def destroy_graph(self, graph: Any) -> None:
        self.note("destroy_graph", graph)
        self.graphs.pop(graph, None)

    def _add(self, name: str, graph: int, after: Sequence[int], content: Any, *facts: Any) -> int:
        self.note(name, *facts)
        self.graphs[graph].append([content])
        self.edges[graph].append(tuple(after))
        return len(self.graphs[graph]) - 1

    def add_kernel(self, graph: Any, after: Sequence[Any], call: KernelCall, programmatic: bool) -> Any:
        return self._add("add_kernel", graph, after, (call.function, call.grid, call.values), programmatic)

    def add_copy(self, graph: Any, after: Sequence[Any], call: CopyCall) -> Any:
        return self._add("add_copy", graph, after, ("copy", call.destination, call.source, call.size))

    def add_child(self, graph: Any, after: Sequence[Any], child: Any) -> Any:
        return self._add("add_child", graph, after, child)

    def add_empty(self, graph: Any, after: Sequence[Any]) -> Any:
        return self._add("add_empty", graph, after, None)

    def instantiate(self, graph: Any) -> Any:
        executable = next(self._numbers)
        self.note("instantiate", executable)
        self.executables[executable] = [list(node) for node in self.graphs[graph]]
        return executable

    def destroy_executable(self, executable: Any) -> None:
        self.note("destroy_executable", executable)
        del self.executables[executable]

    def set_kernel(self, executable: Any, node: Any, call: KernelCall) -> None:
        self.note("set_kernel", node)
        self.executables[executable][node] = [(call.function, call.grid, call.values)]

    def set_copy(self, executable: Any, node: Any, call: CopyCall) -> None:
        self.note("set_copy", node)
        self.executables[executable][node] = [("copy", call.destination, call.source, call.size)]

    def set_child(self, executable: Any, node: Any, child: Any) -> bool:
        self.note("set_child", node)
        if self.same_topology:
            self.executables[executable][node] = [child]
        return self.same_topology

    def launch_graph(self, executable: Any, stream: int) -> None:
        self.note("launch_graph", stream)
        for (content,) in self.executables[executable]:
            if content is not None:
                self.ran.extend(content if content and isinstance(content[0], tuple) else [content])

    def allow_shared(self, function: Any, size: int) -> None:
        self.note("allow_shared", function, size)

    def create_stream(self) -> int:
        return 777


class FakeLibrary:
    """A library that records its calls through the driver."""

    def __init__(self, driver: FakeDriver) -> None:
        self._driver = driver

    def expressions(self, config: Mapping[str, str]) -> tuple[str, ...]:
        return ("m",)

    def prepare(
        self, config: Mapping[str, str], sizes: Callable[[str], int], pointers: Sequence[int]
    ) -> LibraryInvocation:
        m = sizes("m")
        content = ("matmul", m, tuple(pointers))
        return LibraryInvocation("lib", (("m", m),), tuple(pointers), lambda stream: self._driver.ran.append(content))


class Arena:
    """A caller's allocator that counts."""

    def __init__(self) -> None:
        self.sizes: list[int] = []

    def __call__(self, size: int) -> tuple[object, int]:
        self.sizes.append(size)
        return object(), 0x100000 * len(self.sizes) + 8


def buffer(place: Place, index: int, mode: Mode, offset: str = "0") -> BufferArgument:
    return BufferArgument(Reference(place, index, offset), mode)


def launch(kernel: str, *arguments: BufferArgument | ScalarArgument, grid: str = "s", pdl: bool = False) -> Launch:
    return Launch(kernel, (grid, "1", "1"), (128, 1, 1), arguments, pdl=pdl)


def chain(steps: Sequence[Any] | None = None, slices: Sequence[Slice] | None = None) -> HostProgram:
    """x -> k0 -> arena -> k1 (with w) -> arena -> k2 -> y."""
    default = (
        launch("k0", buffer("input", 0, "read"), buffer("slice", 0, "write"), ScalarArgument("s*4", "i32")),
        launch(
            "k1", buffer("slice", 0, "read"), buffer("input", 1, "read", "16"), buffer("slice", 1, "write"), pdl=True
        ),
        launch("k2", buffer("slice", 1, "read"), buffer("output", 0, "write"), pdl=True),
    )
    chosen = tuple(default if steps is None else steps)
    names = sorted({step.kernel for step in chosen if isinstance(step, Launch)})
    layouts = {step.kernel: step.arguments for step in chosen if isinstance(step, Launch)}
    kernels = tuple(
        Kernel(
            name,
            "cuda",
            name,
            tuple("ptr" if isinstance(item, BufferArgument) else item.type for item in layouts[name]),
            DIGEST,
            DIGEST,
        )
        for name in names
    )
    return HostProgram(
        target="cuda",
        arch="sm_90a",
        symbols=(Symbol("s", 0, 100, 1, 0, 0),),
        inputs=(
            Input("x", "f32", ("s", "4"), ("4", "1"), 16),
            Input("w", "f32", ("4",), ("1",), 16, role="parameter"),
        ),
        outputs=(Output("y", "f32", ("s", "4"), ("4", "1")),),
        arena_bytes="s*64",
        slices=tuple(slices if slices is not None else (Slice("0", "s*16"), Slice("s*16", "s*16"))),
        steps=chosen,
        kernels=kernels,
    )


class Rig:
    """A program on the recording driver."""

    def __init__(self, program: HostProgram | None = None, capacity: int = 8) -> None:
        self.driver = FakeDriver()
        self.arena = Arena()
        program = program or chain()
        functions = {kernel.name: kernel.name for kernel in program.kernels}
        resolver = Resolver(program, functions, {"lib": FakeLibrary(self.driver)}, self.driver)
        self.executable = GraphExecutable(resolver, self.driver, capacity)

    def bind(self, w: int = W) -> GraphBinding:
        return self.executable.bind([0, w, 0], [0, 2], self.arena)

    def since(self, mark: int) -> list[str]:
        return self.driver.names()[mark:]


BASE = 0x100100
"""The arena of the first allocation, aligned to 256."""


def expected_run(x: int = X, w: int = W, y: int = Y, s: int = 5, base: int = BASE) -> list[tuple[Any, ...]]:
    grid, second = (s, 1, 1), base + 16 * s
    return [("k0", grid, (x, base, 4 * s)), ("k1", grid, (base, w + 16, second)), ("k2", grid, (second, y))]


def with_library() -> HostProgram:
    call = LibraryCall(
        "lib", (("m", "s"),), (buffer("slice", 0, "read"), buffer("input", 1, "read"), buffer("slice", 1, "write"))
    )
    steps = list(chain().steps)
    copy = Copy(Reference("slice", 1), Reference("output", 0, "0"), "s*16")
    return chain([steps[0], call, copy])


def library_run(w: int = W, y: int = Y, s: int = 5) -> list[tuple[Any, ...]]:
    second = BASE + 16 * s
    return [
        ("k0", (s, 1, 1), (X, BASE, 4 * s)),
        ("matmul", s, (BASE, w, second)),
        ("copy", y, second, 16 * s),
    ]


def order(program: HostProgram, s: int = 4) -> tuple[tuple[int, ...], ...]:
    """The predecessors of every step."""
    functions = {kernel.name: kernel.name for kernel in program.kernels}
    return Resolver(program, functions, {}, FakeDriver()).sizes((s,)).edges.before


@pytest.fixture
def make_rig() -> Callable[..., Rig]:
    """Rig(program=None, capacity=8)."""
    return Rig


@pytest.fixture
def kit() -> Any:
    """The builders above, for tests (a test module cannot import this one)."""
    return SimpleNamespace(
        chain=chain,
        launch=launch,
        buffer=buffer,
        expected_run=expected_run,
        with_library=with_library,
        library_run=library_run,
        order=order,
        driver=FakeDriver,
    )
