"""Each class's smallest term: an order of classes and members that no numbering and no insertion order can change."""

from __future__ import annotations

import hashlib
import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .snapshot import Class, Member, Snapshot

Rank = tuple[int, bytes]
"""Number of ops in a term, and a digest of it."""


@dataclass(frozen=True)
class Order:
    """The rank of each class's smallest term, and of the smallest term of each member."""

    classes: Mapping[Class, Rank]
    members: Mapping[Class, Sequence[tuple[Rank, Member]]]

    def in_order(self) -> list[Class]:
        """The classes by their smallest terms."""
        return sorted(self.classes, key=lambda c: self.classes[c])


def smallest_terms(snapshot: Snapshot, reachable: set[Class]) -> Order:
    """The order of the reachable classes. A term is larger than its operands, so each class is settled once, smallest
    first."""
    users: dict[Class, list[tuple[Class, Member]]] = {}
    missing: dict[tuple[Class, Member], int] = {}
    ranks: dict[Class, Rank] = {}
    found: dict[Class, list[tuple[Rank, Member]]] = {c: [] for c in reachable}
    heap: list[tuple[Rank, int, Class]] = []

    def offer(of: Class, member: Member) -> None:
        rank = _rank(member, snapshot, ranks)
        found[of].append((rank, member))
        heapq.heappush(heap, (rank, len(heap), of))

    for of in reachable:
        for member in snapshot.classes[of]:
            operands = dict.fromkeys(snapshot.class_operands(member))
            missing[of, member] = len(operands)
            for operand in operands:
                users.setdefault(operand, []).append((of, member))
            if not operands:
                offer(of, member)
    while heap:
        rank, _, of = heapq.heappop(heap)
        if of in ranks:
            continue
        ranks[of] = rank
        for user, member in users.get(of, ()):
            missing[user, member] -= 1
            if not missing[user, member]:
                offer(user, member)
    for members in found.values():
        members.sort(key=lambda pair: pair[0])
    return Order(ranks, found)


def _rank(member: Member, snapshot: Snapshot, ranks: Mapping[Class, Rank]) -> Rank:
    if member.constructor == "get":
        forms = [_rank(form, snapshot, ranks) for form in snapshot.tuples[member.operands[0]]]
        inner = [min(forms)]
    else:
        inner = [ranks[o] for o in member.operands]
    digest = hashlib.sha256("\x00".join((member.constructor, *member.texts)).encode())
    for _, part in inner:
        digest.update(part)
    return 1 + sum(size for size, _ in inner), digest.digest()
