"""A content-addressed cache on disk, shared by processes without locks.

An entry is written to a temporary file, flushed and renamed, so a reader sees a whole entry or none, whatever dies
when. Every read compares the stored sha256; an entry that is not what was written is dropped and counts as absent.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

_MAGIC = b"albumen1"
_HEADER = len(_MAGIC) + 32
_STALE_SECONDS = 3600.0
_PUTS_BETWEEN_SCANS = 64


class CacheWarning(UserWarning):
    """The cache folder cannot be written; work goes on without it."""


class DiskCache:
    """Bytes under text keys in `folder`; entries beyond `limit` bytes go, least recently used first."""

    folder: Path
    limit: int

    def __init__(self, folder: str | os.PathLike[str], limit: int = 4 << 30) -> None:
        self.folder = Path(folder)
        self.limit = limit
        self._puts = 0
        self._warned = False

    def _path(self, key: str) -> Path:
        name = hashlib.sha256(key.encode()).hexdigest()
        return self.folder / "objects" / name[:2] / name[2:]

    def get(self, key: str) -> bytes | None:
        """The bytes stored under `key`, or None."""
        path = self._path(key)
        try:
            content = path.read_bytes()
            age = time.time() - path.stat().st_mtime
        except FileNotFoundError:
            return None
        except OSError as error:
            self._warn(error)
            return None
        data = content[_HEADER:]
        if content[:_HEADER] != _MAGIC + hashlib.sha256(data).digest():
            self._drop(path)
            return None
        if age > _STALE_SECONDS:
            self._touch(path)
        return data

    def put(self, key: str, data: bytes) -> None:
        """Store bytes; the last writer of a key wins. A folder that cannot be written warns once and stores nothing."""
        path = self._path(key)
        name = ""
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            descriptor, name = tempfile.mkstemp(prefix="put-", suffix=".tmp", dir=path.parent)
            with os.fdopen(descriptor, "wb") as file:
                file.write(_MAGIC + hashlib.sha256(data).digest())
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.replace(name, path)
        except OSError as error:
            self._warn(error)
            if name:
                self._drop(Path(name))
            return
        if self._puts % _PUTS_BETWEEN_SCANS == 0:
            self._trim()
        self._puts += 1

    def remove(self, key: str) -> None:
        """Forget one entry."""
        self._drop(self._path(key))

    def clear(self) -> None:
        """Forget all entries."""
        shutil.rmtree(self.folder / "objects", ignore_errors=True)

    def statistics(self) -> tuple[int, int]:
        """(entries, bytes) now."""
        sizes = [size for _, _, size in self._entries()]
        return len(sizes), sum(sizes)

    def _entries(self) -> Iterator[tuple[float, Path, int]]:
        now = time.time()
        for path in (self.folder / "objects").glob("*/*"):
            try:
                facts = path.stat()
            except OSError:
                continue  # another process removed it meanwhile
            if path.suffix != ".tmp":
                yield facts.st_mtime, path, facts.st_size
            elif now - facts.st_mtime > _STALE_SECONDS:
                self._drop(path)

    def _trim(self) -> None:
        entries = sorted(self._entries())
        total = sum(size for _, _, size in entries)
        if total <= self.limit:
            return
        for _, path, size in entries[:-1]:
            if total <= self.limit * 3 // 4:
                break
            self._drop(path)
            total -= size

    def _drop(self, path: Path) -> None:
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            self._warn(error)

    def _touch(self, path: Path) -> None:
        try:
            os.utime(path)
        except FileNotFoundError:
            return  # another process dropped it meanwhile
        except OSError as error:
            self._warn(error)

    def _warn(self, error: OSError) -> None:
        if not self._warned:
            self._warned = True
            message = (
                f"cache folder {self.folder} is unusable ({error.strerror}); set ALBUMEN_CACHE_DIR to a writable folder"
            )
            warnings.warn(message, CacheWarning, stacklevel=3)
