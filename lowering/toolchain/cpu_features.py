"""The instruction-set features of this machine's processor: objects built for it run only where all of them exist."""

from __future__ import annotations

import functools
import platform
import subprocess
from pathlib import Path

_CPUINFO = Path("/proc/cpuinfo")


def _linux_features() -> tuple[str, ...]:
    for line in _CPUINFO.read_text(errors="replace").splitlines():
        name, _, value = line.partition(":")
        if name.strip() in ("flags", "Features"):
            return tuple(sorted(set(value.split())))
    return ()


def _darwin_features() -> tuple[str, ...]:
    listing = subprocess.run(
        ["sysctl", "hw.optional", "machdep.cpu.features"], capture_output=True, text=True, check=False
    )
    found: set[str] = set()
    for line in listing.stdout.splitlines():
        name, _, value = line.partition(":")
        if name.startswith("hw.optional.") and value.strip() == "1":
            found.add(name.removeprefix("hw.optional."))
        elif name.startswith("machdep."):
            found.update(value.lower().split())
    return tuple(sorted(found))


@functools.cache
def cpu_features() -> tuple[str, ...]:
    """The architecture, then the features in alphabetical order; the architecture alone where no more is known."""
    features: tuple[str, ...] = ()
    if _CPUINFO.exists():
        features = _linux_features()
    elif platform.system() == "Darwin":
        features = _darwin_features()
    return (platform.machine(), *features)
