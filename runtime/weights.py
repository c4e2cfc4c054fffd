"""The values of a program's parameters, buffers and constants: from the artifact, from a file, or from the user."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, cast

import numpy as np

from .adapter import Array
from .array import DeviceArray, as_numpy, upload, wrap_numpy
from .artifact import HostProgram, Input, Weight, digest_of
from .devices.device import Device
from .dlpack import from_dlpack, is_dlpack
from .errors import LaunchError
from .numpy_dtype import accepts, dtype_name, numpy_dtype
from .safetensors import read_safetensors

Values = Mapping[str, Any]
"""Input name -> Weight, numpy array, or an array of any library that speaks DLPack."""


def bound_inputs(program: HostProgram) -> dict[str, int]:
    """Name -> number of the inputs that are bound once and not given at every call."""
    return {item.name: index for index, item in enumerate(program.inputs) if item.role not in ("input", "scalar")}


def read_values(weights: str | os.PathLike[str] | Values) -> Values:
    """The mapping itself, or the tensors of a safetensors file."""
    return read_safetensors(os.fspath(weights)) if isinstance(weights, (str, os.PathLike)) else weights


def check_digest(item: Input, value: Any) -> None:
    """Raise LaunchError when a value is not the one that the program was compiled with."""
    if item.digest is None:
        return
    array = as_host_array(value)
    if array is None:
        raise LaunchError(
            f"{item.role} {item.name!r} lies on a device, where it cannot be checked", hint="give a host array"
        )
    if digest_of(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data) != item.digest:
        hint = "give the weights that the model was compiled with"
        if item.role != "constant":
            hint += ", or load without weights= and call bind_parameters to run with other values"
        raise LaunchError(f"{item.role} {item.name!r} is not the value that the program was compiled with", hint=hint)


def as_host_array(value: Any) -> Array | None:
    """The value as a numpy array without copying, None when it lies on another device."""
    if isinstance(value, Weight):
        return np.frombuffer(value.data, numpy_dtype(value.dtype)).reshape(value.shape)
    if isinstance(value, np.ndarray):
        return cast("Array", value)
    if is_dlpack(value) and int(value.__dlpack_device__()[0]) == 1:
        return as_numpy(from_dlpack(value))
    return None


def place(item: Input, value: Any, device: Device) -> DeviceArray:
    """The value on the device, aligned and writable as the program needs it; copied only where that is not so
    already.
    """
    host = as_host_array(value)
    if host is None:
        if not is_dlpack(value):
            raise LaunchError(
                f"{item.role} {item.name!r}: a {type(value).__name__} is no array",
                hint="give numpy arrays or arrays that speak DLPack",
            )
        return from_dlpack(value)
    found = value.dtype if isinstance(value, Weight) else dtype_name(host.dtype)
    if not accepts(item.dtype, found):
        raise LaunchError(f"{item.role} {item.name!r}: expected dtype {item.dtype}, found {found or host.dtype}")
    if device.name != "cpu":
        return upload(host, item.dtype, device)
    if isinstance(value, Weight) and (item.mutated or host.ctypes.data % item.align):
        return upload(host, item.dtype, device)
    if item.mutated:
        require_writable(item, host)
    return wrap_numpy(host, item.dtype)


def require_writable(item: Input, array: Array) -> None:
    """Raise LaunchError for an array that the program writes and numpy forbids to write."""
    if not array.flags.writeable:
        raise LaunchError(f"input {item.name!r}: the program writes it, but the array is read-only", hint="pass a copy")
