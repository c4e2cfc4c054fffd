"""DLPack: arrays of any library in and out without copying and without importing that library."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from types import MappingProxyType
from typing import Any

from .adapter import contiguous_strides
from .array import DeviceArray
from .dtype import ITEM_BYTES, item_bytes
from .errors import LaunchError

_CODES = MappingProxyType({"i": 0, "u": 1, "f": 2, "bf": 4})
_FLOAT8 = MappingProxyType({10: "f8E4M3FN", 12: "f8E5M2", 14: "f8E8M0"})
_BOOL = 6
_DEVICES = MappingProxyType({1: "cpu", 2: "cuda", 8: "metal"})
_NAME = b"dltensor"
LEGACY_STREAM = 1
"""How the array API names CUDA's default stream to the producer of an array."""


class _Tensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_number", ctypes.c_int32),
        ("rank", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("offset", ctypes.c_uint64),
    )


class _Managed(ctypes.Structure):
    _fields_ = (("tensor", _Tensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p))


def _capsule_function(name: str, result: Any, *arguments: Any) -> Any:
    return ctypes.PYFUNCTYPE(result, *arguments)((name, ctypes.pythonapi))


_get_pointer = _capsule_function("PyCapsule_GetPointer", ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)
_is_valid = _capsule_function("PyCapsule_IsValid", ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p)
_raw_pointer = _capsule_function("PyCapsule_GetPointer", ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)
_new_capsule = _capsule_function("PyCapsule_New", ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
_retain = _capsule_function("Py_IncRef", None, ctypes.py_object)
_release = _capsule_function("Py_DecRef", None, ctypes.c_void_p)


def is_dlpack(value: object) -> bool:
    """Whether the value speaks DLPack."""
    return hasattr(value, "__dlpack__") and hasattr(value, "__dlpack_device__")


def from_dlpack(value: Any, stream: int = LEGACY_STREAM) -> DeviceArray:
    """The array as address and facts; holds the producer's capsule, so the memory lives as long as the result.

    On a device with streams the producer makes the content ready for `stream`.
    """
    kind, number = value.__dlpack_device__()
    if int(kind) not in _DEVICES:
        raise LaunchError(f"an array on DLPack device type {int(kind)} ({type(value).__name__}) is not supported")
    name = _DEVICES[int(kind)]
    capsule = value.__dlpack__() if name == "cpu" else value.__dlpack__(stream=stream)
    tensor = _Managed.from_address(_get_pointer(capsule, _NAME)).tensor
    dtype = _dtype_of(tensor)
    shape = tuple(tensor.shape[axis] for axis in range(tensor.rank))
    strides = (
        tuple(tensor.strides[axis] for axis in range(tensor.rank)) if tensor.strides else contiguous_strides(shape)
    )
    device = name if name == "cpu" else f"{name}:{number}"
    return DeviceArray((tensor.data or 0) + tensor.offset, shape, strides, dtype, device, capsule)


def _dtype_of(tensor: _Tensor) -> str:
    prefix = next((prefix for prefix, code in _CODES.items() if code == tensor.code), "?")
    name = "i1" if tensor.code == _BOOL else _FLOAT8.get(tensor.code) or f"{prefix}{tensor.bits}"
    if name not in ITEM_BYTES or 8 * ITEM_BYTES[name] != tensor.bits or tensor.lanes != 1:
        raise LaunchError(
            f"an array of DLPack type (code {tensor.code}, {tensor.bits} bits, {tensor.lanes} lanes) is not supported",
            hint=f"supported: {', '.join(ITEM_BYTES)}",
        )
    return name


class _Export:
    """The C structure of one exported array and what keeps its memory alive."""

    def __init__(self, array: DeviceArray, device: tuple[int, int]) -> None:
        self.array = array
        rank = len(array.shape)
        self.shape = (ctypes.c_int64 * max(1, rank))(*array.shape)
        self.strides = (ctypes.c_int64 * max(1, rank))(*array.strides)
        code, bits = _code_of(array.dtype)
        tensor = _Tensor(array.pointer, device[0], device[1], rank, code, bits, 1, self.shape, self.strides, 0)
        self.managed = _Managed(tensor, id(self), ctypes.cast(_delete, ctypes.c_void_p).value)


def _code_of(dtype: str) -> tuple[int, int]:
    if dtype == "i1":
        return _BOOL, 8
    for code, name in _FLOAT8.items():
        if name == dtype:
            return code, 8
    return _CODES[dtype.rstrip("0123456789")], 8 * item_bytes(dtype)


@ctypes.CFUNCTYPE(None, ctypes.c_void_p)
def _delete(address: int) -> None:
    _release(_Managed.from_address(address).context)


@ctypes.CFUNCTYPE(None, ctypes.c_void_p)
def _destroy(capsule: int) -> None:
    # A consumer renames the capsule and calls the deleter itself.
    if _is_valid(capsule, _NAME):
        _delete(_raw_pointer(capsule, _NAME))


def to_capsule(array: DeviceArray, device: tuple[int, int]) -> Any:
    """A DLPack capsule that keeps the array alive until its consumer lets go."""
    export = _Export(array, device)
    _retain(export)
    return _new_capsule(ctypes.addressof(export.managed), _NAME, ctypes.cast(_destroy, ctypes.c_void_p))


class Exported:
    """A result on its way to another library: offers the array through the DLPack protocol."""

    def __init__(self, array: DeviceArray, device: tuple[int, int], hand_over: Callable[[int], None]) -> None:
        self._array = array
        self._device = device
        self._hand_over = hand_over

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._device

    def __dlpack__(self, *, stream: int | None = None, **_: object) -> Any:
        """The capsule; the consumer's `stream` waits for the work that produces the content."""
        if stream != -1:
            self._hand_over(LEGACY_STREAM if stream is None else stream)
        return to_capsule(self._array, self._device)


def import_function(example: Any) -> Callable[[Any], Any]:
    """The `from_dlpack` of the library that `example` belongs to; the library is loaded already, since the value
    exists.
    """
    namespace = example.__array_namespace__() if hasattr(example, "__array_namespace__") else None
    if namespace is None:
        namespace = sys.modules[type(example).__module__.partition(".")[0]]
    function = getattr(namespace, "from_dlpack", None)
    if function is None:
        raise LaunchError(
            f"{type(example).__module__}.{type(example).__name__} has no from_dlpack to make the results with",
            hint="pass arrays of a library that imports and exports DLPack",
        )
    return function
