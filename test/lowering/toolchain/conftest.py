"""Kernel texts and modules that several tests share; each text is compiled once a session."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol, cast

import numpy as np
import pytest

from albumen.lowering.toolchain.device_prelude import device_prelude
from albumen.lowering.toolchain.nvrtc import compile_cuda
from albumen.lowering.toolchain.object_cache import MemoryCache
from albumen.lowering.toolchain.shim import ShimModule

KERNELS = Path(__file__).parent / "kernels"
BASIC = {
    "softmax": ["ptr", "ptr", "i32"],
    "matmul_bf16": ["ptr", "ptr", "ptr", "i32", "i32", "i32"],
    "lanes": ["ptr"],
    "atomics": ["ptr", "i32", "ptr", "ptr", "ptr", "ptr"],
    "uninitialised": ["ptr"],
}
MATRIX_UNITS = {
    "mma_bf16": ["ptr", "ptr", "ptr"],
    "mma_f16": ["ptr", "ptr", "ptr"],
    "mma_tf32": ["ptr", "ptr", "ptr"],
    "ldmatrix_forms": ["ptr", "ptr"],
    "copy_edge": ["ptr", "ptr", "i32"],
    "stream": ["ptr"] * 12,
    "gemm_bf16": ["ptr", "ptr", "ptr", "i32", "i32", "i32"],
}


class Launcher(Protocol):
    """Runs a kernel and updates the arrays in place."""

    def launch(
        self, kernel: str, grid: Sequence[int], block: Sequence[int], shared_bytes: int, args: Sequence[Any]
    ) -> None: ...


class DeviceModule:
    """The kernels of a text on a CUDA device: the same launch as the shim's, for comparing the two."""

    def __init__(self, text: str):
        self._driver: Any = importlib.import_module("cuda.bindings.driver")
        self._call("cuInit", 0)
        device = self._call("cuDeviceGet", 0)
        self._call("cuCtxSetCurrent", self._call("cuDevicePrimaryCtxRetain", device))
        self._library = self._call("cuModuleLoadData", compile_cuda(text).code)

    def _call(self, function: str, *arguments: object) -> Any:
        status, *results = getattr(self._driver, function)(*arguments)
        assert status == self._driver.CUresult.CUDA_SUCCESS, f"{function}: {status}"
        return results[0] if results else None

    def launch(
        self, kernel: str, grid: Sequence[int], block: Sequence[int], shared_bytes: int, args: Sequence[Any]
    ) -> None:
        function = self._call("cuModuleGetFunction", self._library, kernel.encode())
        buffers: list[tuple[Any, np.ndarray[Any, Any]]] = []
        values = np.zeros(len(args), np.uint64)
        for index, argument in enumerate(args):
            if isinstance(argument, np.ndarray):
                array = cast("np.ndarray[Any, Any]", argument)
                pointer = self._call("cuMemAlloc", max(array.nbytes, 1))
                self._call("cuMemcpyHtoD", pointer, array.ctypes.data, array.nbytes)
                buffers.append((pointer, array))
                values[index] = int(pointer)
            else:
                values[index] = np.int64(argument).view(np.uint64)
        addresses = values.ctypes.data + 8 * np.arange(len(args), dtype=np.uint64)
        self._call("cuLaunchKernel", function, *grid, *block, shared_bytes, 0, addresses.ctypes.data, 0)
        self._call("cuCtxSynchronize")
        for pointer, array in buffers:
            self._call("cuMemcpyDtoH", array.ctypes.data, pointer, array.nbytes)
            self._call("cuMemFree", pointer)


@pytest.fixture(scope="session")
def kernel_text() -> Callable[[str], str]:
    """The text of a file of kernels, with the prelude where it needs one."""

    def read(name: str) -> str:
        text = (KERNELS / name).read_text()
        return device_prelude() + text if name == "matrix_units.cu" else text

    return read


@pytest.fixture(scope="session")
def object_cache() -> MemoryCache:
    """One cache for the session's objects."""
    return MemoryCache()


@pytest.fixture(scope="session")
def basic(kernel_text: Callable[[str], str], object_cache: MemoryCache) -> ShimModule:
    """The kernels of basic.cu on the shim."""
    return ShimModule.compile(kernel_text("basic.cu"), "cuda", BASIC, object_cache)


@pytest.fixture(scope="session")
def matrix_units(kernel_text: Callable[[str], str], object_cache: MemoryCache) -> ShimModule:
    """The kernels of matrix_units.cu on the shim."""
    return ShimModule.compile(kernel_text("matrix_units.cu"), "cuda", MATRIX_UNITS, object_cache)


@pytest.fixture(params=["shim", pytest.param("device", marks=pytest.mark.gpu)])
def launcher(request: pytest.FixtureRequest, kernel_text: Callable[[str], str]) -> Launcher:
    """The kernels of matrix_units.cu on the shim, and on a device where there is one."""
    if request.param == "device":
        return DeviceModule(kernel_text("matrix_units.cu"))
    module: ShimModule = request.getfixturevalue("matrix_units")
    return module
