"""The safetensors container, without its library: an 8-byte length, a JSON header, then the bytes of every tensor.

Reading maps the file and copies nothing. Writing orders tensors by name, so equal weights give equal files.
"""

from __future__ import annotations

import json
import math
import mmap
import struct
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, cast

from .errors import ArtifactError

_TO_RUNTIME = MappingProxyType(
    {
        "BOOL": "i1",
        "I8": "i8",
        "U8": "u8",
        "I16": "i16",
        "U16": "u16",
        "I32": "i32",
        "U32": "u32",
        "I64": "i64",
        "U64": "u64",
        "F16": "f16",
        "BF16": "bf16",
        "F32": "f32",
        "F64": "f64",
        "F8_E4M3": "f8E4M3FN",
        "F8_E5M2": "f8E5M2",
        "F8_E8M0": "f8E8M0",
    }
)
_FROM_RUNTIME = MappingProxyType({name: spelled for spelled, name in _TO_RUNTIME.items()})
_BYTES = MappingProxyType({"64": 8, "32": 4, "16": 2, "8": 1, "L": 1})
_DATA_ALIGNMENT = 64
_MAXIMUM_HEADER = 100_000_000


@dataclass(frozen=True, slots=True)
class Weight:
    """The value of one tensor: dtype name, shape, and its elements in row-major order, little-endian."""

    dtype: str
    shape: tuple[int, ...]
    data: memoryview | bytes


def _item_bytes(spelled: str) -> int:
    digits = "".join(c for c in spelled.split("_")[0] if c.isdigit())
    return _BYTES[digits or "L"]


def _fail(source: str, what: str) -> ArtifactError:
    return ArtifactError(f"{source}: {what}", hint="the weights file is damaged or not in the safetensors format")


def parse_safetensors(data: memoryview, source: str) -> dict[str, Weight]:
    """The tensors in `data`, in the file's order, as views of it; `source` names the file in errors."""
    if len(data) < 8:
        raise _fail(source, "shorter than the 8 bytes of a header length")
    (length,) = struct.unpack_from("<Q", data)
    if length > min(len(data) - 8, _MAXIMUM_HEADER):
        raise _fail(source, f"header of {length} bytes in a file of {len(data)} bytes")
    try:
        header: object = json.loads(bytes(data[8 : 8 + length]).decode("utf-8"))
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise _fail(source, f"header is not JSON ({error})") from error
    if not isinstance(header, dict):
        raise _fail(source, "header is not an object")
    body = data[8 + length :]
    entries = cast("dict[str, Any]", header)
    return {
        name: _tensor(entry, body, f"{source}: tensor {name!r}")
        for name, entry in entries.items()
        if name != "__metadata__"
    }


def _tensor(entry: object, body: memoryview, where: str) -> Weight:
    fields = cast("dict[str, Any]", entry if isinstance(entry, dict) else {})
    spelled, shape, offsets = fields.get("dtype"), fields.get("shape"), fields.get("data_offsets")
    if (
        not isinstance(spelled, str)
        or not _naturals(shape)
        or not _naturals(offsets)
        or len(cast("list[int]", offsets)) != 2
    ):
        raise _fail(where, "needs dtype, shape and data_offsets")
    if spelled not in _TO_RUNTIME:
        raise ArtifactError(
            f"{where}: element type {spelled} is not supported", hint=f"supported: {', '.join(_TO_RUNTIME)}"
        )
    extents = cast("list[int]", shape)
    begin, end = cast("list[int]", offsets)
    if not begin <= end <= len(body) or end - begin != math.prod(extents) * _item_bytes(spelled):
        raise _fail(where, f"shape {extents} of {spelled} at bytes {begin}..{end} of {len(body)}")
    return Weight(_TO_RUNTIME[spelled], tuple(extents), body[begin:end])


def _naturals(value: object) -> bool:
    return isinstance(value, list) and all(type(item) is int and item >= 0 for item in cast("list[object]", value))


def read_safetensors(path: str | Path) -> dict[str, Weight]:
    """Map a safetensors file; the views keep the mapping alive."""
    try:
        with open(path, "rb") as file:
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError) as error:
        raise ArtifactError(f"{path}: cannot be read ({error})", hint="give the path of a safetensors file") from error
    return parse_safetensors(memoryview(mapped), str(path))


def safetensors_chunks(weights: Mapping[str, Weight]) -> Iterable[memoryview | bytes]:
    """The bytes of a safetensors file in pieces; the first tensor starts at a multiple of 64 bytes."""
    header: dict[str, object] = {}
    at = 0
    ordered = sorted(weights.items())
    for name, weight in ordered:
        size = memoryview(weight.data).nbytes
        header[name] = {
            "dtype": _FROM_RUNTIME[weight.dtype],
            "shape": list(weight.shape),
            "data_offsets": [at, at + size],
        }
        at += size
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-(len(text) + 8) % _DATA_ALIGNMENT)
    yield struct.pack("<Q", len(text))
    yield text
    for _, weight in ordered:
        yield weight.data
