"""Launches simt kernels on a real device: compiled by NVRTC here, arguments as numpy arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.dialects import arith, math, scf
from xdsl.dialects.builtin import Builtin, ModuleOp
from xdsl.parser import Parser

from albumen.dialects.hlir.dialect import HLIR
from albumen.dialects.kernel import KERNEL
from albumen.dialects.kernel.function import FuncOp, kernel_functions
from albumen.dialects.nv import NV
from albumen.dialects.simt import SIMT, KernelOp, kernels_of
from albumen.dialects.sym.dialect import SYM
from albumen.lowering.emit.cuda import cuda_source
from albumen.lowering.emit.simt_runner import launch_grid, parameter_kinds
from albumen.lowering.kernel_to_loop.lower_kernels import LowerKernelsPass
from albumen.lowering.loop_to_simt.map_threads import MapThreadsPass
from albumen.lowering.toolchain.nvrtc import compile_cuda
from albumen.runtime.devices.cuda import CudaDevice
from albumen.runtime.devices.driver import KernelCall, ParameterBlock
from albumen.runtime.devices.driver_api import CudaDriver, load_bindings

Array = np.ndarray[Any, Any]
STATIC_LIMIT = 48 * 1024


class Launch:
    """One kernel with its arguments in device memory."""

    def __init__(self, gpu: Gpu, kernel: KernelOp, arrays: Sequence[Array], symbols: Mapping[str, int]):
        self.gpu = gpu
        self.arrays = list(arrays)
        self.memory = [gpu.device.allocate(max(array.nbytes, 1)) for array in arrays]
        for array, (_, address) in zip(arrays, self.memory, strict=True):
            gpu.device.upload(memoryview(array.tobytes()), address)
        values = [address for _, address in self.memory] + [symbols[name.data] for name in kernel.symbols or ()]
        self.call = KernelCall(
            gpu.function(kernel),
            launch_grid(kernel, symbols),
            (kernel.threads, 1, 1),
            kernel.smem.value.data,
            tuple(values),
            parameters=ParameterBlock(parameter_kinds(kernel)),
        )

    def run(self, stream: int = 0) -> None:
        if not self.call.empty:
            self.gpu.driver.launch_kernel(self.call, stream, after_kernel=False)

    def results(self) -> list[Array]:
        """The arrays as the device has them now."""
        found: list[Array] = []
        for array, (_, address) in zip(self.arrays, self.memory, strict=True):
            data = self.gpu.device.download(address, array.nbytes)
            found.append(np.frombuffer(data, array.dtype).reshape(array.shape))
        return found

    def microseconds(self, repeats: int = 20) -> float:
        """The median time of a launch after three to warm up."""
        return float(np.median(self.gpu.device.time(self.run, repeats + 3)[3:])) * 1e6


class Gpu:
    """The first device."""

    def __init__(self) -> None:
        self.driver = CudaDriver(load_bindings(), 0)
        self.device = CudaDevice(self.driver, 0)
        self.driver.enter()

    def function(self, kernel: KernelOp) -> Any:
        """The kernel, compiled and loaded."""
        code = compile_cuda(cuda_source([kernel])).code
        function = self.driver.function(self.driver.load_module(code), kernel.sym_name.data)
        if kernel.smem.value.data > STATIC_LIMIT:
            self.driver.allow_shared(function, kernel.smem.value.data)
        return function

    def launch(self, kernel: KernelOp, arrays: Sequence[Array], symbols: Mapping[str, int] | None = None) -> Launch:
        """A kernel ready to run."""
        return Launch(self, kernel, arrays, symbols or {})


@pytest.fixture(scope="session")
def gpu() -> Gpu:
    return Gpu()


def parse_module(text: str) -> ModuleOp:
    context = Context()
    for dialect in (Builtin, arith.Arith, math.Math, scf.Scf, HLIR, KERNEL, SYM, SIMT, NV):
        context.load_dialect(dialect)
    module = Parser(context, text).parse_module()
    module.verify()
    return module


@pytest.fixture
def lowered() -> Callable[[str], KernelOp]:
    """The only kernel function of a text as thread-level code."""

    def lower(text: str) -> KernelOp:
        module = parse_module(text)
        LowerKernelsPass(target="cuda").apply(Context(), module)
        MapThreadsPass(target="cuda").apply(Context(), module)
        (kernel,) = kernels_of(module)
        return kernel

    return lower


@pytest.fixture
def function_in() -> Callable[[str], tuple[FuncOp, ModuleOp]]:
    """The only kernel function of a text, and its module."""

    def parse(text: str) -> tuple[FuncOp, ModuleOp]:
        module = parse_module(text)
        (function,) = kernel_functions(module)
        return function, module

    return parse
