"""From an imported graph to a loaded program: options that follow from where the tensors lie, the artifact cache, the
pipeline."""

from __future__ import annotations

import hashlib
import importlib.util
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import torch

from ...dialects.errors import OptionError, UnsupportedError
from ...runtime.artifact import Artifact, cpu_features, read_artifact, write_artifact
from ...runtime.cache import DiskCache
from ...runtime.config import configuration
from ...runtime.errors import ArtifactError
from ..options import CompileOptions
from ..pipeline import compile_module
from ..progress import SILENT, Progress
from ..reproducer import module_text
from ..toolchain.object_cache import ObjectCache
from .function import ImportedGraph

TARGET_OF_DEVICE = {"cpu": "c", "cuda": "cuda", "mps": "metal"}


def device_of(tensors: Iterable[torch.Tensor]) -> torch.device:
    """The device that a program on these tensors runs on: theirs, or the accelerator's where some lie on the CPU, which
    are then moved there and back. No tensors at all means the CPU.

    Raises:
        UnsupportedError: there are several accelerators.
    """
    every = dict.fromkeys(t.device for t in tensors)
    found = [device for device in every if device.type != "cpu"]
    if len(found) > 1:
        names = [str(device) for device in every]
        raise UnsupportedError(
            "the program's tensors lie on several devices", names, hint="move them to one", stage="import"
        )
    return found[0] if found else torch.device("cpu")


def resolved_options(options: Mapping[str, Any] | None, device: torch.device) -> CompileOptions:
    """The options with the defaults that the device and the environment give.

    Raises:
        OptionError: an unknown option, or a target that does not run where the tensors lie.
    """
    given = dict(options or {})
    natural = TARGET_OF_DEVICE.get(device.type)
    if natural is None:
        raise OptionError(f"tensors on {device} have no target", hint=f"move them to {' or '.join(TARGET_OF_DEVICE)}")
    settings = configuration()
    given.setdefault("target", natural)
    if given["target"] == "cuda" and "libraries" not in given:
        given["libraries"] = available_libraries()
    if given["target"] == "cuda" and "matmul_precision" not in given:
        given["matmul_precision"] = matmul_precision()
    if not given.get("compiler"):
        given["compiler"] = settings.cc or ""
    if not given.get("dump_ir"):
        given["dump_ir"] = str(settings.dump_ir or "")
    chosen = CompileOptions.from_mapping(given)
    if chosen.target != natural:
        raise OptionError(
            f"target {chosen.target} does not run where the tensors lie ({device})", hint=f"use target {natural}"
        )
    if chosen.target == "cuda" and not chosen.arch:
        return replace(chosen, arch=cuda_architecture(device))
    return chosen


def available_libraries() -> tuple[str, ...]:
    """The library calls that programs on a GPU of this machine may make; the cost model chooses where."""
    return ("kernel.call_matmul",) if importlib.util.find_spec("nvmath") is not None else ()


def matmul_precision() -> str:
    """What `torch.set_float32_matmul_precision` allows, on which dynamo guards. A setting through
    `torch.backends.cuda.matmul.fp32_precision` has no guard and allows nothing.
    """
    try:
        return torch.get_float32_matmul_precision()
    except RuntimeError:  # both ways to set it were used, after which torch refuses to tell
        return "highest"


def cuda_architecture(device: torch.device) -> str:
    """The architecture of a CUDA device; Hopper and later have a name with the features that only they have."""
    major, minor = torch.cuda.get_device_capability(device)
    return f"sm_{major}{minor}{'a' if major >= 9 else ''}"


def compile_imported(
    imported: ImportedGraph,
    options: CompileOptions,
    progress: Progress = SILENT,
    cache: ObjectCache | None = None,
) -> Artifact:
    """The artifact of an imported graph without its weights, from the cache if it was compiled before.

    A dump of the IR needs the stages, so it neither reads nor misses the cache.
    """
    if cache is None:
        settings = configuration()
        cache = DiskCache(settings.cache_dir, settings.cache_limit)
    key = _cache_key(imported, options)
    if not options.dump_ir:
        found = _cached(cache, key)
        if found is not None:
            return found
    artifact = compile_module(imported.module, options, progress, cache)
    _store(cache, key, artifact)
    return artifact


def _cache_key(imported: ImportedGraph, options: CompileOptions) -> str:
    text = module_text(imported.module, locations=False)
    machine = " ".join(cpu_features()) if options.target == "c" else ""
    parts = (text, options.digest, source_digest(), machine)
    return "artifact " + hashlib.sha256("\0".join(parts).encode()).hexdigest()


@lru_cache(maxsize=1)
def source_digest() -> str:
    """A hash of Albumen's own code, so that no other version's artifact is ever taken."""
    root = Path(__file__).resolve().parents[2]
    digest = hashlib.sha256()
    for room in ("dialects", "transforms", "lowering", "runtime"):
        for path in sorted((root / room).rglob("*")):
            if path.suffix in (".py", ".h"):
                digest.update(str(path.relative_to(root)).encode())
                digest.update(path.read_bytes())
    return digest.hexdigest()


def _cached(cache: ObjectCache, key: str) -> Artifact | None:
    data = cache.get(key)
    if data is None:
        return None
    with tempfile.NamedTemporaryFile(prefix="albumen-", suffix=".alb") as file:
        file.write(data)
        file.flush()
        try:
            return read_artifact(file.name)
        except ArtifactError:
            return None  # written by another version of the format; the new one takes its place


def _store(cache: ObjectCache, key: str, artifact: Artifact) -> None:
    with tempfile.TemporaryDirectory(prefix="albumen-") as folder:
        path = Path(folder) / "program.alb"
        write_artifact(path, artifact)
        cache.put(key, path.read_bytes())
