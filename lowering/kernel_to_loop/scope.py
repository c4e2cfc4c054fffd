"""Where code is emitted: nested blocks, each with the index variables that its loops bind."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from xdsl.ir import Block, Operation, SSAValue


class Scope:
    """A block under construction inside that of `parent`.

    The op that will hold the block is added to the parent's block after the inner block is complete, so what is added
    to an outer scope meanwhile stands before it. Out of a `guard` (a branch) nothing is hoisted.
    """

    def __init__(self, block: Block, parent: Scope | None = None, guard: bool = False):
        self.block = block
        self.parent = parent
        self.guard = guard
        self.variables: dict[int, SSAValue] = {}
        self.memo: dict[Any, SSAValue] = {}
        self.depth: int = 0 if parent is None else parent.depth + 1
        self._where: dict[SSAValue, Scope] = {} if parent is None else parent._where

    def inner(self, block: Block, variables: Mapping[int, SSAValue] | None = None, guard: bool = False) -> Scope:
        """A scope for a block that will be nested in this one."""
        scope = Scope(block, self, guard)
        for number, value in (variables or {}).items():
            scope.variables[number] = named(value, f"d{number}")
            self._where[value] = scope
        return scope

    def bind(self, number: int, value: SSAValue) -> None:
        """From here on the index variable is this value, which must be known in this scope."""
        self.variables[number] = named(value, f"d{number}")
        self._where.setdefault(value, self)

    def add(self, op: Operation) -> SSAValue:
        """Appends the op and returns its result."""
        self.run(op)
        return op.results[0]

    def run(self, op: Operation) -> None:
        """Appends an op whose result, if it has one, is not needed here."""
        self.block.add_op(op)
        for result in op.results:
            self._where[result] = self

    @property
    def root(self) -> Scope:
        scope = self
        while scope.parent is not None:
            scope = scope.parent
        return scope

    def has(self, number: int) -> bool:
        """Whether an index variable is bound here or outside."""
        scope: Scope | None = self
        while scope is not None:
            if number in scope.variables:
                return True
            scope = scope.parent
        return False

    def variable(self, number: int) -> SSAValue:
        """The value of an index variable that is bound here or outside."""
        scope = self
        while number not in scope.variables:
            assert scope.parent is not None, f"d{number} is not bound"
            scope = scope.parent
        return scope.variables[number]

    def home(self, numbers: Iterable[int]) -> Scope:
        """The outermost scope in which all these index variables are bound."""
        wanted = tuple(numbers)
        scope = self
        while scope.parent is not None and not scope.guard and all(scope.parent.has(n) for n in wanted):
            scope = scope.parent
        return scope

    def of(self, values: Iterable[SSAValue]) -> Scope:
        """The outermost scope, at or around this one, in which all these values are known."""
        deepest = 0
        for value in values:
            owner = self._where.get(value)
            if owner is not None:
                deepest = max(deepest, owner.depth)
        scope = self
        while scope.parent is not None and not scope.guard and scope.parent.depth >= deepest:
            scope = scope.parent
        return scope

    def recall(self, key: Any) -> SSAValue | None:
        """What was remembered under a key here or outside."""
        scope: Scope | None = self
        while scope is not None:
            if key in scope.memo:
                return scope.memo[key]
            scope = scope.parent
        return None


def named(value: SSAValue, hint: str) -> SSAValue:
    """The value, with a name for readers unless it has one."""
    if value.name_hint is None:
        value.name_hint = hint
    return value
