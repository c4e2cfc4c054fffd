"""The only reader of the environment. One table, at most ten variables; every one has an option of the tools that
wins over it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from .errors import ConfigurationError


@dataclass(frozen=True, slots=True)
class Variable:
    """One variable of the environment, for the documentation and for errors."""

    name: str
    default: str
    meaning: str


VARIABLES = (
    Variable("ALBUMEN_CACHE_DIR", "~/.cache/albumen", "folder of the caches (XDG_CACHE_HOME moves the default)"),
    Variable("ALBUMEN_CACHE_LIMIT", "4G", "size from which the least recently used cache entries go; K, M, G, T"),
    Variable("ALBUMEN_THREADS", "the cores this process may use", "threads of one call of a program of target c"),
    Variable("ALBUMEN_JOBS", "the cores this process may use", "compiler processes at a time"),
    Variable("ALBUMEN_CC", "cc, gcc or clang on PATH", "the C compiler"),
    Variable("ALBUMEN_DEVICE", "the first that fits the artifact", "device of albumen.load: cpu, cuda, cuda:1, ..."),
    Variable(
        "ALBUMEN_BLAS", "numpy", "matmul function lent to C programs: numpy (its OpenBLAS), off, or a library's path"
    ),
    Variable("ALBUMEN_DUMP_IR", "off", "folder that gets the IR of every stage of every compilation"),
)


@dataclass(frozen=True, slots=True)
class Configuration:
    """The values of one moment; None where the default depends on what is found later."""

    cache_dir: Path
    cache_limit: int
    threads: int
    jobs: int
    cc: str | None
    device: str | None
    blas: str
    dump_ir: Path | None


def configuration(environment: Mapping[str, str] | None = None) -> Configuration:
    """Read the environment now; raises ConfigurationError for a value that means nothing. An empty value counts as
    unset.
    """
    given = {name: value for name, value in (os.environ if environment is None else environment).items() if value}
    cores = available_cores()
    dump = given.get("ALBUMEN_DUMP_IR")
    return Configuration(
        cache_dir=_cache_dir(given),
        cache_limit=_size(given, "ALBUMEN_CACHE_LIMIT", 4 << 30),
        threads=_count(given, "ALBUMEN_THREADS", cores),
        jobs=_count(given, "ALBUMEN_JOBS", cores),
        cc=given.get("ALBUMEN_CC"),
        device=given.get("ALBUMEN_DEVICE"),
        blas=given.get("ALBUMEN_BLAS", "numpy"),
        dump_ir=None if dump in (None, "off") else Path(dump).expanduser(),
    )


def available_cores() -> int:
    """The cores that this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return max(1, len(os.sched_getaffinity(0)))
    return os.cpu_count() or 1


def _cache_dir(given: Mapping[str, str]) -> Path:
    if "ALBUMEN_CACHE_DIR" in given:
        return Path(given["ALBUMEN_CACHE_DIR"]).expanduser()
    if "XDG_CACHE_HOME" in given:
        return Path(given["XDG_CACHE_HOME"]) / "albumen"
    home = Path(given["HOME"]) if "HOME" in given else Path.home()
    return home / ".cache" / "albumen"


def _count(given: Mapping[str, str], name: str, default: int) -> int:
    text = given.get(name)
    if text is None:
        return default
    if not text.isdecimal() or not 1 <= int(text) <= 4096:
        raise ConfigurationError(f"{name} is {text!r}", hint="set it to a number from 1 to 4096, or unset it")
    return int(text)


def _size(given: Mapping[str, str], name: str, default: int) -> int:
    text = given.get(name)
    if text is None:
        return default
    match = re.fullmatch(r"(\d+)([KMGT]?)", text.upper())
    if match is None:
        raise ConfigurationError(f"{name} is {text!r}", hint="set it to bytes with an optional K, M, G or T, like 500M")
    return int(match[1]) << (10 * " KMGT".index(match[2] or " "))
