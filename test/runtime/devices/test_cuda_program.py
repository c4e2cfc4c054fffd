"""Whole CUDA programs through Program, on a stand-in for the driver whose device memory and kernels are the host's."""

from __future__ import annotations

import ctypes
import gc
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from albumen.runtime.array import ArrayAdapter, DeviceArray
from albumen.runtime.artifact import (
    Artifact,
    BufferArgument,
    Copy,
    HostProgram,
    Input,
    Kernel,
    Launch,
    Output,
    Reference,
    ScalarArgument,
    Slice,
    Symbol,
    Weight,
    digest_of,
)
from albumen.runtime.devices.cuda import CudaDevice
from albumen.runtime.devices.driver_api import CudaDriver
from albumen.runtime.errors import ArtifactError, LaunchError, ShapeError
from albumen.runtime.program import Program

real: Any = pytest.importorskip("cuda.bindings.driver")
F32 = np.float32
SCALE, ADD = 1, 2


def floats(address: int, count: int) -> Any:
    return np.ctypeslib.as_array((ctypes.c_float * count).from_address(address))


class HostCuda:
    """cuda.bindings.driver on the host: every enqueued thing happens at once."""

    def __init__(self) -> None:
        self.memory: dict[int, Any] = {}
        self.launches: list[str] = []
        self.graphs: dict[int, list[Any]] = {}
        self.numbers = iter(range(100, 100_000))

    def __getattr__(self, name: str) -> Any:
        if not (name.startswith("cu") and name[2].isupper()):
            return getattr(real, name)
        if name == "cuGraphAddDependencies_v2":
            raise AttributeError(name)
        answer = getattr(self, f"_{name[2:]}", None)

        def call(*arguments: Any) -> tuple[Any, ...]:
            return (real.CUresult.CUDA_SUCCESS, *(answer(*arguments) if answer else ()))

        return call

    def _DeviceGetCount(self) -> tuple[Any, ...]:
        return (1,)

    def _DeviceGet(self, number: int) -> tuple[Any, ...]:
        return (real.CUdevice(number),)

    def _DeviceGetAttribute(self, key: Any, device: Any) -> tuple[Any, ...]:
        return (9 if "MAJOR" in key.name else 0,)

    def _DevicePrimaryCtxRetain(self, device: Any) -> tuple[Any, ...]:
        return (real.CUcontext(77),)

    def _CtxGetCurrent(self) -> tuple[Any, ...]:
        return (real.CUcontext(77),)

    def _StreamIsCapturing(self, stream: Any) -> tuple[Any, ...]:
        return (real.CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_NONE,)

    def _MemAllocAsync(self, size: int, stream: int) -> tuple[Any, ...]:
        block = (ctypes.c_char * (size + 256))()
        address = ctypes.addressof(block)
        address += -address % 256
        self.memory[address] = block
        return (real.CUdeviceptr(address),)

    def _MemFreeAsync(self, address: int, stream: int) -> tuple[Any, ...]:
        del self.memory[address]
        return ()

    def _MemcpyHtoDAsync(self, to: int, data: memoryview, size: int, stream: int) -> tuple[Any, ...]:
        ctypes.memmove(to, bytes(data), size)
        return ()

    def _MemcpyDtoHAsync(self, data: bytearray, source: int, size: int, stream: int) -> tuple[Any, ...]:
        data[:] = ctypes.string_at(source, size)
        return ()

    def _EventCreate(self, flags: int) -> tuple[Any, ...]:
        return (object(),)

    def _EventQuery(self, event: Any) -> tuple[Any, ...]:
        return ()

    def _EventElapsedTime(self, start: Any, end: Any) -> tuple[Any, ...]:
        return (2.0,)

    def _StreamCreate(self, flags: int) -> tuple[Any, ...]:
        return (real.CUstream(9),)

    def _ModuleLoadData(self, image: bytes) -> tuple[Any, ...]:
        return (image,)

    def _ModuleGetFunction(self, module: bytes, name: bytes) -> tuple[Any, ...]:
        return (real.CUfunction({b"scale": SCALE, b"add": ADD}[name]),)

    def _GraphCreate(self, flags: int) -> tuple[Any, ...]:
        graph = next(self.numbers)
        self.graphs[graph] = []
        return (graph,)

    def _add(self, graph: int, content: Any) -> tuple[Any, ...]:
        self.graphs[graph].append(content)
        return (real.CUgraphNode(len(self.graphs[graph])),)

    def _GraphAddKernelNode(self, graph: int, after: Any, count: int, params: Any) -> tuple[Any, ...]:
        return self._add(graph, self._kernel(params))

    def _GraphAddEmptyNode(self, graph: int, after: Any, count: int) -> tuple[Any, ...]:
        return self._add(graph, lambda: None)

    def _GraphAddMemcpyNode(self, graph: int, after: Any, count: int, params: Any, context: Any) -> tuple[Any, ...]:
        return self._add(graph, self._copy(params))

    def _GraphInstantiate(self, graph: int, flags: int) -> tuple[Any, ...]:
        executable = next(self.numbers)
        self.graphs[executable] = list(self.graphs[graph])
        return (executable,)

    def _GraphExecKernelNodeSetParams(self, executable: int, node: Any, params: Any) -> tuple[Any, ...]:
        self.graphs[executable][int(node) - 1] = self._kernel(params)
        return ()

    def _GraphExecMemcpyNodeSetParams(self, executable: int, node: Any, params: Any, context: Any) -> tuple[Any, ...]:
        self.graphs[executable][int(node) - 1] = self._copy(params)
        return ()

    def _GraphLaunch(self, executable: int, stream: Any) -> tuple[Any, ...]:
        for node in self.graphs[executable]:
            node()
        return ()

    def _GraphDestroy(self, graph: int) -> tuple[Any, ...]:
        del self.graphs[graph]
        return ()

    _GraphExecDestroy = _GraphDestroy

    def _copy(self, params: Any) -> Any:
        to, source, size = int(params.dstDevice), int(params.srcDevice), params.WidthInBytes
        return lambda: ctypes.memmove(to, source, size)

    def _kernel(self, params: Any) -> Any:
        slots = (ctypes.c_void_p * 4).from_address(params.kernelParams)
        x, w, y = (ctypes.c_uint64.from_address(slot).value for slot in slots[:3])
        n, which = ctypes.c_int32.from_address(slots[3] or 0).value, int(params.func)

        def run() -> None:
            weight = np.tile(floats(w, 4), n // 4)
            floats(y, n)[:] = floats(x, n) * weight if which == SCALE else floats(x, n) + weight

        return run


def program_of(**changes: Any) -> Artifact:
    """t = x * w; u = t + w; y = u (a copy): [s, 4]."""

    def pointer(place: Any, index: int, mode: Any) -> BufferArgument:
        return BufferArgument(Reference(place, index), mode)

    size = ScalarArgument("s*4", "i32")
    first = (pointer("input", 0, "read"), pointer("input", 1, "read"), pointer("slice", 0, "write"), size)
    second = (pointer("slice", 0, "read"), pointer("input", 1, "read"), pointer("slice", 1, "write"), size)
    steps = (
        Launch("scale", ("s", "1", "1"), (4, 1, 1), first),
        Launch("add", ("s", "1", "1"), (4, 1, 1), second, pdl=True),
        Copy(Reference("slice", 1), Reference("output", 0), "s*16"),
    )
    kinds = ("ptr", "ptr", "ptr", "i32")
    digest = digest_of(b"cubin")
    program = HostProgram(
        target="cuda",
        arch="sm_90a",
        symbols=(Symbol("s", 0, 100, 1, 0, 0),),
        inputs=(
            Input("x", "f32", ("s", "4"), ("4", "1"), 16),
            Input("w", "f32", ("4",), ("1",), 16, role="parameter"),
        ),
        outputs=(Output("y", "f32", ("s", "4"), ("4", "1")),),
        arena_bytes="s*32",
        slices=(Slice("0", "s*16"), Slice("s*16", "s*16")),
        steps=steps,
        kernels=tuple(Kernel(name, "cuda", name, kinds, digest, digest) for name in ("scale", "add")),
    )
    weights = {"w": Weight("f32", (4,), np.arange(1, 5, dtype=F32).tobytes())}
    return Artifact(replace(program, **changes), {digest: b"cubin"}, weights=weights)


@pytest.fixture
def cuda() -> HostCuda:
    return HostCuda()


@pytest.fixture
def program(cuda: HostCuda) -> Program:
    artifact = program_of()
    program = Program(artifact, CudaDevice(CudaDriver(cuda, 0), 0))
    program.bind_parameters(artifact.weights or {})
    return program


def expected(x: Any) -> Any:
    w = np.arange(1, 5, dtype=F32)
    return x * w + w


def test_numpy_in_and_out(program: Program, rng: np.random.Generator) -> None:
    for rows in (3, 5, 0, 3, 100):
        x = rng.standard_normal((rows, 4)).astype(F32)
        np.testing.assert_array_equal(program(x), expected(x))
    np.testing.assert_array_equal(program(program(x)), expected(expected(x)))
    strided = np.ones((4, 4), F32).T
    np.testing.assert_array_equal(program(strided), expected(np.ones((4, 4), F32)))


def test_refusals(program: Program) -> None:
    with pytest.raises(ShapeError, match=r"shape \[3, 5\]"):
        program(np.zeros((3, 5), F32))
    with pytest.raises(LaunchError, match="expected dtype f32, found f64"):
        program(np.zeros((3, 4)))
    with pytest.raises(LaunchError, match="expected 1 inputs"):
        program()


def test_memory_returns(program: Program, cuda: HostCuda) -> None:
    x = np.ones((3, 4), F32)
    program(x)
    kept = len(cuda.memory)
    for _ in range(20):
        program(x)
    assert len(cuda.memory) <= kept + 2


def test_dropped_program_frees_everything(cuda: HostCuda) -> None:
    artifact = program_of()
    program = Program(artifact, CudaDevice(CudaDriver(cuda, 0), 0))
    program.bind_parameters(artifact.weights or {})
    program(np.ones((3, 4), F32))
    gc.disable()
    del program
    gc.enable()
    assert cuda.memory == {} and cuda.graphs == {}


def test_mutated_inputs_come_back(cuda: HostCuda) -> None:
    artifact = program_of()
    steps = list(artifact.program.steps)
    steps[2] = Copy(Reference("slice", 1), Reference("input", 0), "s*16")
    steps.append(Copy(Reference("slice", 0), Reference("output", 0), "s*16"))
    inputs = (replace(artifact.program.inputs[0], mutated=True), artifact.program.inputs[1])
    program = Program(program_of(steps=tuple(steps), inputs=inputs), CudaDevice(CudaDriver(cuda, 0), 0))
    program.bind_parameters(artifact.weights or {})
    x = np.ones((3, 4), F32)
    y = program(x)
    w = np.arange(1, 5, dtype=F32)
    np.testing.assert_array_equal(x, np.tile(2 * w, (3, 1)))
    np.testing.assert_array_equal(y, np.tile(w, (3, 1)))


def test_arrays_of_the_device(program: Program, cuda: HostCuda) -> None:
    """What the DLPack path does between import and export."""
    caller = program.caller(ArrayAdapter(program.device, 1), {"w": program.device_values["w"]})
    block = np.ones((3, 4), F32)
    address = block.ctypes.data
    (y,) = caller([DeviceArray(address, (3, 4), (4, 1), "f32", "cuda:0", block)])
    np.testing.assert_array_equal(floats(y.pointer, 12).reshape(3, 4), expected(block))
    with pytest.raises(LaunchError, match="lies on cpu, but the program runs on cuda:0"):
        caller([DeviceArray(address, (3, 4), (4, 1), "f32", "cpu", block)])
    program.device.hand_over(y.owner, 1, 5)
    program.device.retain(1, [block, y])


def test_wrong_target_and_time(cuda: HostCuda, affine: Artifact) -> None:
    device = CudaDevice(CudaDriver(cuda, 0), 0)
    with pytest.raises(ArtifactError, match="compiled for target c, which cuda:0 does not run"):
        Program(affine, device)
    assert device.time(lambda stream: None, 3) == [0.002] * 3
