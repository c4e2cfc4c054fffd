"""The pairs of the suite: every entry of torch's operator database with each of the element types that count."""

from __future__ import annotations

# pyright: basic
import hashlib
from collections.abc import Sequence
from functools import cache
from typing import Any

import torch

DTYPES = ("float32", "float64", "bfloat16", "float16", "int64", "int32", "uint8", "bool")
ERRORS = "errors"
"""In the place of an element type: the entry's inputs on which eager raises."""

Pair = tuple[str, str]


@cache
def entries() -> dict[str, Any]:
    """The entries of `op_db` by name, `name.variant` where an operator has several."""
    try:
        from torch.testing._internal.common_methods_invocations import op_db
    except ImportError as error:
        raise SystemExit(
            f"torch's operator database cannot be read ({error}): pip install expecttest==0.3.0"
        ) from error
    return {name_of(entry): entry for entry in op_db}


def name_of(entry: Any) -> str:
    return f"{entry.name}.{entry.variant_test_name}" if entry.variant_test_name else entry.name


def all_pairs(device: str) -> list[Pair]:
    """Every pair that torch supports on the device, in the order of the database."""
    kept = {getattr(torch, name): name for name in DTYPES}
    return [
        (name, kept[dtype])
        for name, entry in entries().items()
        for dtype in kept
        if dtype in entry.supported_dtypes(device)
    ]


def error_pairs() -> list[Pair]:
    """Every entry that says on which inputs it raises."""
    return [(name, ERRORS) for name, entry in entries().items() if entry.error_inputs_func is not None]


def is_core(name: str) -> bool:
    """Whether the entry's own ATen operator has an overload that torch tags as core."""
    packet = getattr(torch.ops.aten, entries()[name].aten_name or "", None)
    overloads = packet.overloads() if packet is not None else ()
    return any(torch.Tag.core in getattr(packet, overload).tags for overload in overloads)


def chosen(pairs: Sequence[Pair], count: int, seed: str) -> list[Pair]:
    """`count` of the pairs: those whose hash with the seed is smallest, in their own order."""
    digests = {pair: hashlib.sha256(f"{seed}:{pair[0]}:{pair[1]}".encode()).digest() for pair in pairs}
    taken = set(sorted(pairs, key=lambda pair: digests[pair])[:count])
    return [pair for pair in pairs if pair in taken]
