"""What a graph returns: results of its program, views of them and of arguments, sizes, Python values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import sympy
import torch
from torch.fx import Node
from xdsl.ir import SSAValue

from ...dialects.sym.expr import Expr, constant
from .fx import traced, viewed
from .importer import GraphImporter, Returned
from .layout import memory_order
from .symbolic_float import Condition, FloatExpr, condition
from .unsupported import UnsupportedNodeError

Geometry = tuple[tuple[Expr, ...], tuple[Expr, ...], Expr]
"""Sizes, strides and start of a view."""


@dataclass(frozen=True)
class OutputSlot:
    """One value that the graph returns: result `result` of the program (memory order as for inputs), a number that
    follows from sizes, or a Python value.

    `alias` is the argument that eager's output shares memory with. `geometry` are the sizes, strides and start of the
    view that the output is of that argument, or without one of the result; None where it is the whole. With `apart`
    they are those of fresh memory with holes, into which the result is copied. A tensor lies on `device`.
    """

    result: int = -1
    order: tuple[int, ...] = ()
    size: Expr | FloatExpr | Condition | None = None
    value: Any = None
    alias: int | None = None
    geometry: Geometry | None = None
    apart: bool = False
    device: torch.device | None = None


class ReturnedValues:
    """Decides for each returned value where the caller finds it. `argument_of` gives the argument that a node is, if
    outputs may share its memory.

    Outputs that eager makes as views of one tensor share its memory here too. With `views_outside` only that tensor is
    a result of the program; else every output is one as well, for callers that know no views.
    """

    def __init__(
        self, importer: GraphImporter, argument_of: Callable[[Node], int | None], *, views_outside: bool = False
    ):
        self.importer = importer
        self.argument_of = argument_of
        self.views_outside = views_outside
        self.returned: list[Returned] = []
        self.orders: list[tuple[int, ...]] = []
        self._written: dict[Node, int] = {}
        self._unlike: set[Node] = set()  # of which a view is no view of the argument
        self._placed: dict[Node, int] = {}

    def add_mutation(self, node: Node, argument: int, order: Sequence[int], placeholder: Node) -> None:
        """The new contents of an argument, whose dims lie in memory in this order."""
        value = self.importer.b.permute(self.importer.values[node], order)
        self.returned.append(Returned(value, mutation=True, index=argument))
        self._written[node] = argument
        if self._strides(node) != self._strides(placeholder):
            self._unlike.add(node)

    def slots(self, nodes: Sequence[Any]) -> list[OutputSlot]:
        """Where the returned values are found, in order. Call after the mutations."""
        values = [self.importer.values[node] if isinstance(node, Node) else node for node in nodes]
        tensors = [node for node, value in zip(nodes, values, strict=True) if isinstance(value, SSAValue)]
        numbers = iter([] if self.views_outside else [self._add(node) for node in tensors])
        uses = Counter(self._base(node) for node in dict.fromkeys(tensors))
        slots: list[OutputSlot] = []
        for node, value in zip(nodes, values, strict=True):
            if isinstance(value, SSAValue):
                slots.append(replace(self._slot(node, next(numbers, -1), uses), device=traced(node).device))
            else:
                slots.append(self._number(node, value))
        return slots

    def _number(self, node: Any, value: Any) -> OutputSlot:
        if isinstance(value, Expr | FloatExpr):
            return OutputSlot(size=value)
        if not isinstance(value, sympy.Basic):
            return OutputSlot(value=value)
        try:
            return OutputSlot(size=condition(value, self.importer.symbols.lift))
        except UnsupportedNodeError as error:
            self.importer.failures.add(node, error.reason)
            return OutputSlot()

    def _slot(self, node: Node, number: int, uses: Counter[Node]) -> OutputSlot:
        """One tensor, which is result `number` of the program by itself, or none yet (-1)."""
        base = self._base(node)
        order = self._order(node)
        argument = self._written.get(base, self.argument_of(base))
        if argument is not None and (base is node or base not in self._unlike):
            geometry = None if base is node else self._geometry(node, base)
            return OutputSlot(number, order or _straight(node), alias=argument, geometry=geometry)
        whole = self._order(base)
        if base is not node and whole is not None:
            if self.views_outside and (uses[base] > 1 or order is None):
                return OutputSlot(self._place(base), whole, geometry=self._geometry(node, base))
            if not self.views_outside and base in self._placed:
                return OutputSlot(self._placed[base], whole, geometry=self._geometry(node, base))
        if order is not None or (base is not node and not self.views_outside):
            return OutputSlot(self._place(node), order or _straight(node))
        self._check_holes(node, uses[base])
        geometry = (self.importer.symbols.lift_all(traced(node).shape), self._strides(node), constant(0))
        return OutputSlot(self._place(node), _straight(node), geometry=geometry, apart=True)

    def _check_holes(self, node: Node, uses: int) -> None:
        """Notes a fresh tensor that is not dense, and cannot be made by a copy."""
        if any(stride.as_int() == 0 for stride in self._strides(node)):
            self.importer.failures.add(node, "is returned as a fresh tensor whose elements share memory")
        elif uses > 1:
            self.importer.failures.add(node, "is returned as one of several views of a fresh tensor that is not dense")

    def _place(self, node: Node) -> int:
        """The result of the program that is this tensor."""
        return self._placed[node] if node in self._placed else self._add(node)

    def _add(self, node: Node) -> int:
        order = self._order(node) or _straight(node)
        argument = self.argument_of(self._base(node))
        self.returned.append(Returned(self.importer.b.permute(self.importer.values[node], order), index=argument))
        self.orders.append(order)
        self._placed.setdefault(node, len(self.orders) - 1)
        return len(self.orders) - 1

    def _base(self, node: Node) -> Node:
        """The tensor that a node is a view of, itself if of none; what is written into an argument is one."""
        while node not in self._written:
            source = viewed(node)
            if source is None or traced(source).dtype != traced(node).dtype:
                break
            node = source
        return node

    def _geometry(self, node: Node, base: Node) -> Geometry:
        dims = self.importer.symbols.lift_all(traced(node).shape)
        return dims, self._strides(node), self._start(node) - self._start(base)

    def _start(self, node: Node) -> Expr:
        return self.importer.symbols.lift(traced(node).storage_offset())

    def _strides(self, node: Node) -> tuple[Expr, ...]:
        return self.importer.symbols.lift_all(traced(node).stride())

    def _order(self, node: Node) -> tuple[int, ...] | None:
        return memory_order(self.importer.symbols.lift_all(traced(node).shape), self._strides(node))


def _straight(node: Node) -> tuple[int, ...]:
    return tuple(range(traced(node).dim()))
