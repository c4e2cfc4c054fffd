"""One instantiated graph, where it points now, and the table by which calls find it again."""

from __future__ import annotations

import weakref
from typing import Any

from .driver import Call
from .resolve import Sizes

Key = tuple[int, tuple[int, ...]]
"""(stream, changing addresses)."""


class Ready(dict[Key, "Graph"]):
    """(stream, changing addresses) -> graph that points there; watched weakly by the graphs in it."""

    __slots__ = ("__weakref__",)


class Graph:
    """One instantiated graph and where it points now."""

    def __init__(self, graph: Any, executable: Any, nodes: list[Any], calls: list[Call]) -> None:
        self.graph = graph
        self.executable = executable
        self.nodes = nodes
        self.calls = calls
        self.sizes: Sizes | None = None
        self.addresses: tuple[int, ...] = ()
        self.used = 0
        self._table: weakref.ref[Ready] | None = None
        self._key: Key = (0, ())

    def claim(self, table: Ready, key: Key) -> None:
        """Enter the table; `release` leaves it."""
        table[key] = self
        self._table, self._key = weakref.ref(table), key

    def release(self) -> None:
        """Leave the table, so that no call finds this graph by its old addresses."""
        table = self._table() if self._table is not None else None
        if table is not None and table.get(self._key) is self:
            del table[self._key]
        self._table = None

    @property
    def free(self) -> bool:
        """Whether no call can find it any more."""
        return self._table is None or self._table() is None


class StreamState:
    """The arena and the graphs of one stream; its launches are in order, so they may share the arena."""

    def __init__(self) -> None:
        self.owner: object = None
        self.arena = 0
        self.capacity = 0
        self.graphs: list[Graph] = []
