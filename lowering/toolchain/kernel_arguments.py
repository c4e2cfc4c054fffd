"""Parameter kinds of a kernel, and how the arguments of a launch on the CPU shim become memory the kernel may touch."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, cast

import ml_dtypes
import numpy as np
from numpy.lib.array_utils import byte_bounds

from ...dialects.errors import EvaluationError

Array = np.ndarray[Any, Any]
Argument = Array | int | float | np.generic | None

POINTER = "ptr"
SCALARS: Mapping[str, np.dtype[Any]] = MappingProxyType(
    {
        "i8": np.dtype(np.int8),
        "u8": np.dtype(np.uint8),
        "i16": np.dtype(np.int16),
        "u16": np.dtype(np.uint16),
        "i32": np.dtype(np.int32),
        "u32": np.dtype(np.uint32),
        "i64": np.dtype(np.int64),
        "u64": np.dtype(np.uint64),
        "f16": np.dtype(np.float16),
        "bf16": np.dtype(ml_dtypes.bfloat16),
        "f32": np.dtype(np.float32),
        "f64": np.dtype(np.float64),
    }
)
ALIGNMENT = 16  # an array keeps its address modulo this, so that what is misaligned for the caller is so for the kernel


def kind_size(kind: str) -> int:
    """Bytes of a parameter of this kind."""
    return 8 if kind == POINTER else SCALARS[kind].itemsize


@dataclass
class Region:
    """Bytes that one or several array arguments span. `copy` is what the kernel sees; `handle` belongs to the shim."""

    low: int
    high: int
    arguments: list[int]
    writeable: bool
    handle: int = 0
    copy: int = 0

    @property
    def size(self) -> int:
        return self.high - self.low


@dataclass
class PackedArguments:
    """Storage of every parameter in order, and the regions the pointers lead into."""

    storage: list[ctypes.Array[ctypes.c_char]] = field(default_factory=list[ctypes.Array[ctypes.c_char]])
    regions: list[Region] = field(default_factory=list[Region])

    def pointers(self) -> ctypes.Array[ctypes.c_void_p]:
        """The array of addresses that a launch takes."""
        return (ctypes.c_void_p * max(len(self.storage), 1))(*(ctypes.addressof(value) for value in self.storage))


def array_regions(arguments: Sequence[Argument]) -> list[Region]:
    """The byte ranges of the array arguments; overlapping ranges are one, so aliases stay aliases."""
    regions: list[Region] = []
    spans: list[tuple[int, int, int]] = []
    for index, argument in enumerate(arguments):
        if isinstance(argument, np.ndarray):
            low, high = byte_bounds(argument) if argument.size else (argument.ctypes.data, argument.ctypes.data)
            spans.append((low, high, index))
    for low, high, index in sorted(spans):
        array = arguments[index]
        writeable = isinstance(array, np.ndarray) and array.flags.writeable
        last = regions[-1] if regions else None
        if last is not None and (low < last.high or (low, high) == (last.low, last.high)):
            last.high = max(last.high, high)
            last.arguments.append(index)
            last.writeable = last.writeable or writeable
        else:
            regions.append(Region(low, high, [index], writeable))
    return regions


def pack(kinds: Sequence[str], arguments: Sequence[Argument], regions: list[Region], kernel: str) -> PackedArguments:
    """The value of every parameter; a pointer leads to the same place inside its region's copy."""
    if len(kinds) != len(arguments):
        raise EvaluationError(f"kernel {kernel} has {len(kinds)} parameters, the launch gives {len(arguments)}")
    of_argument = {index: region for region in regions for index in region.arguments}
    packed = PackedArguments(regions=regions)
    for index, (kind, argument) in enumerate(zip(kinds, arguments, strict=True)):
        if kind == POINTER:
            data = _pointer(argument, of_argument.get(index), index, kernel)
        else:
            data = _scalar(kind, argument, index, kernel)
        packed.storage.append(ctypes.create_string_buffer(data, len(data)))
    return packed


def _pointer(argument: Argument, region: Region | None, index: int, kernel: str) -> bytes:
    if argument is None:
        return bytes(8)
    if region is None or not isinstance(argument, np.ndarray):
        found = type(argument).__name__
        raise EvaluationError(f"kernel {kernel}, argument {index}: a pointer takes an array or None, found {found}")
    return (region.copy + argument.ctypes.data - region.low).to_bytes(8, "little")


def _scalar(kind: str, argument: Argument, index: int, kernel: str) -> bytes:
    dtype = SCALARS[kind]
    value: Any = argument.item() if isinstance(argument, np.generic) else argument
    if isinstance(value, np.generic):  # a bfloat16 has no Python form of its own
        value = float(cast(Any, value))
    if isinstance(value, bool) or not isinstance(value, int if dtype.kind in "iu" else int | float):
        found = type(argument).__name__
        message = f"a parameter of kind {kind} takes a number, found {found}"
        raise EvaluationError(f"kernel {kernel}, argument {index}: {message}")
    if dtype.kind in "iu" and not np.iinfo(dtype).min <= value <= np.iinfo(dtype).max:
        raise EvaluationError(f"kernel {kernel}, argument {index}: {value} does not fit {kind}")
    return np.array(value).astype(dtype).tobytes()
