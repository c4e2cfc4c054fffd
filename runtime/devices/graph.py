"""Programs as replayed graphs: one executable for addresses in use, repointed when addresses change, one arena a
stream.

Every step of the program is a node that we added ourselves, so a changed pointer, grid or scalar is one node update.
A library call is a child graph captured on a private stream. When the caller's stream is being captured, the steps
are issued instead.
"""

from __future__ import annotations

import itertools
import threading
import weakref
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

from ..artifact import LibraryCall
from .device import Memory, Run
from .driver import CopyCall, Driver, KernelCall, LibraryInvocation
from .replay import Graph, Key, Ready, StreamState
from .resolve import Resolver, Sizes

ARENA_ALIGNMENT = 256
_MAXIMUM_STREAMS = 4
_MAXIMUM_CHILDREN = 64


class GraphExecutable:
    """A loaded program on a device with graphs. All work on its state happens under one lock."""

    def __init__(self, resolver: Resolver, driver: Driver, capacity: int = 8) -> None:
        self.resolver = resolver
        self.driver = driver
        self.lock = threading.RLock()
        self.ticks = itertools.count(1)
        self._capacity = capacity
        self._users = resolver.users()
        self._streams: OrderedDict[int, StreamState] = OrderedDict()
        self._children: OrderedDict[LibraryInvocation, Any] = OrderedDict()
        self._calls_libraries = any(isinstance(step, LibraryCall) for step in resolver.program.steps)
        self._warm: set[tuple[int, ...]] = set()
        self._side_stream = 0
        weakref.finalize(self, _destroy_all, driver, self._streams, self._children).atexit = False

    def bind(self, pointers: Sequence[int], changing: Sequence[int], memory: Memory) -> GraphBinding:
        """See device.py."""
        return GraphBinding(self, tuple(pointers), tuple(changing), memory)

    def issue(self, sizes: Sizes, addresses: Sequence[int], stream: int) -> None:
        """Launch every step in order on the stream."""
        after_kernel = False
        for call in self.resolver.calls(sizes, addresses):
            if call.empty:
                continue
            if isinstance(call, KernelCall):
                self.driver.launch_kernel(call, stream, after_kernel)
            elif isinstance(call, CopyCall):
                self.driver.copy(call, stream)
            else:
                call.enqueue(stream)
            after_kernel = isinstance(call, KernelCall)

    def issue_captured(self, sizes: Sizes, addresses: Sequence[int], memory: Memory, stream: int) -> None:
        """Issue into a stream that the caller captures, with an arena of the capture's own.

        The owner may go at once: memory that an allocator gives during a capture stays reserved for the captured graph.
        """
        owner, start = memory(sizes.arena_bytes + ARENA_ALIGNMENT)
        self.issue(sizes, (*addresses, _aligned(start)), stream)
        del owner

    def prepare(self, sizes: Sizes, addresses: Sequence[int], memory: Memory, table: Ready, key: Key) -> Graph | None:
        """A graph that points to these addresses, entered in `table`; None when the call was issued directly.

        The first call of a size with library calls is issued: it lets the library load what a capture must not load.
        """
        state = self._state(key[0], sizes, memory)
        places = (*addresses, state.arena)
        if self._calls_libraries and sizes.symbols not in self._warm:
            self.issue(sizes, places, key[0])
            self._warm.add(sizes.symbols)
            return None
        graph = self._choose(state, sizes)
        if graph is not None:
            graph = self._repoint(state, graph, sizes, places)
        if graph is None:
            graph = self._build(sizes, places)
            state.graphs.append(graph)
        graph.claim(table, key)
        return graph

    def _state(self, stream: int, sizes: Sizes, memory: Memory) -> StreamState:
        state = self._streams.get(stream)
        if state is None:
            while len(self._streams) >= _MAXIMUM_STREAMS:
                _, oldest = self._streams.popitem(last=False)
                for graph in oldest.graphs:
                    self._discard(graph)
            state = self._streams[stream] = StreamState()
        self._streams.move_to_end(stream)
        if state.capacity < sizes.arena_bytes or state.owner is None:
            for graph in state.graphs:  # they point into the arena that goes now
                graph.release()
            state.owner, start = memory(sizes.arena_bytes + ARENA_ALIGNMENT)
            state.arena, state.capacity = _aligned(start), sizes.arena_bytes
        return state

    def _choose(self, state: StreamState, sizes: Sizes) -> Graph | None:
        """A graph to repoint: one that no call finds any more, else the least recently used when there are many."""
        fitting = [graph for graph in state.graphs if graph.sizes is not None and graph.sizes.edges == sizes.edges]
        unused = [graph for graph in fitting if graph.free]
        if unused:
            return min(unused, key=lambda graph: graph.used)
        if len(state.graphs) < self._capacity:
            return None
        if fitting:
            return min(fitting, key=lambda graph: graph.used)
        oldest = min(state.graphs, key=lambda graph: graph.used)
        state.graphs.remove(oldest)
        self._discard(oldest)
        return None

    def _repoint(self, state: StreamState, graph: Graph, sizes: Sizes, places: tuple[int, ...]) -> Graph | None:
        """Update the nodes that differ; None when a library call needs other nodes (the graph is dropped then)."""
        graph.release()
        done = False
        try:
            done = self._update(graph, sizes, places)
        finally:
            if not done:  # half updated
                state.graphs.remove(graph)
                self._discard(graph)
        return graph if done else None

    def _update(self, graph: Graph, sizes: Sizes, places: tuple[int, ...]) -> bool:
        steps: Sequence[int] = range(len(graph.calls))
        if graph.sizes is sizes:
            moved = [at for at, (a, b) in enumerate(zip(graph.addresses, places, strict=True)) if a != b]
            steps = sorted({step for position in moved for step in self._users[position]})
        for step, call in zip(steps, self.resolver.calls(sizes, places, steps), strict=True):
            if call == graph.calls[step]:
                continue
            if call.empty:
                pass
            elif isinstance(call, KernelCall):
                self.driver.set_kernel(graph.executable, graph.nodes[step], call)
            elif isinstance(call, CopyCall):
                self.driver.set_copy(graph.executable, graph.nodes[step], call)
            elif not self.driver.set_child(graph.executable, graph.nodes[step], self._child(call)):
                return False
            graph.calls[step] = call
        graph.sizes, graph.addresses = sizes, places
        return True

    def _build(self, sizes: Sizes, places: tuple[int, ...]) -> Graph:
        driver, edges = self.driver, sizes.edges
        calls = self.resolver.calls(sizes, places)
        handle = driver.create_graph()
        executable = None
        try:
            nodes: list[Any] = []
            for step, call in enumerate(calls):
                after = [nodes[earlier] for earlier in edges.before[step]]
                if call.empty:
                    nodes.append(driver.add_empty(handle, after))
                elif isinstance(call, KernelCall):
                    nodes.append(driver.add_kernel(handle, after, call, edges.programmatic[step]))
                elif isinstance(call, CopyCall):
                    nodes.append(driver.add_copy(handle, after, call))
                else:
                    nodes.append(driver.add_child(handle, after, self._child(call)))
            executable = driver.instantiate(handle)
        finally:
            if executable is None:
                driver.destroy_graph(handle)
        graph = Graph(handle, executable, nodes, calls)
        graph.sizes, graph.addresses = sizes, places
        return graph

    def _child(self, call: LibraryInvocation) -> Any:
        """The captured graph of a library call; the last ones are kept."""
        child = self._children.get(call)
        if child is None:
            if not self._side_stream:
                self._side_stream = self.driver.create_stream()
            child = self.driver.capture(self._side_stream, call.enqueue)
            while len(self._children) >= _MAXIMUM_CHILDREN:
                self.driver.destroy_graph(self._children.popitem(last=False)[1])
            self._children[call] = child
        self._children.move_to_end(call)
        return child

    def _discard(self, graph: Graph) -> None:
        graph.release()
        self.driver.destroy_executable(graph.executable)
        self.driver.destroy_graph(graph.graph)


class GraphBinding:
    """A program whose unchanging buffers are known."""

    def __init__(
        self, owner: GraphExecutable, pointers: tuple[int, ...], changing: tuple[int, ...], memory: Memory
    ) -> None:
        self._owner = owner
        self._pointers = pointers
        self._changing = changing
        self._memory = memory

    def _addresses(self, moved: Sequence[int]) -> list[int]:
        addresses = list(self._pointers)
        for position, address in zip(self._changing, moved, strict=True):
            addresses[position] = address
        return addresses

    def specialise(self, symbols: tuple[int, ...]) -> Run:
        """A function of (stream, *pointers); a call with known addresses is one lookup and one launch."""
        owner, memory, addresses = self._owner, self._memory, self._addresses
        driver, lock, ticks = owner.driver, owner.lock, owner.ticks
        enter, leave, is_capturing, launch = driver.enter, driver.leave, driver.is_capturing, driver.launch_graph
        with lock:
            sizes = owner.resolver.sizes(symbols)
        ready = Ready()

        def run(stream: int, *moved: int) -> None:
            key = (stream, moved)
            with lock:
                entered = enter()
                try:
                    if is_capturing(stream):
                        owner.issue_captured(sizes, addresses(moved), memory, stream)
                        return
                    graph = ready.get(key)
                    if graph is None:
                        graph = owner.prepare(sizes, addresses(moved), memory, ready, key)
                        if graph is None:
                            return
                    graph.used = next(ticks)
                    launch(graph.executable, stream)
                finally:
                    if entered:
                        leave()

        return run


def _aligned(address: int) -> int:
    return address + -address % ARENA_ALIGNMENT


def _destroy_all(driver: Driver, streams: OrderedDict[int, StreamState], children: OrderedDict[Any, Any]) -> None:
    graphs = [graph for state in streams.values() for graph in state.graphs]
    if not graphs and not children:
        return
    entered = driver.enter()
    try:
        for graph in graphs:
            driver.destroy_executable(graph.executable)
            driver.destroy_graph(graph.graph)
        for child in children.values():
            driver.destroy_graph(child)
    finally:
        if entered:
            driver.leave()
