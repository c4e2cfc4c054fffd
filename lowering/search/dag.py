"""Choosing one member of each class of an e-graph: the cheapest program, each value counted once, without cycles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

Class = int


@dataclass(frozen=True)
class Node:
    """A member of a class: its cost, and the classes that it takes."""

    cost: float
    operands: tuple[Class, ...]


EPSILON = 1e-9


def select(classes: Mapping[Class, Sequence[Node]], roots: Sequence[Class]) -> dict[Class, int]:
    """The chosen member of every class that the roots need, as its position in the class.

    Costs are positive. Each class counts once however often it is used; where that greedy choice would be cyclic, the
    choice by the cost of trees, which cannot be, is taken.

    Raises:
        ValueError: a root has no finite program.
    """
    for choice in (_cheapest_dags(classes), _cheapest_trees(classes)):
        found = _reachable(classes, choice, roots)
        if found is not None:
            return found
    raise ValueError("a class has no member that can be computed")


def _users(classes: Mapping[Class, Sequence[Node]]) -> dict[Class, list[Class]]:
    users: dict[Class, dict[Class, None]] = {c: {} for c in classes}
    for c, nodes in classes.items():
        for node in nodes:
            for operand in node.operands:
                users[operand][c] = None
    return {c: list(found) for c, found in users.items()}


def _cheapest_dags(classes: Mapping[Class, Sequence[Node]]) -> dict[Class, int]:
    """For each class the member whose set of needed classes, each counted once, is cheapest so far."""
    users = _users(classes)
    totals: dict[Class, float] = {}
    chosen: dict[Class, int] = {}
    needs: dict[Class, dict[Class, float]] = {}
    work = dict.fromkeys(c for c, nodes in classes.items() if any(not n.operands for n in nodes))
    while work:
        c = next(iter(work))
        del work[c]
        for position, node in enumerate(classes[c]):
            if any(o not in totals for o in node.operands):
                continue
            need: dict[Class, float] = {}
            for operand in node.operands:
                need.update(needs[operand])
            if c in need:
                continue
            need[c] = node.cost
            total = sum(need.values())
            if c not in totals or total < totals[c] - EPSILON:
                totals[c], chosen[c], needs[c] = total, position, need
                work.update(dict.fromkeys(users[c]))
    return chosen


def _cheapest_trees(classes: Mapping[Class, Sequence[Node]]) -> dict[Class, int]:
    """For each class the member with the cheapest tree; a child's tree is cheaper than its parent's, so no cycle."""
    users = _users(classes)
    totals: dict[Class, float] = {}
    chosen: dict[Class, int] = {}
    work = dict.fromkeys(classes)
    while work:
        c = next(iter(work))
        del work[c]
        for position, node in enumerate(classes[c]):
            if any(o not in totals for o in node.operands):
                continue
            total = node.cost + sum(totals[o] for o in node.operands)
            if c not in totals or total < totals[c] - EPSILON:
                totals[c], chosen[c] = total, position
                work.update(dict.fromkeys(users[c]))
    return chosen


def _reachable(
    classes: Mapping[Class, Sequence[Node]], chosen: Mapping[Class, int], roots: Sequence[Class]
) -> dict[Class, int] | None:
    """The part of the choice that the roots need, operands first, or None if it is cyclic or incomplete."""
    found: dict[Class, int] = {}
    open_classes: set[Class] = set()
    stack: list[tuple[Class, bool]] = [(root, False) for root in reversed(roots)]
    while stack:
        c, done = stack.pop()
        if done:
            open_classes.discard(c)
            found[c] = chosen[c]
        elif c not in found:
            if c in open_classes or c not in chosen:
                return None
            open_classes.add(c)
            stack.append((c, True))
            stack += [(o, False) for o in reversed(classes[c][chosen[c]].operands)]
    return found
