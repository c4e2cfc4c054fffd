"""The disk cache: round trip, damage, eviction, two writers at once, a writer killed in the middle."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from albumen.runtime.cache import CacheWarning, DiskCache

WRITER = """
import sys
from albumen.runtime.cache import DiskCache
cache = DiskCache(sys.argv[1])
print("ready", flush=True)
size = int(sys.argv[2])
for turn in range(int(sys.argv[3])):
    for key in range(8):
        data = bytes([key]) * (size + turn)
        cache.put(f"key {key}", data)
        found = cache.get(f"key {key}")
        assert found is not None and set(found) == {key}, "mixed or missing content"
"""


def start(folder: Path, size: int, turns: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", WRITER, str(folder), str(size), str(turns)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def files(folder: Path) -> list[Path]:
    return [path for path in (folder / "objects").rglob("*") if path.is_file()]


def test_round_trip(tmp_path: Path) -> None:
    cache = DiskCache(tmp_path)
    assert cache.get("a") is None
    cache.put("a", b"")
    cache.put("b/../../c", b"two")
    assert cache.get("a") == b""
    assert DiskCache(tmp_path).get("b/../../c") == b"two"
    assert cache.statistics()[0] == 2
    cache.remove("a")
    assert cache.get("a") is None
    cache.clear()
    assert cache.statistics() == (0, 0)


@pytest.mark.parametrize("damage", ["flip", "truncate", "empty", "other"])
def test_damaged_entry_is_dropped(tmp_path: Path, damage: str) -> None:
    cache = DiskCache(tmp_path)
    cache.put("a", b"content")
    (path,) = files(tmp_path)
    content = path.read_bytes()
    replaced = {"flip": content[:-1] + b"?", "truncate": content[:-3], "empty": b"", "other": b"x" * 100}
    path.write_bytes(replaced[damage])
    assert cache.get("a") is None
    assert files(tmp_path) == []


def test_least_recently_used_goes(tmp_path: Path) -> None:
    cache = DiskCache(tmp_path)
    for key in range(4):
        cache.put(str(key), bytes(1000))
    old = time.time() - 7200
    for path in files(tmp_path):
        os.utime(path, (old, old))
    assert cache.get("1") is not None  # a read makes an old entry young
    small = DiskCache(tmp_path, limit=3000)
    small.put("new", bytes(1000))
    assert small.get("new") is not None
    assert small.get("1") is not None
    assert small.statistics()[0] == 2


def test_two_processes_write_the_same_keys(tmp_path: Path) -> None:
    writers = [start(tmp_path, 20_000, 10) for _ in range(2)]
    for writer in writers:
        _, error = writer.communicate(timeout=60)
        assert writer.returncode == 0, error
    assert DiskCache(tmp_path).statistics()[0] == 8


def test_killed_writer_leaves_no_half_entry(tmp_path: Path) -> None:
    writer = start(tmp_path, 4_000_000, 10_000)
    assert writer.stdout is not None
    writer.stdout.readline()
    deadline = time.monotonic() + 30
    while not files(tmp_path) and time.monotonic() < deadline:
        time.sleep(0.005)
    writer.send_signal(signal.SIGKILL)
    writer.communicate()
    cache = DiskCache(tmp_path)
    for key in range(8):
        found = cache.get(f"key {key}")
        assert found is None or (set(found) == {key} and len(found) >= 4_000_000)
    old = time.time() - 7200
    for path in files(tmp_path):
        if path.suffix == ".tmp":
            os.utime(path, (old, old))
    cache.put("later", b"x")
    assert all(path.suffix != ".tmp" for path in files(tmp_path))


def test_unusable_folder_warns_once_and_works_on(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    cache = DiskCache(tmp_path / "file" / "cache")
    with pytest.warns(CacheWarning, match="ALBUMEN_CACHE_DIR"):
        cache.put("a", b"x")
    cache.put("b", b"x")
    assert cache.get("a") is None
