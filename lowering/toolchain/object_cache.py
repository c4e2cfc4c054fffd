"""What the compilers cache their results in: bytes under the hash of everything that determines them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Protocol


class ObjectCache(Protocol):
    """A content-addressed store, handed in by the caller; the runtime's disk cache is one."""

    def get(self, key: str) -> bytes | None:
        """The bytes stored under `key`, or None."""
        ...

    def put(self, key: str, data: bytes) -> None:
        """Store `data` under `key`; readers see all of it or nothing."""
        ...


class MemoryCache:
    """A cache that lives as long as the object."""

    def __init__(self) -> None:
        self._objects: dict[str, bytes] = {}

    def get(self, key: str) -> bytes | None:
        return self._objects.get(key)

    def put(self, key: str, data: bytes) -> None:
        self._objects[key] = data


def content_key(kind: str, parts: Iterable[str | bytes]) -> str:
    """A hexadecimal key over `parts` in order; lengths are hashed too, so that no two lists of parts run together."""
    digest = hashlib.sha256(kind.encode())
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        digest.update(f"\0{len(data)}\0".encode())
        digest.update(data)
    return digest.hexdigest()
